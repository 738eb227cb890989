#include "store/postgres_schema.h"

#include <fmt/format.h>

#include <span>
#include <utility>
#include <vector>

#include "store/postgres_functions.h"

namespace hookonce {

namespace {

constexpr int kOldestServer = 130000;  // what vacuums inserted-only tables by itself
constexpr Duration kMigrationWait = std::chrono::seconds(30);
constexpr Duration kMigrationStatement = std::chrono::minutes(10);  // an index over all that retention has kept
// "hkon" and what the schema's name makes: gateways of one inbox wait for each other, others don't.
constexpr const char* kMigrationLock = "SELECT pg_advisory_xact_lock(1751871342, hashtext($1))";

// Migration 1. Everything that came from outside is bytea: a NUL or a lone surrogate must not refuse an event. Names
// stand in the rows themselves; numbers for them would be a cache to go wrong after a failover. Keys and ids are uuid,
// which is sixteen bytes without a length. `seq` is the order of acceptance: a number per batch, shifted, plus the
// place in it. A delivery that waits in a line is due at infinity. The state numbers are those of the enums in
// core/model.h.
constexpr const char* kFirstTables[] = {
    "CREATE SEQUENCE batches",

    // One row per event, with its first arrival. Narrow, because lists and searches walk it. `keys` holds the hashes
    // of its dedup keys, sixteen bytes each: what pruning needs, for which an index by event would cost every insert.
    R"sql(CREATE TABLE events (
      seq bigint PRIMARY KEY,
      received_at timestamptz NOT NULL,
      keys_until timestamptz NOT NULL,
      duplicates bigint NOT NULL DEFAULT 0 CHECK (duplicates >= 0),
      size bigint NOT NULL CHECK (size >= 0),
      arrived_at timestamptz NOT NULL,
      provider_time timestamptz,
      secret integer NOT NULL,
      retry_number integer,
      forwarded_trusted boolean NOT NULL,
      id uuid NOT NULL UNIQUE,
      body_hash uuid NOT NULL,
      source bytea NOT NULL,
      type bytea NOT NULL,
      key bytea,
      ordering_key bytea,
      keys bytea NOT NULL CHECK (length(keys) % 16 = 0),
      remote bytea NOT NULL,
      retry_reason bytea,
      CHECK ((retry_number IS NULL) = (retry_reason IS NULL))
    ) WITH (fillfactor = 90, autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05))sql",

    // Headers and body apart: settling, counting and listing touch none of them.
    R"sql(CREATE TABLE contents (seq bigint PRIMARY KEY, headers bytea NOT NULL, body bytea NOT NULL)
    WITH (autovacuum_vacuum_scale_factor = 0.05))sql",
    // Bodies are mostly small or compressed already; what is compressed here is paid for at every commit.
    "ALTER TABLE contents ALTER COLUMN body SET STORAGE EXTERNAL",

    // Who holds a dedup key. Expiry is the predicate of the insert; `older` is the holder before, handed out by that
    // insert. The key comes first in the index, because it alone nearly always decides a comparison.
    R"sql(CREATE TABLE dedup (
      seq bigint NOT NULL,
      expires_at timestamptz NOT NULL,
      older bigint,
      key uuid NOT NULL,
      source bytea NOT NULL,
      PRIMARY KEY (key, source)
    ) WITH (fillfactor = 95, autovacuum_vacuum_scale_factor = 0.02))sql",

    // Earlier holders of a key whose window was over, so that all events of a key are found by it.
    R"sql(CREATE TABLE former_holders (
      key uuid NOT NULL,
      source bytea NOT NULL,
      seq bigint NOT NULL,
      PRIMARY KEY (key, source, seq)
    ))sql",

    // What a duplicate is told of an event that was pruned before its keys' window was over.
    R"sql(CREATE TABLE pruned (
      seq bigint PRIMARY KEY,
      received_at timestamptz NOT NULL,
      keys_until timestamptz NOT NULL,
      id uuid NOT NULL,
      body_hash uuid NOT NULL,
      source bytea NOT NULL,
      keys bytea NOT NULL CHECK (length(keys) % 16 = 0)
    ) WITH (autovacuum_vacuum_scale_factor = 0.05))sql",
    "CREATE INDEX pruned_by_end ON pruned (keys_until)",

    // Duplicates only; the first arrival is in events.
    R"sql(CREATE TABLE arrivals (
      seq bigint NOT NULL,
      arrived_at timestamptz NOT NULL,
      provider_time timestamptz,
      number integer NOT NULL CHECK (number BETWEEN 2 AND 100),
      secret integer NOT NULL,
      retry_number integer,
      verdict integer NOT NULL CHECK (verdict IN (1, 2)),
      same_body boolean NOT NULL,
      body_hash uuid NOT NULL,
      remote bytea NOT NULL,
      retry_reason bytea,
      PRIMARY KEY (seq, number),
      CHECK ((retry_number IS NULL) = (retry_reason IS NULL))
    ) WITH (autovacuum_vacuum_scale_factor = 0.05))sql",

    // due_at: while pending, when it is due; while in flight, when its lease is over; else without meaning. A delivery
    // is written three times in its life, so its dead versions are taken away early and have room beside them.
    R"sql(CREATE TABLE deliveries (
      seq bigint NOT NULL,
      due_at timestamptz NOT NULL,
      armed_at timestamptz NOT NULL,
      claimed_at timestamptz NOT NULL,
      ended_at timestamptz NOT NULL,
      delivered_at timestamptz,
      state integer NOT NULL CHECK (state BETWEEN 0 AND 3),
      attempt integer NOT NULL CHECK (attempt >= 0),
      counted integer NOT NULL CHECK (counted BETWEEN 0 AND attempt),
      new_key integer NOT NULL CHECK (new_key BETWEEN 0 AND new_keys),
      new_keys integer NOT NULL,
      unsettled boolean NOT NULL,
      replay boolean NOT NULL,
      destination bytea NOT NULL,
      PRIMARY KEY (seq, destination),
      CHECK (state <> 1 OR (unsettled AND attempt > 0)),
      CHECK (state <> 2 OR delivered_at IS NOT NULL)
    ) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000,
            autovacuum_analyze_scale_factor = 0.05))sql",
    "CREATE INDEX deliveries_open ON deliveries (destination, due_at, seq) WHERE state IN (0, 1)",
    "CREATE INDEX deliveries_dead ON deliveries (seq) WHERE state = 3",

    // Deliveries to ordered destinations that have not left their line.
    R"sql(CREATE TABLE lines (
      seq bigint NOT NULL,
      destination bytea NOT NULL,
      source bytea NOT NULL,
      ordering_key bytea NOT NULL,
      PRIMARY KEY (destination, source, ordering_key, seq)
    ) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000))sql",

    // What the destination answered to a synchronous source's event.
    R"sql(CREATE TABLE replies (
      seq bigint PRIMARY KEY,
      status integer NOT NULL,
      content_type bytea NOT NULL,
      body bytea NOT NULL
    ) WITH (autovacuum_vacuum_scale_factor = 0.05))sql",

    // Attempts that have ended, and those whose lease ran out; the one in flight is in its delivery's row.
    R"sql(CREATE TABLE attempts (
      seq bigint NOT NULL,
      started_at timestamptz NOT NULL,
      duration bigint,
      number integer NOT NULL CHECK (number > 0),
      outcome integer NOT NULL CHECK (outcome BETWEEN 0 AND 3),
      status integer NOT NULL,
      destination bytea NOT NULL,
      error bytea NOT NULL CHECK (length(error) <= 1024),
      response bytea NOT NULL CHECK (length(response) <= 1024),
      PRIMARY KEY (seq, destination, number)
    ) WITH (autovacuum_vacuum_scale_factor = 0.05))sql",
};

// Migration 2. An ordering key may be longer than an entry of an index, so a line is known by a hash: that of
// line_hash() in C++, here for what knows only the event. Source and ordering key stand in the event.
constexpr const char* kHashedLines[] = {
    R"sql(CREATE FUNCTION line_of(destination bytea, source bytea, ordering_key bytea) RETURNS uuid
    LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT encode(substr(sha256(int8send(4) || 'line'::bytea || int8send(3)
      || int8send(length(destination)) || destination || int8send(length(source)) || source
      || int8send(length(ordering_key)) || ordering_key), 1, 16), 'hex')::uuid
    $$)sql",
    "ALTER TABLE lines ADD COLUMN line uuid",
    "UPDATE lines SET line = line_of(destination, source, ordering_key)",
    "ALTER TABLE lines DROP CONSTRAINT lines_pkey",
    "ALTER TABLE lines DROP COLUMN source, DROP COLUMN ordering_key, ADD PRIMARY KEY (destination, line, seq)",
};

// Migration 5: destinations that a person has paused.
constexpr const char* kPauses[] = {"CREATE TABLE pauses (destination bytea PRIMARY KEY)"};

// Migration 6: which inbox this is (store/postgres_inbox.h).
constexpr const char* kInboxId[] = {
    "ALTER TABLE schema_version ADD COLUMN inbox uuid NOT NULL DEFAULT gen_random_uuid()",
};

// Migration 7: requests that were rejected, for people. No part of the inbox.
constexpr const char* kRejected[] = {
    R"sql(CREATE TABLE rejected (
      seq bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
      last_at timestamptz NOT NULL,
      count bigint NOT NULL CHECK (count > 0),
      size bigint NOT NULL CHECK (size >= 0),
      id uuid NOT NULL UNIQUE,
      digest uuid NOT NULL UNIQUE,
      source bytea NOT NULL,
      request bytea NOT NULL
    ))sql",
    "CREATE INDEX rejected_by_source ON rejected (source, seq)",
};

// Migration 8: which items of a batch were new, beside its body; more of an answer is kept. NOT VALID: what the
// narrower check let in needs no reading again.
constexpr const char* kNewItems[] = {
    "ALTER TABLE contents ADD COLUMN new_items bytea NOT NULL DEFAULT ''",
    "ALTER TABLE attempts DROP CONSTRAINT attempts_response_check, "
    "ADD CONSTRAINT attempts_response_check CHECK (length(response) <= 4096) NOT VALID",
};

// Migration 11: open deliveries in the order of lists. It holds what is open alone.
constexpr const char* kOpenInOrder[] = {
    "CREATE INDEX deliveries_open_in_order ON deliveries (seq) WHERE state IN (0, 1)",
};

std::vector<std::span<const char* const>> migrations() {
  return {kFirstTables, kHashedLines, batch_functions(), signatures_of_arrivals(), kPauses,     kInboxId,
          kRejected,    kNewItems,    item_functions(),  locks_of_one_inbox(),     kOpenInOrder};
}

int newest_version() {
  return static_cast<int>(migrations().size());
}

PostgresTransaction migration_transaction(const PostgresTarget& target) {
  return {target.schema, kMigrationWait, kMigrationStatement, false};
}

// What makes every gateway's statements find the tables: the schema, and a table that holds its version.
Status add_marks(PostgresConnection& connection, const PostgresTarget& target, bool schema_exists) {
  // Who may not make schemas can be given one; IF NOT EXISTS would ask for the right all the same.
  if (!schema_exists) connection.add("CREATE SCHEMA " + quoted_schema(target));
  connection.add("CREATE TABLE schema_version (version integer NOT NULL, written_by text NOT NULL)");
  connection.add("INSERT INTO schema_version VALUES (0, 'hookonce')");
  const auto made = connection.run();
  if (made.ok() || connection.state() != "42501") return made.status();
  return precondition(
      fmt::format("{}: no right to make the schema {}; as an owner of the database run CREATE SCHEMA {} "
                  "AUTHORIZATION the user of store.url",
                  target.shown, target.schema, target.schema));
}

// The version of the tables; 0 where there are none yet, which may be made only where none were `opened` before.
Result<int> read_version(PostgresConnection& connection, const PostgresTarget& target, const PostgresInboxId& opened) {
  connection.add(kMigrationLock, PostgresParameters().add_text(target.schema));
  connection.add(
      "SELECT (SELECT count(*) FROM pg_class WHERE relnamespace = n.oid), "
      "(SELECT count(*) FROM pg_class WHERE relnamespace = n.oid AND relname = 'schema_version') "
      "FROM pg_namespace n WHERE nspname = $1",
      PostgresParameters().add_text(target.schema));
  HK_ASSIGN(const auto found, connection.run());
  const bool exists = found[1].rows() == 1;
  const bool ours = exists && found[1].bigint(0, 1) == 1;
  if (!ours && opened) return inbox_is_gone(target);
  if (exists && !ours && found[1].bigint(0, 0) > 0) {
    return precondition(
        fmt::format("{}: the schema {} holds tables that are not hookonce's; name another with ?schema=", target.shown,
                    target.schema));
  }
  if (!ours) {
    HK_TRY(add_marks(connection, target, exists));
    return 0;
  }
  connection.add(fmt::format("SELECT version FROM {}.schema_version", quoted_schema(target)));
  const auto answered = connection.run();
  if (connection.state() == "42501") return right_is_missing(target, "read its tables");
  HK_TRY(answered.status());
  const auto& version = answered.value();
  if (version[0].rows() != 1) return internal("the table schema_version does not hold one row");
  return version[0].integer(0, 0);
}

}  // namespace

Result<PostgresServerState> check_server(PostgresConnection& connection, const PostgresTarget& target) {
  if (connection.server_version() < kOldestServer) {
    return precondition(fmt::format("{}: the server is version {}; hookonce needs PostgreSQL 13 or newer", target.shown,
                                    connection.server_version() / 10000));
  }
  connection.begin({target.schema, kMigrationWait, kMigrationWait, true});
  connection.add(
      "SELECT pg_is_in_recovery(), current_setting('default_transaction_read_only') = 'on', "
      "current_setting('fsync') = 'on', current_setting('full_page_writes') = 'on', "
      "current_setting('synchronous_standby_names') <> ''");
  HK_ASSIGN(const auto answers, connection.run_and_commit());
  const PostgresResult& answer = answers.at(0);
  if (answer.flag(0, 0)) {
    return precondition(target.shown + ": the server is a read-only replica; name its primary in store.url");
  }
  if (answer.flag(0, 1)) {
    return precondition(target.shown +
                        ": the server is read-only (default_transaction_read_only = on); turn it off for this user");
  }
  if (!answer.flag(0, 2)) {
    return precondition(target.shown +
                        ": the server runs with fsync = off, so that a power loss takes what was "
                        "acknowledged; turn it on");
  }
  if (!answer.flag(0, 3)) {
    return precondition(target.shown +
                        ": the server runs with full_page_writes = off, so that a power loss can destroy "
                        "the tables; turn it on");
  }
  return PostgresServerState{answer.flag(0, 4)};
}

Status check_inbox_exists(PostgresConnection& connection, const PostgresTarget& target) {
  connection.begin({target.schema, kMigrationWait, kMigrationWait, true});
  connection.add(
      "SELECT EXISTS (SELECT FROM pg_class JOIN pg_namespace n ON n.oid = relnamespace "
      "WHERE nspname = $1 AND relname = 'schema_version')",
      PostgresParameters().add_text(target.schema));
  HK_ASSIGN(const auto answers, connection.run_and_commit());
  if (answers[0].flag(0, 0)) return {};
  return precondition(fmt::format("{}: no inbox in the schema {}", target.shown, target.schema));
}

Result<Bytes16> prepare_schema(PostgresConnection& connection, const PostgresTarget& target,
                               const PostgresInboxId& opened) {
  connection.begin(migration_transaction(target));
  HK_ASSIGN(const int version, read_version(connection, target, opened));
  const int newest = newest_version();
  if (version > newest) {
    return precondition(fmt::format("{}: its tables are version {}, this program knows up to {}; use a newer hookonce",
                                    target.shown, version, newest));
  }
  if (version < newest) {
    const auto all = migrations();
    for (auto next = all.begin() + version; next != all.end(); ++next) {
      for (const char* statement : *next) connection.add(statement);
    }
    connection.add(fmt::format("UPDATE schema_version SET version = {}", newest));
  }
  connection.add("SELECT inbox FROM schema_version");
  HK_ASSIGN(const auto results, connection.run_and_commit());
  const Bytes16 inbox = results.back().uuid(0, 0);
  return !opened || inbox == opened ? Result<Bytes16>(inbox) : inbox_is_gone(target);
}

}  // namespace hookonce
