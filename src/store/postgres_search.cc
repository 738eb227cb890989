#include "store/postgres_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/clock.h"
#include "core/dedup.h"
#include "store/event_filter.h"

namespace hookonce {

namespace {

constexpr std::int64_t kStepCandidates = 4000;    // a few milliseconds
constexpr std::int64_t kStepEvents = 10'000;      // likewise, where the rows of the events tell enough
constexpr std::int64_t kStepDeliveries = 1000;    // likewise, where an index of deliveries gives the candidates
constexpr std::int64_t kFirstStepSpare = 100;     // most lists are answered by little more than what they ask for
constexpr std::int64_t kStepBodies = 16ll << 20;  // of bodies to be searched, likewise

// An event may appear once per delivery.
constexpr const char* kAllEvents = "SELECT seq FROM events WHERE seq < $1 ORDER BY seq DESC LIMIT $2";
constexpr const char* kPendingEvents =
    "SELECT seq FROM deliveries WHERE state IN (0, 1) AND seq < $1 ORDER BY seq DESC LIMIT $2";
constexpr const char* kDeadEvents =
    "SELECT seq FROM deliveries WHERE state = 3 AND seq < $1 ORDER BY seq DESC LIMIT $2";
constexpr const char* kEventsOfKey =
    "SELECT seq FROM dedup WHERE key = ANY ({0}::uuid[]) AND seq < $1 UNION "
    "SELECT seq FROM former_holders WHERE key = ANY ({0}::uuid[]) AND seq < $1 ORDER BY seq DESC LIMIT $2";

// The first row says how far the step came, whether anything matched or not. The state is what EventStateOf makes of
// the deliveries. Bytes are searched as text in which every byte but plain ASCII stands as an escape, in lower case by
// ASCII's rules: a match by bytes is always one there, and only a few are one there alone (judge_again()).
std::string bodies_sql(const char* candidates) {
  return fmt::format(
      "WITH candidates AS MATERIALIZED ({}), "
      "weighed AS (SELECT e.*, sum(e.size) OVER (ORDER BY e.seq DESC) AS bytes FROM (SELECT DISTINCT seq FROM "
      "candidates) c CROSS JOIN LATERAL (SELECT * FROM events WHERE seq = c.seq OFFSET 0) e), "
      "bounded AS MATERIALIZED (SELECT * FROM weighed WHERE bytes - size < $3), "
      "reach AS (SELECT (SELECT count(*) FROM candidates) AS candidates, (SELECT min(seq) FROM candidates) AS lowest, "
      "count(*) AS judged, min(seq) AS lowest_judged, (SELECT count(*) FROM weighed) AS weighed, "
      "coalesce(max(bytes), 0)::bigint AS bytes FROM bounded), "
      "judged AS (SELECT b.*, (SELECT CASE WHEN bool_or(d.state IN (0, 1)) THEN 0 WHEN bool_or(d.state = 3) THEN 2 "
      "ELSE 1 END FROM deliveries d WHERE d.seq = b.seq) AS state FROM bounded b "
      "WHERE ($4::bytea IS NULL OR source = $4) AND ($5::bytea IS NULL OR type = $5) "
      "AND ($6::bytea IS NULL OR key IS NULL OR key = $6) AND ($7::timestamptz IS NULL OR received_at >= $7) "
      "AND ($8::timestamptz IS NULL OR received_at < $8)), "
      "matching AS (SELECT * FROM judged j WHERE ($9::bigint IS NULL OR state = $9) AND (position($10::text IN "
      "id::text) > 0 "
      "OR position($10 IN lower(encode(key, 'escape') COLLATE \"C\")) > 0 "
      "OR position($10 IN lower(encode(type, 'escape') COLLATE \"C\")) > 0 "
      "OR EXISTS (SELECT FROM contents c WHERE c.seq = j.seq "
      "AND position($10 IN lower(encode(c.body, 'escape') COLLATE \"C\")) > 0)) ORDER BY seq DESC LIMIT $11) "
      "SELECT r.candidates, r.lowest, r.judged, r.lowest_judged, r.weighed, r.bytes, "
      "(SELECT received_at FROM events WHERE seq = r.lowest), "
      "(SELECT received_at FROM events WHERE seq = r.lowest_judged), "
      "m.seq, m.id, m.source, m.type, m.key, m.received_at, m.duplicates, m.size, m.state "
      "FROM reach r LEFT JOIN matching m ON true ORDER BY m.seq DESC",
      candidates);
}

constexpr const char* kStateOfE =
    "(SELECT CASE WHEN bool_or(d.state IN (0, 1)) THEN 0 WHEN bool_or(d.state = 3) THEN 2 ELSE 1 END "
    "FROM deliveries d WHERE d.seq = e.seq)";
// The same without a text to be searched for. `place` says which events lie in the step, whose end is known first: the
// rows are then filtered where they lie, and only those that are shown are read whole.
std::string fields_sql(const char* candidates, const char* place) {
  return fmt::format(
      "WITH candidates AS MATERIALIZED ({candidates}), "
      "reach AS MATERIALIZED (SELECT count(*) AS candidates, min(seq) AS lowest FROM candidates), "
      "found AS MATERIALIZED (SELECT e.seq FROM {place} AND ($3::bytea IS NULL OR source = $3) AND ($4::bytea IS NULL "
      "OR type = $4) "
      "AND ($5::bytea IS NULL OR key IS NULL OR key = $5) AND ($6::timestamptz IS NULL OR received_at >= $6) "
      "AND ($7::timestamptz IS NULL OR received_at < $7) AND ($8::bigint IS NULL OR {state} = $8) "
      "ORDER BY e.seq DESC LIMIT $9), "
      "matching AS (SELECT e.*, {state} AS state FROM found f CROSS JOIN LATERAL (SELECT * FROM events "
      "WHERE seq = f.seq OFFSET 0) e) "
      "SELECT r.candidates, r.lowest, r.candidates, r.lowest, r.candidates, 0::bigint, "
      "(SELECT received_at FROM events WHERE seq = r.lowest), NULL::timestamptz, "
      "m.seq, m.id, m.source, m.type, m.key, m.received_at, m.duplicates, m.size, m.state "
      "FROM reach r LEFT JOIN matching m ON true ORDER BY m.seq DESC",
      fmt::arg("candidates", candidates), fmt::arg("place", place), fmt::arg("state", kStateOfE));
}
constexpr const char* kDownToLowest = "events e WHERE e.seq < $1 AND e.seq >= (SELECT lowest FROM reach)";
// OFFSET 0 has each event looked up by its key: on tables that were filled a moment ago, of which the server has no
// statistics, it would read them whole instead.
constexpr const char* kOfCandidates =
    "(SELECT DISTINCT seq FROM candidates) c CROSS JOIN LATERAL (SELECT * FROM events WHERE seq = c.seq OFFSET 0) e "
    "WHERE true";
constexpr int kLowestTimeColumn = 6;
constexpr int kLowestJudgedTimeColumn = 7;
constexpr int kFoundColumn = 8;

struct StepSql {
  std::string bodies;
  std::string fields;

  const std::string& for_filter(const EventFilter& filter) const { return filter.query.empty() ? fields : bodies; }
};

StepSql step_sql(const char* candidates, const char* place = kOfCandidates) {
  return {bodies_sql(candidates), fields_sql(candidates, place)};
}

bool walks_all_events(const PostgresSearch& search) {
  const EventFilter& filter = search.filter;
  return !filter.key && !search.dead_deliveries && (!filter.state || filter.state == EventState::kDelivered);
}

const std::string& sql_for(const PostgresSearch& search) {
  static const StepSql all = step_sql(kAllEvents, kDownToLowest);
  static const StepSql pending = step_sql(kPendingEvents);
  static const StepSql dead = step_sql(kDeadEvents);
  static const StepSql of_key = {bodies_sql(fmt::format(kEventsOfKey, "$12").c_str()),
                                 fields_sql(fmt::format(kEventsOfKey, "$10").c_str(), kOfCandidates)};
  if (walks_all_events(search)) return all.for_filter(search.filter);
  if (search.filter.key) return of_key.for_filter(search.filter);
  const bool open = search.filter.state == EventState::kPending;
  return (open ? pending : dead).for_filter(search.filter);
}

// As PostgreSQL's encode(..., 'escape') writes bytes, in lower case.
std::string escaped(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) {
    const auto byte = static_cast<std::uint8_t>(c);
    if (byte == 0 || byte >= 0x80) {
      text += fmt::format("\\{:03o}", byte);
    } else if (c == '\\') {
      text += "\\\\";
    } else {
      text += c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
    }
  }
  return text;
}

// Whether what is searched for could be met in the middle of an escape.
bool is_ambiguous(std::string_view query) {
  if (query.empty()) return false;
  const auto first = static_cast<std::uint8_t>(query[0]);
  return (first >= '0' && first <= '7') || first == '\\' || first == 0 || first >= 0x80;
}

std::int64_t step_of(const PostgresSearch& search) {
  const auto first = static_cast<std::int64_t>(search.wanted) + kFirstStepSpare;
  const bool fields_tell = search.filter.query.empty() && !search.filter.state;
  const std::int64_t most = !walks_all_events(search) ? kStepDeliveries : fields_tell ? kStepEvents : kStepCandidates;
  return std::min(most, first + 2 * search.candidates);  // what is rare takes long steps, what is not short ones
}

PostgresParameters parameters_of(const PostgresSearch& search) {
  const EventFilter& filter = search.filter;
  PostgresParameters parameters;
  parameters.add_bigint(search.before).add_bigint(step_of(search));
  if (!filter.query.empty()) parameters.add_bigint(kStepBodies);
  parameters.add_bytes(filter.source).add_bytes(filter.type).add_bytes(filter.key);
  parameters.add_time(filter.since).add_time(filter.until);
  parameters.add_bigint(filter.state ? std::optional(static_cast<std::int64_t>(*filter.state)) : std::nullopt);
  if (!filter.query.empty()) parameters.add_text(escaped(filter.query));
  parameters.add_bigint(static_cast<std::int64_t>(search.wanted - search.found.size()));
  if (filter.key) {
    PostgresColumn keys(PostgresType::kUuid);
    for (const KeyHash& key : hashes_of_text(*filter.key)) keys.add(key);
    parameters.add_column(std::move(keys));
  }
  return parameters;
}

PostgresFound read_found(const PostgresResult& result, int row) {
  PostgresFound found;
  found.seq = result.bigint(row, kFoundColumn);
  found.summary.id = EventId(result.uuid(row, kFoundColumn + 1));
  found.summary.source = result.bytes(row, kFoundColumn + 2);
  found.summary.type = result.bytes(row, kFoundColumn + 3);
  found.summary.key = result.optional_bytes(row, kFoundColumn + 4);
  found.summary.received_at = result.time(row, kFoundColumn + 5);
  found.summary.duplicates = result.bigint(row, kFoundColumn + 6);
  found.summary.size = static_cast<std::size_t>(result.bigint(row, kFoundColumn + 7));
  found.summary.state = static_cast<EventState>(result.integer(row, kFoundColumn + 8));
  return found;
}

// What was found in the escaped text, looked for in the bytes themselves.
Result<bool> judge_again(PostgresConnection& connection, const PostgresTransaction& transaction,
                         const EventFilter& filter, const PostgresFound& found) {
  if (!is_ambiguous(filter.query) || matches_names(filter, found.summary)) return true;
  connection.begin(transaction);
  connection.add("SELECT body FROM contents WHERE seq = $1", PostgresParameters().add_bigint(found.seq));
  HK_ASSIGN(const auto results, connection.run_and_commit());
  return results[0].rows() == 1 && contains(results[0].bytes(0, 0), filter.query);
}

}  // namespace

Status search_step(PostgresConnection& connection, const PostgresTransaction& transaction, PostgresSearch& search) {
  const std::size_t room = search.wanted - search.found.size();
  const std::int64_t step = step_of(search);
  const Duration began = steady_now();
  connection.begin(transaction);
  connection.add(sql_for(search), parameters_of(search));
  HK_ASSIGN(const auto results, connection.run_and_commit());
  const PostgresResult& answer = results.at(0);
  std::size_t matched = 0;
  for (int row = 0; row < answer.rows(); ++row) {
    if (answer.is_null(row, kFoundColumn)) continue;
    ++matched;
    PostgresFound found = read_found(answer, row);
    search.before = found.seq;
    HK_ASSIGN(const bool matches, judge_again(connection, transaction, search.filter, found));
    if (matches) search.found.push_back(std::move(found));
  }
  const std::int64_t candidates = answer.bigint(0, 0);
  const std::int64_t judged = answer.bigint(0, 2);
  search.candidates += candidates;
  if (matched < room) {
    // The whole step was looked at, not only what came before the last match.
    const bool whole = judged == answer.bigint(0, 4);
    search.exhausted = whole && candidates < step;
    if (!answer.is_null(0, 1)) search.before = whole ? answer.bigint(0, 1) : answer.bigint(0, 3);
    const int time = whole ? kLowestTimeColumn : kLowestJudgedTimeColumn;
    if (!answer.is_null(0, time)) search.looked_until = answer.time(0, time);
  }
  const Duration now = steady_now();
  const bool late = now + (now - began) >= search.stop_at;  // the next step takes as long
  search.finished = search.exhausted || search.found.size() >= search.wanted || late;
  return {};
}

}  // namespace hookonce
