#include "store/postgres_delivery_list.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/clock.h"
#include "store/postgres_deliveries.h"

namespace hookonce {

namespace {

constexpr std::int64_t kStepCandidates = 2000;  // some milliseconds
constexpr std::int64_t kFirstStepSpare = 100;   // most lists are answered by little more than what they ask for

// An event may appear once per delivery.
constexpr const char* kAllEvents = "SELECT seq FROM events WHERE seq < $1 ORDER BY seq DESC LIMIT $2";
constexpr const char* kOpen =
    "SELECT seq FROM deliveries WHERE state IN (0, 1) AND seq < $1 ORDER BY seq DESC LIMIT $2";
constexpr const char* kDead = "SELECT seq FROM deliveries WHERE state = 3 AND seq < $1 ORDER BY seq DESC LIMIT $2";

// The first row says how far the step came, whether anything matched or not. OFFSET 0 has each row looked up by its
// key: on tables that were filled a moment ago, of which the server has no statistics, it would read them whole
// instead.
std::string step_sql(const char* candidates) {
  return fmt::format(
      "WITH candidates AS MATERIALIZED ({}), "
      "reach AS (SELECT count(*) AS candidates, min(seq) AS lowest FROM candidates), "
      "found AS MATERIALIZED (SELECT d.seq, d.destination FROM (SELECT DISTINCT seq FROM candidates) c "
      "CROSS JOIN LATERAL (SELECT seq, destination FROM deliveries WHERE seq = c.seq "
      "AND ($4::bigint IS NULL OR state = $4) AND ($5::bytea IS NULL OR destination = $5) "
      "AND (seq < $6 OR (seq = $6 AND destination > $7::bytea)) OFFSET 0) d "
      "WHERE ($3::bytea IS NULL OR (SELECT source FROM events WHERE seq = d.seq) = $3) "
      "ORDER BY d.seq DESC, d.destination LIMIT $8), "
      "matching AS (SELECT d.*, e.id, e.source, e.type, e.key, e.received_at, {} "
      "FROM found f CROSS JOIN LATERAL (SELECT * FROM deliveries WHERE seq = f.seq AND destination = f.destination "
      "OFFSET 0) d CROSS JOIN LATERAL (SELECT * FROM events WHERE seq = f.seq OFFSET 0) e) "
      "SELECT r.candidates, r.lowest, (SELECT received_at FROM events WHERE seq = r.lowest), m.seq, m.destination, {}, "
      "m.id, m.source, m.type, m.key, m.received_at, "
      "a.status, a.error, m.paused, m.head FROM reach r LEFT JOIN (matching m LEFT JOIN LATERAL (SELECT status, error "
      "FROM attempts "
      "WHERE seq = m.seq AND destination = m.destination ORDER BY number DESC LIMIT 1) a ON true) ON true "
      "ORDER BY m.seq DESC, m.destination",
      candidates, kHoldColumns, kDeliveryColumns);
}
constexpr int kLowestTimeColumn = 2;
constexpr int kSeqColumn = 3;
constexpr int kRecordColumn = 5;
constexpr int kEventColumn = kRecordColumn + kDeliveryColumnCount;
constexpr int kAttemptColumn = kEventColumn + 5;
constexpr int kHoldColumn = kAttemptColumn + 2;

const std::string& sql_for(const PostgresDeliveryWalk& walk) {
  static const std::string all = step_sql(kAllEvents);
  static const std::string open = step_sql(kOpen);
  static const std::string dead = step_sql(kDead);
  const auto& state = walk.list.filter.state;
  if (state == DeliveryState::kDead) return dead;
  return state == DeliveryState::kPending || state == DeliveryState::kInFlight ? open : all;
}

std::int64_t step_of(const PostgresDeliveryWalk& walk) {
  const auto first = static_cast<std::int64_t>(walk.list.limit) + kFirstStepSpare;
  return std::min(kStepCandidates,
                  first + 2 * walk.candidates);  // what is rare takes long steps, what is not short ones
}

PostgresParameters parameters_of(const PostgresDeliveryWalk& walk) {
  const DeliveryList& list = walk.list;
  PostgresParameters parameters;
  parameters.add_bigint(list.place.below()).add_bigint(step_of(walk)).add_bytes(list.filter.source);
  parameters.add_bigint(list.filter.state ? std::optional(static_cast<std::int64_t>(*list.filter.state))
                                          : std::nullopt);
  parameters.add_bytes(list.filter.destination).add_bigint(list.place.seq).add_bytes(list.place.after);
  parameters.add_bigint(static_cast<std::int64_t>(list.limit + 1 - list.found.size()));
  return parameters;
}

ListedDelivery read_row(const PostgresResult& answer, int row) {
  EventSummary event;
  event.id = EventId(answer.uuid(row, kEventColumn));
  event.source = answer.bytes(row, kEventColumn + 1);
  event.type = answer.bytes(row, kEventColumn + 2);
  event.key = answer.optional_bytes(row, kEventColumn + 3);
  event.received_at = answer.time(row, kEventColumn + 4);
  ListedDelivery listed;
  listed.seq = answer.bigint(row, kSeqColumn);
  listed.row = row_of(event, std::string(answer.bytes(row, kSeqColumn + 1)), read_record(answer, row, kRecordColumn));
  listed.row.held = read_hold(answer, row, kHoldColumn, listed.row.state);
  if (!answer.is_null(row, kAttemptColumn)) {
    listed.row.last_status = answer.integer(row, kAttemptColumn);
    listed.row.last_error = answer.bytes(row, kAttemptColumn + 1);
  }
  return listed;
}

}  // namespace

Status walk_step(PostgresConnection& connection, const PostgresTransaction& transaction, PostgresDeliveryWalk& walk) {
  const Duration began = steady_now();
  connection.begin(transaction);
  connection.add(sql_for(walk), parameters_of(walk));
  HK_ASSIGN(const auto results, connection.run_and_commit());
  const PostgresResult& answer = results.at(0);
  for (int row = 0; row < answer.rows(); ++row) {
    if (!answer.is_null(row, kSeqColumn)) walk.list.found.push_back(read_row(answer, row));
  }
  const std::int64_t candidates = answer.bigint(0, 0);
  walk.exhausted = candidates < step_of(walk);
  walk.candidates += candidates;
  if (!walk.list.is_full() && !answer.is_null(0, 1)) {
    walk.list.place = {answer.bigint(0, 1), std::nullopt};
    if (!answer.is_null(0, kLowestTimeColumn)) walk.list.looked_until = answer.time(0, kLowestTimeColumn);
  }
  const Duration now = steady_now();
  walk.finished = walk.exhausted || walk.list.is_full() || now + (now - began) >= walk.stop_at;  // the next is as long
  return {};
}

}  // namespace hookonce
