#include "store/postgres_functions.h"

namespace hookonce {

namespace {

// kDeliveryColumns of postgres_deliveries.h with their types, in the lists of columns that functions return.
#define HK_DELIVERY_COLUMNS                                                                     \
  "state integer, due_at timestamptz, attempt integer, counted integer, armed_at timestamptz, " \
  "claimed_at timestamptz, unsettled boolean, delivered_at timestamptz, ended_at timestamptz, " \
  "replay boolean, new_key integer, new_keys integer"
#define HK_DELIVERY_FIELDS                                                                           \
  "d.state, d.due_at, d.attempt, d.counted, d.armed_at, d.claimed_at, d.unsettled, d.delivered_at, " \
  "d.ended_at, d.replay, d.new_key, d.new_keys"

// Arrays of equal length as rows: `SELECT unnest(a), unnest(b)` walks them side by side, where `FROM unnest(a, b)`
// would first write each of them to a store of its own. Every statement in them sees what is committed by then.
constexpr const char* kBatchFunctions[] = {
    // All lines that a transaction joins ($1) or may leave (deliveries $2, $3), before anything else is locked, in an
    // order that all share. Who is not in a line now will never be again.
    R"sql(CREATE FUNCTION lock_lines(uuid[], uuid[], bytea[]) RETURNS void LANGUAGE plpgsql AS $$
    #variable_conflict use_column
    DECLARE place bigint;
    BEGIN
      FOR place IN
        SELECT DISTINCT uuid_hash_extended(wanted.line, 0) FROM (
          SELECT unnest($1) AS line
          UNION ALL
          SELECT l.line FROM (SELECT unnest($2) AS id, unnest($3) AS destination) n JOIN events e ON e.id = n.id
          JOIN lines l ON l.destination = n.destination AND l.seq = e.seq
            AND l.line = line_of(n.destination, e.source, e.ordering_key)
          WHERE e.ordering_key IS NOT NULL) wanted
        ORDER BY 1
      LOOP
        PERFORM pg_advisory_xact_lock(place);
      END LOOP;
    END $$)sql",

    // Which lines somebody stands in: $1 destinations, $2 lines. Asked behind their locks.
    R"sql(CREATE FUNCTION occupied_lines(bytea[], uuid[]) RETURNS SETOF uuid LANGUAGE plpgsql AS $$
    BEGIN
      RETURN QUERY SELECT n.line FROM (SELECT unnest($1) AS destination, unnest($2) AS line) n
        WHERE EXISTS (SELECT FROM lines l WHERE l.destination = n.destination AND l.line = n.line);
    END $$)sql",

    // Takes the keys that are free or whose window is over, and locks those that are held: sources $2, keys $3 in the
    // order of the locks, the place of their event in the batch $4, their windows in microseconds $5. The first row
    // has the batch's first number (the places in it are the low 16 bits) and the time; one follows for each key taken.
    R"sql(CREATE FUNCTION take_keys(timestamptz, bytea[], uuid[], integer[], bigint[])
    RETURNS TABLE (base bigint, moment timestamptz, event bigint, key uuid, older bigint) LANGUAGE plpgsql AS $$
    #variable_conflict use_column
    DECLARE
      first_seq bigint := nextval('batches') << 16;
      present timestamptz := coalesce($1, clock_timestamp());
    BEGIN
      RETURN QUERY SELECT first_seq, present, NULL::bigint, NULL::uuid, NULL::bigint;
      RETURN QUERY
        INSERT INTO dedup AS d (source, key, seq, expires_at)
        SELECT unnest($2), unnest($3), first_seq + unnest($4), present + unnest($5) * interval '1 microsecond'
        ON CONFLICT (key, source) DO UPDATE SET older = d.seq, seq = excluded.seq, expires_at = excluded.expires_at
        WHERE d.expires_at <= present
        RETURNING NULL::bigint, NULL::timestamptz, d.seq - first_seq, d.key, d.older;
    END $$)sql",

    // The events that hold these keys, locked; an event that was pruned is told by what is left of it.
    R"sql(CREATE FUNCTION lock_holders(bytea[], uuid[])
    RETURNS TABLE (source bytea, key uuid, seq bigint, expires_at timestamptz, pruned boolean, id uuid,
      received_at timestamptz, body_hash uuid, duplicates bigint) LANGUAGE plpgsql AS $$
    #variable_conflict use_column
    BEGIN
      PERFORM e.seq FROM events e WHERE e.seq IN (
          SELECT d.seq FROM (SELECT unnest($1) AS source, unnest($2) AS key) n
          JOIN dedup d ON d.key = n.key AND d.source = n.source)
        ORDER BY e.seq FOR NO KEY UPDATE;
      RETURN QUERY
        SELECT d.source, d.key, d.seq, d.expires_at, e.id IS NULL, coalesce(e.id, p.id),
          coalesce(e.received_at, p.received_at), coalesce(e.body_hash, p.body_hash), coalesce(e.duplicates, 0)
        FROM (SELECT unnest($1) AS source, unnest($2) AS key) n JOIN dedup d ON d.key = n.key AND d.source = n.source
        LEFT JOIN events e ON e.seq = d.seq LEFT JOIN pruned p ON p.seq = d.seq;
    END $$)sql",

    // Their dead deliveries, locked behind them.
    "CREATE FUNCTION lock_dead(bytea[], uuid[]) RETURNS TABLE (seq bigint, destination bytea, " HK_DELIVERY_COLUMNS
    ") LANGUAGE plpgsql AS $$\n#variable_conflict use_column\nBEGIN RETURN QUERY "
    "SELECT d.seq, d.destination, " HK_DELIVERY_FIELDS
    " FROM deliveries d WHERE d.state = 3 AND d.seq IN ("
    "SELECT k.seq FROM (SELECT unnest($1) AS source, unnest($2) AS key) n "
    "JOIN dedup k ON k.key = n.key AND k.source = n.source) "
    "ORDER BY d.seq, d.destination FOR NO KEY UPDATE; END $$",

    // New events, received at $1: their rows, contents, deliveries ($21 to $23) and places in lines ($24 to $26).
    R"sql(CREATE FUNCTION add_events(timestamptz, bigint[], timestamptz[], bigint[], timestamptz[], timestamptz[],
      integer[], integer[], boolean[], uuid[], uuid[], bytea[], bytea[], bytea[], bytea[], bytea[], bytea[], bytea[],
      bytea[], bytea[], bigint[], bytea[], timestamptz[], bigint[], bytea[], uuid[])
    RETURNS void LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO events (received_at, seq, keys_until, size, arrived_at, provider_time, secret, retry_number,
        forwarded_trusted, id, body_hash, source, type, key, ordering_key, keys, remote, retry_reason)
      SELECT $1, unnest($2), unnest($3), unnest($4), unnest($5), unnest($6), unnest($7), unnest($8), unnest($9),
        unnest($10), unnest($11), unnest($12), unnest($13), unnest($14), unnest($15), unnest($16), unnest($17),
        unnest($18);
      INSERT INTO contents (seq, headers, body) SELECT unnest($2), unnest($19), unnest($20);
      INSERT INTO deliveries (seq, destination, due_at, armed_at, claimed_at, ended_at, state, attempt, counted,
        new_key, new_keys, unsettled, replay)
      SELECT unnest($21), unnest($22), unnest($23), $1, 'epoch', 'epoch', 0, 0, 0, 0, 0, false, false;
      IF cardinality($24) > 0 THEN
        INSERT INTO lines (seq, destination, line) SELECT unnest($24), unnest($25), unnest($26);
      END IF;
    END $$)sql",

    // Duplicates: how many more each event has ($2), the keys it was handed ($3), and their arrivals ($4 on).
    R"sql(CREATE FUNCTION add_duplicates(bigint[], bigint[], bytea[], bigint[], integer[], integer[], boolean[],
      timestamptz[], timestamptz[], integer[], integer[], uuid[], bytea[], bytea[])
    RETURNS void LANGUAGE plpgsql AS $$
    BEGIN
      UPDATE events e SET duplicates = e.duplicates + n.added, keys = e.keys || n.keys
        FROM (SELECT unnest($1) AS seq, unnest($2) AS added, unnest($3) AS keys) n WHERE e.seq = n.seq;
      INSERT INTO arrivals (seq, number, verdict, same_body, arrived_at, provider_time, secret, retry_number,
        body_hash, remote, retry_reason)
      SELECT unnest($4), unnest($5), unnest($6), unnest($7), unnest($8), unnest($9), unnest($10), unnest($11),
        unnest($12), unnest($13), unnest($14);
    END $$)sql",

    // What is due at each destination ($2), at most as many as it has room for ($3), the longest due first. What
    // another instance has locked is its own. The place in the request comes first, so that the answer is in its order.
    "CREATE FUNCTION claim_due(timestamptz, bytea[], integer[]) RETURNS TABLE (place bigint, moment timestamptz, "
    "seq bigint, destination bytea, " HK_DELIVERY_COLUMNS
    ", id uuid, source bytea, type bytea, received_at timestamptz, forwarded_trusted boolean, headers bytea, "
    "body bytea) LANGUAGE plpgsql AS $$\n#variable_conflict use_column\n"
    "DECLARE present timestamptz := coalesce($1, clock_timestamp());\nBEGIN RETURN QUERY "
    "SELECT r.place, present, d.seq, d.destination, " HK_DELIVERY_FIELDS
    ", e.id, e.source, e.type, e.received_at, e.forwarded_trusted, c.headers, c.body "
    "FROM unnest($2, $3) WITH ORDINALITY AS r (destination, slots, place) "
    "CROSS JOIN LATERAL (SELECT * FROM deliveries WHERE destination = r.destination AND state IN (0, 1) "
    "AND due_at <= present ORDER BY due_at, seq LIMIT r.slots FOR NO KEY UPDATE SKIP LOCKED) d "
    "JOIN events e ON e.seq = d.seq JOIN contents c ON c.seq = d.seq ORDER BY r.place, d.due_at, d.seq; END $$",

    R"sql(CREATE FUNCTION find_next_due(timestamptz, bytea[]) RETURNS TABLE (moment timestamptz, due_at timestamptz)
    LANGUAGE plpgsql AS $$
    #variable_conflict use_column
    DECLARE present timestamptz := coalesce($1, clock_timestamp());
    BEGIN
      RETURN QUERY SELECT present, min(d.due_at) FROM (SELECT unnest($2) AS destination) r
        CROSS JOIN LATERAL (SELECT o.due_at FROM deliveries o WHERE o.destination = r.destination
          AND o.state IN (0, 1) ORDER BY o.due_at LIMIT 1) d;
    END $$)sql",

    // All deliveries of these events, locked: the state of an event comes from all of them. Behind lock_lines() says
    // whether a delivery stands in a line.
    "CREATE FUNCTION lock_settled(uuid[]) RETURNS TABLE (id uuid, in_line boolean, seq bigint, destination "
    "bytea, " HK_DELIVERY_COLUMNS
    ") LANGUAGE plpgsql AS $$\n#variable_conflict use_column\nBEGIN RETURN QUERY "
    "SELECT e.id, CASE WHEN e.ordering_key IS NULL THEN false ELSE EXISTS (SELECT FROM lines l "
    "WHERE l.destination = d.destination AND l.line = line_of(d.destination, e.source, e.ordering_key) "
    "AND l.seq = d.seq) END, d.seq, d.destination, " HK_DELIVERY_FIELDS
    " FROM events e JOIN deliveries d ON d.seq = e.seq WHERE e.id = ANY ($1) "
    "ORDER BY d.seq, d.destination FOR NO KEY UPDATE OF d; END $$",

    R"sql(CREATE FUNCTION save_deliveries(bigint[], bytea[], integer[], timestamptz[], integer[], integer[],
      timestamptz[], timestamptz[], boolean[], timestamptz[], timestamptz[], boolean[], integer[], integer[])
    RETURNS void LANGUAGE plpgsql AS $$
    BEGIN
      UPDATE deliveries d SET state = n.state, due_at = n.due_at, attempt = n.attempt, counted = n.counted,
        armed_at = n.armed_at, claimed_at = n.claimed_at, unsettled = n.unsettled, delivered_at = n.delivered_at,
        ended_at = n.ended_at, replay = n.replay, new_key = n.new_key, new_keys = n.new_keys
      FROM (SELECT unnest($1) AS seq, unnest($2) AS destination, unnest($3) AS state, unnest($4) AS due_at,
        unnest($5) AS attempt, unnest($6) AS counted, unnest($7) AS armed_at, unnest($8) AS claimed_at,
        unnest($9) AS unsettled, unnest($10) AS delivered_at, unnest($11) AS ended_at, unnest($12) AS replay,
        unnest($13) AS new_key, unnest($14) AS new_keys) n
      WHERE d.seq = n.seq AND d.destination = n.destination;
    END $$)sql",

    R"sql(CREATE FUNCTION record_attempts(bigint[], bytea[], integer[], timestamptz[], bigint[], integer[], integer[],
      bytea[], bytea[])
    RETURNS void LANGUAGE plpgsql AS $$
    #variable_conflict use_column
    BEGIN
      INSERT INTO attempts (seq, destination, number, started_at, duration, outcome, status, error, response)
      SELECT unnest($1), unnest($2), unnest($3), unnest($4), unnest($5), unnest($6), unnest($7), unnest($8), unnest($9)
      ON CONFLICT (seq, destination, number) DO UPDATE SET started_at = excluded.started_at,
        duration = excluded.duration, outcome = excluded.outcome, status = excluded.status, error = excluded.error,
        response = excluded.response;
    END $$)sql",

    // Deliveries ($1, $2) leave their lines, those that stand in one; a row for each that did and has somebody behind
    // it, with the delivery that is the first now, locked. The lines are locked before.
    "CREATE FUNCTION leave_lines(bigint[], bytea[]) RETURNS TABLE (place bigint, seq bigint, " HK_DELIVERY_COLUMNS
    ") LANGUAGE plpgsql AS $$\n#variable_conflict use_column\n"
    "DECLARE stood bigint[];\nBEGIN "
    "WITH gone AS (DELETE FROM lines l USING unnest($1, $2) WITH ORDINALITY AS n (seq, destination, place), events e "
    "WHERE e.seq = n.seq AND l.destination = n.destination AND l.seq = n.seq "
    "AND l.line = line_of(n.destination, e.source, e.ordering_key) RETURNING n.place) "
    "SELECT array_agg(gone.place) INTO stood FROM gone; "
    "RETURN QUERY SELECT n.place, d.seq, " HK_DELIVERY_FIELDS
    " FROM unnest($1, $2) WITH ORDINALITY AS n (seq, destination, place) JOIN events e ON e.seq = n.seq "
    "CROSS JOIN LATERAL (SELECT l.seq FROM lines l WHERE l.destination = n.destination "
    "AND l.line = line_of(n.destination, e.source, e.ordering_key) ORDER BY l.seq LIMIT 1) head "
    "JOIN deliveries d ON d.seq = head.seq AND d.destination = n.destination WHERE n.place = ANY (stood) "
    "ORDER BY d.seq, d.destination FOR NO KEY UPDATE OF d; END $$",
};

constexpr const char* kSignaturesOfArrivals[] = {
    "ALTER TABLE events ADD COLUMN signature_hash uuid NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000'",
    "ALTER TABLE arrivals ADD COLUMN signature_hash uuid NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000', "
    "ADD COLUMN same_key boolean NOT NULL DEFAULT true",

    // As lock_holders(), with what a duplicate is compared with.
    R"sql(CREATE FUNCTION lock_holders_with_first(bytea[], uuid[])
    RETURNS TABLE (source bytea, key uuid, seq bigint, expires_at timestamptz, pruned boolean, id uuid,
      received_at timestamptz, body_hash uuid, duplicates bigint, own_key bytea, arrived_at timestamptz,
      secret integer, signature_hash uuid) LANGUAGE plpgsql AS $$
    #variable_conflict use_column
    BEGIN
      PERFORM e.seq FROM events e WHERE e.seq IN (
          SELECT d.seq FROM (SELECT unnest($1) AS source, unnest($2) AS key) n
          JOIN dedup d ON d.key = n.key AND d.source = n.source)
        ORDER BY e.seq FOR NO KEY UPDATE;
      RETURN QUERY
        SELECT d.source, d.key, d.seq, d.expires_at, e.id IS NULL, coalesce(e.id, p.id),
          coalesce(e.received_at, p.received_at), coalesce(e.body_hash, p.body_hash), coalesce(e.duplicates, 0),
          e.key, e.arrived_at, e.secret, e.signature_hash
        FROM (SELECT unnest($1) AS source, unnest($2) AS key) n JOIN dedup d ON d.key = n.key AND d.source = n.source
        LEFT JOIN events e ON e.seq = d.seq LEFT JOIN pruned p ON p.seq = d.seq;
    END $$)sql",

    // With the signatures ($27).
    R"sql(CREATE FUNCTION add_events(timestamptz, bigint[], timestamptz[], bigint[], timestamptz[], timestamptz[],
      integer[], integer[], boolean[], uuid[], uuid[], bytea[], bytea[], bytea[], bytea[], bytea[], bytea[], bytea[],
      bytea[], bytea[], bigint[], bytea[], timestamptz[], bigint[], bytea[], uuid[], uuid[])
    RETURNS void LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO events (received_at, seq, keys_until, size, arrived_at, provider_time, secret, retry_number,
        forwarded_trusted, id, body_hash, source, type, key, ordering_key, keys, remote, retry_reason, signature_hash)
      SELECT $1, unnest($2), unnest($3), unnest($4), unnest($5), unnest($6), unnest($7), unnest($8), unnest($9),
        unnest($10), unnest($11), unnest($12), unnest($13), unnest($14), unnest($15), unnest($16), unnest($17),
        unnest($18), unnest($27);
      INSERT INTO contents (seq, headers, body) SELECT unnest($2), unnest($19), unnest($20);
      INSERT INTO deliveries (seq, destination, due_at, armed_at, claimed_at, ended_at, state, attempt, counted,
        new_key, new_keys, unsettled, replay)
      SELECT unnest($21), unnest($22), unnest($23), $1, 'epoch', 'epoch', 0, 0, 0, 0, 0, false, false;
      IF cardinality($24) > 0 THEN
        INSERT INTO lines (seq, destination, line) SELECT unnest($24), unnest($25), unnest($26);
      END IF;
    END $$)sql",

    // With whether the key is the event's own ($15) and the signatures ($16).
    R"sql(CREATE FUNCTION add_duplicates(bigint[], bigint[], bytea[], bigint[], integer[], integer[], boolean[],
      timestamptz[], timestamptz[], integer[], integer[], uuid[], bytea[], bytea[], boolean[], uuid[])
    RETURNS void LANGUAGE plpgsql AS $$
    BEGIN
      UPDATE events e SET duplicates = e.duplicates + n.added, keys = e.keys || n.keys
        FROM (SELECT unnest($1) AS seq, unnest($2) AS added, unnest($3) AS keys) n WHERE e.seq = n.seq;
      INSERT INTO arrivals (seq, number, verdict, same_body, arrived_at, provider_time, secret, retry_number,
        body_hash, remote, retry_reason, same_key, signature_hash)
      SELECT unnest($4), unnest($5), unnest($6), unnest($7), unnest($8), unnest($9), unnest($10), unnest($11),
        unnest($12), unnest($13), unnest($14), unnest($15), unnest($16);
    END $$)sql",
};

constexpr const char* kItemFunctions[] = {
    // claim_due() with the new items of batches.
    "CREATE FUNCTION claim_due_items(timestamptz, bytea[], integer[]) RETURNS TABLE (place bigint, moment timestamptz, "
    "seq bigint, destination bytea, " HK_DELIVERY_COLUMNS
    ", id uuid, source bytea, type bytea, received_at timestamptz, forwarded_trusted boolean, headers bytea, "
    "body bytea, new_items bytea) LANGUAGE plpgsql AS $$\n#variable_conflict use_column\n"
    "DECLARE present timestamptz := coalesce($1, clock_timestamp());\nBEGIN RETURN QUERY "
    "SELECT r.place, present, d.seq, d.destination, " HK_DELIVERY_FIELDS
    ", e.id, e.source, e.type, e.received_at, e.forwarded_trusted, c.headers, c.body, c.new_items "
    "FROM unnest($2, $3) WITH ORDINALITY AS r (destination, slots, place) "
    "CROSS JOIN LATERAL (SELECT * FROM deliveries WHERE destination = r.destination AND state IN (0, 1) "
    "AND due_at <= present ORDER BY due_at, seq LIMIT r.slots FOR NO KEY UPDATE SKIP LOCKED) d "
    "JOIN events e ON e.seq = d.seq JOIN contents c ON c.seq = d.seq ORDER BY r.place, d.due_at, d.seq; END $$",
};

#undef HK_DELIVERY_COLUMNS
#undef HK_DELIVERY_FIELDS

constexpr const char* kLinesOfOneInbox[] = {
    "CREATE FUNCTION line_lock(uuid) RETURNS bigint LANGUAGE sql STABLE AS $$ "
    "SELECT uuid_hash_extended($1, hashtextextended(current_schema()::text, 0)) $$",
    R"sql(CREATE OR REPLACE FUNCTION lock_lines(uuid[], uuid[], bytea[]) RETURNS void LANGUAGE plpgsql AS $$
    #variable_conflict use_column
    DECLARE place bigint;
    BEGIN
      FOR place IN
        SELECT DISTINCT line_lock(wanted.line) FROM (
          SELECT unnest($1) AS line
          UNION ALL
          SELECT l.line FROM (SELECT unnest($2) AS id, unnest($3) AS destination) n JOIN events e ON e.id = n.id
          JOIN lines l ON l.destination = n.destination AND l.seq = e.seq
            AND l.line = line_of(n.destination, e.source, e.ordering_key)
          WHERE e.ordering_key IS NOT NULL) wanted
        ORDER BY 1
      LOOP
        PERFORM pg_advisory_xact_lock(place);
      END LOOP;
    END $$)sql",
};

}  // namespace

std::span<const char* const> batch_functions() {
  return kBatchFunctions;
}

std::span<const char* const> signatures_of_arrivals() {
  return kSignaturesOfArrivals;
}

std::span<const char* const> item_functions() {
  return kItemFunctions;
}

std::span<const char* const> locks_of_one_inbox() {
  return kLinesOfOneInbox;
}

}  // namespace hookonce
