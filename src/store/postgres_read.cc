#include "store/postgres_read.h"

#include <fmt/format.h>

#include <map>
#include <set>

#include "store/headers_codec.h"

namespace hookonce {

namespace {

constexpr const char* kEvent =
    "SELECT e.id, e.source, e.type, e.key, e.received_at, e.duplicates, e.size, e.ordering_key, c.headers, c.body, "
    "e.arrived_at, e.remote, e.retry_number, e.retry_reason, e.provider_time, e.secret, e.body_hash, "
    "e.signature_hash, c.new_items FROM events e JOIN contents c ON c.seq = e.seq WHERE e.id = $1";

constexpr const char* kArrivals =
    "SELECT arrived_at, remote, retry_number, retry_reason, provider_time, secret, body_hash, signature_hash, verdict, "
    "same_body, same_key FROM arrivals WHERE seq = (SELECT seq FROM events WHERE id = $1) ORDER BY number";

constexpr const char* kAttempts =
    "SELECT destination, number, started_at, duration, outcome, status, error, response "
    "FROM attempts WHERE seq = (SELECT seq FROM events WHERE id = $1) ORDER BY destination, number";

// Counting all events would read all of them; beyond this many, the server's own estimate is what people get.
constexpr const char* kEventCount =
    "SELECT (SELECT count(*) FROM (SELECT 1 FROM events LIMIT 10001) AS first_events), "
    "(SELECT greatest(reltuples, 0)::bigint FROM pg_class WHERE oid = 'events'::regclass)";
constexpr std::int64_t kCountedMax = 10000;

constexpr const char* kOpenDeliveries =
    "SELECT destination, count(*) FILTER (WHERE state = 0), count(*) FILTER (WHERE state = 1), "
    "min(seq) FILTER (WHERE state = 0) "
    "FROM deliveries WHERE state IN (0, 1) GROUP BY destination ORDER BY destination";

constexpr const char* kDeadDeliveries = "SELECT count(*) FROM deliveries WHERE state = 3";

// The event with the lowest number that has a pending delivery.
constexpr const char* kOldestPending =
    "SELECT received_at FROM events WHERE seq = (SELECT min(seq) FROM deliveries WHERE state IN (0, 1) AND state = 0)";

constexpr const char* kPaused = "SELECT destination FROM pauses ORDER BY destination";

// One row per key of the arrival that somebody holds.
constexpr const char* kHolders =
    "SELECT n.key, d.seq, coalesce(e.id, p.id), coalesce(e.received_at, p.received_at), "
    "coalesce(e.body_hash, p.body_hash), "
    "EXISTS (SELECT FROM deliveries x WHERE x.seq = d.seq AND x.state = 3 AND x.delivered_at IS NULL) "
    "FROM unnest($2::uuid[]) AS n (key) JOIN dedup d ON d.key = n.key AND d.source = $3 "
    "LEFT JOIN events e ON e.seq = d.seq LEFT JOIN pruned p ON p.seq = d.seq "
    "WHERE d.expires_at > coalesce($1, clock_timestamp()) AND coalesce(e.id, p.id) IS NOT NULL ORDER BY d.seq";

Arrival read_arrival(const PostgresResult& result, int row, int column) {
  Arrival arrival;
  arrival.at = result.time(row, column);
  arrival.remote = result.bytes(row, column + 1);
  if (!result.is_null(row, column + 2)) {
    arrival.retry = RetryHint{result.integer(row, column + 2), std::string(result.bytes(row, column + 3))};
  }
  arrival.provider_time = result.optional_time(row, column + 4);
  arrival.secret = result.integer(row, column + 5);
  arrival.body_hash = result.uuid(row, column + 6);
  arrival.signature_hash = result.uuid(row, column + 7);
  return arrival;
}

Status read_whole(const PostgresResult& event, EventDetail& detail) {
  detail.summary.id = EventId(event.uuid(0, 0));
  detail.summary.source = event.bytes(0, 1);
  detail.summary.type = event.bytes(0, 2);
  detail.summary.key = event.optional_bytes(0, 3);
  detail.summary.received_at = event.time(0, 4);
  detail.summary.duplicates = event.bigint(0, 5);
  detail.summary.size = static_cast<std::size_t>(event.bigint(0, 6));
  detail.ordering_key = event.optional_bytes(0, 7);
  HK_ASSIGN(detail.headers, decode_headers(event.bytes(0, 8)));
  detail.body = event.bytes(0, 9);
  detail.arrivals.push_back({read_arrival(event, 0, 10), Verdict::kAccepted, true});
  detail.new_items = event.bytes(0, 18);
  return {};
}

Delivery delivery_of(const std::string& destination, const DeliveryRecord& record, std::vector<Attempt> attempts) {
  Delivery delivery;
  delivery.destination = destination;
  delivery.state = record.state;
  if (record.state == DeliveryState::kPending && !record.is_held()) delivery.next_attempt_at = record.due_at;
  delivery.delivered_at = record.delivered_at;
  delivery.replayed = record.replay;
  delivery.attempts = std::move(attempts);
  if (record.state == DeliveryState::kInFlight) delivery.attempts.push_back(attempt_in_flight(record));
  return delivery;
}

}  // namespace

Result<std::optional<EventDetail>> read_event(PostgresConnection& connection, const PostgresTransaction& transaction,
                                              const EventId& id) {
  static const std::string deliveries_sql = fmt::format(
      "SELECT d.destination, {}, {} FROM deliveries d JOIN events e ON e.seq = d.seq WHERE e.id = $1 "
      "ORDER BY d.destination",
      kDeliveryColumns, kHoldColumns);
  const PostgresParameters parameters = PostgresParameters().add_uuid(id.bytes());
  connection.begin(transaction);
  connection.add(kEvent, parameters);
  connection.add(kArrivals, parameters);
  connection.add(deliveries_sql, parameters);
  connection.add(kAttempts, parameters);
  HK_ASSIGN(const auto results, connection.run_and_commit());
  if (results[0].rows() == 0) return std::optional<EventDetail>();

  EventDetail detail;
  HK_TRY(read_whole(results[0], detail));
  const PostgresResult& arrivals = results[1];
  for (int row = 0; row < arrivals.rows(); ++row) {
    detail.arrivals.push_back({read_arrival(arrivals, row, 0), static_cast<Verdict>(arrivals.integer(row, 8)),
                               arrivals.flag(row, 9), arrivals.flag(row, 10)});
  }
  std::map<std::string, std::vector<Attempt>> attempts;
  for (int row = 0; row < results[3].rows(); ++row) {
    attempts[std::string(results[3].bytes(row, 0))].push_back(read_attempt(results[3], row, 1));
  }
  EventStateOf state;
  for (int row = 0; row < results[2].rows(); ++row) {
    const std::string destination(results[2].bytes(row, 0));
    const DeliveryRecord record = read_record(results[2], row, 1);
    state.add(record.state);
    Delivery& delivery =
        detail.deliveries.emplace_back(delivery_of(destination, record, std::move(attempts[destination])));
    delivery.held = read_hold(results[2], row, 1 + kDeliveryColumnCount, record.state);
  }
  detail.summary.state = state.value();
  return std::optional(std::move(detail));
}

Result<std::optional<ReplyState>> read_reply(PostgresConnection& connection, const PostgresTransaction& transaction,
                                             const EventId& id) {
  connection.begin(transaction);
  // One statement, so that it sees one moment. The state is what EventStateOf makes of the deliveries.
  connection.add(
      "SELECT (SELECT CASE WHEN bool_or(d.state IN (0, 1)) THEN 0 WHEN bool_or(d.state = 3) THEN 2 ELSE 1 END "
      "FROM deliveries d WHERE d.seq = e.seq), r.status, r.content_type, r.body "
      "FROM events e LEFT JOIN replies r USING (seq) WHERE e.id = $1",
      PostgresParameters().add_uuid(id.bytes()));
  HK_ASSIGN(const auto results, connection.run_and_commit());
  const PostgresResult& answer = results.at(0);
  if (answer.rows() == 0) return std::optional<ReplyState>();
  ReplyState state{static_cast<EventState>(answer.integer(0, 0)), std::nullopt};
  if (!answer.is_null(0, 1)) {
    state.reply = Reply{answer.integer(0, 1), std::string(answer.bytes(0, 2)), std::string(answer.bytes(0, 3))};
  }
  return std::optional(std::move(state));
}

Result<StoreStats> read_stats(PostgresConnection& connection, const PostgresTransaction& transaction) {
  connection.begin(transaction);
  for (const char* sql : {kEventCount, kOpenDeliveries, kDeadDeliveries, kOldestPending, kPaused}) connection.add(sql);
  HK_ASSIGN(const auto results, connection.run_and_commit());
  StoreStats stats;
  const std::int64_t counted = results[0].bigint(0, 0);
  stats.events = counted <= kCountedMax ? counted : std::max(counted, results[0].bigint(0, 1));
  const PostgresResult& open = results[1];
  for (int row = 0; row < open.rows(); ++row) {
    const std::int64_t pending = open.bigint(row, 1);
    const std::int64_t in_flight = open.bigint(row, 2);
    stats.pending += pending;
    stats.in_flight += in_flight;
    stats.pending_by_destination.emplace_back(open.bytes(row, 0), pending + in_flight);
  }
  stats.dead = results[2].bigint(0, 0);
  if (results[3].rows() > 0) stats.oldest_pending = results[3].time(0, 0);
  for (int row = 0; row < results[4].rows(); ++row) stats.paused.emplace_back(results[4].bytes(row, 0));
  return stats;
}

Result<std::optional<AcceptFacts>> read_duplicate(PostgresConnection& connection,
                                                  const PostgresTransaction& transaction, const NewEvent& event,
                                                  PostgresClockTime clock) {
  const std::set<KeyHash> wanted(event.keys.begin(), event.keys.end());
  PostgresColumn keys(PostgresType::kUuid);
  for (const KeyHash& key : wanted) keys.add(key);
  connection.begin(transaction);
  connection.add(
      kHolders,
      PostgresParameters().add_time(clock).add_column(std::move(keys)).add_bytes(std::string_view(event.source)));
  connection.add("SELECT current_setting('synchronous_standby_names') <> ''");
  HK_ASSIGN(const auto results, connection.run_and_commit());
  // A crash or a cancelled wait shows what no standby has confirmed. A duplicate that is recorded waits for the standby
  // behind it; to have read it proves nothing.
  if (results.at(1).flag(0, 0)) return std::optional<AcceptFacts>();
  const PostgresResult& holders = results.at(0);
  const bool all_held = static_cast<std::size_t>(holders.rows()) == wanted.size();
  if (holders.rows() == 0 || (event.rule == KeyRule::kEach && !all_held)) return std::optional<AcceptFacts>();
  // The first row is the oldest holder.
  if (event.rearm && holders.flag(0, 5)) return std::optional<AcceptFacts>();
  return std::optional(AcceptFacts{Verdict::kDuplicate, EventId(holders.uuid(0, 2)), holders.time(0, 3),
                                   holders.uuid(0, 4) == event.arrival.body_hash, false});
}

}  // namespace hookonce
