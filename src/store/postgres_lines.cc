#include "store/postgres_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "core/dedup.h"

namespace hookonce {

namespace {

constexpr std::int64_t kRuleRows =
    500;  // deliveries that one call frees, so that a commit behind it does not wait long

// The arrays are sorted, and unnest keeps their order.
constexpr const char* kLockLines = "SELECT pg_advisory_xact_lock(n.hash) FROM unnest($1::bigint[]) AS n (hash)";

// A head that is leaving is waited for, and the one behind it taken.
constexpr const char* kHeads =
    "SELECT n.destination, n.source, n.ordering_key "
    "FROM unnest($1::bytea[], $2::bytea[], $3::bytea[]) AS n (destination, source, ordering_key) "
    "CROSS JOIN LATERAL (SELECT seq FROM lines l WHERE l.destination = n.destination AND l.source = n.source "
    "AND l.ordering_key = n.ordering_key ORDER BY seq LIMIT 1 FOR KEY SHARE) head";

// The deliveries that leave, and the lines that they may stand in.
constexpr const char* kLeaving =
    "unnest($1::bigint[], $2::bytea[]) WITH ORDINALITY AS n (seq, destination, place) JOIN events e ON e.seq = n.seq";
constexpr const char* kHeadOfLine =
    "SELECT l.seq FROM lines l WHERE l.destination = n.destination AND l.source = e.source "
    "AND l.ordering_key = e.ordering_key ORDER BY l.seq LIMIT 1";
constexpr std::size_t kLeaveQueries = 3;

void queue_leave(PostgresConnection& connection, const std::vector<PostgresPlace>& leaving) {
  static const std::string leave = fmt::format(
      "DELETE FROM lines l USING {} WHERE l.destination = n.destination AND l.source = e.source "
      "AND l.ordering_key = e.ordering_key AND l.seq = n.seq RETURNING n.place",
      kLeaving);
  static const std::string heads =
      fmt::format("SELECT n.place, head.seq FROM {} CROSS JOIN LATERAL ({} FOR UPDATE) head", kLeaving, kHeadOfLine);
  static const std::string deliveries = fmt::format(
      "SELECT n.place, d.seq, {} FROM {} CROSS JOIN LATERAL ({}) head "
      "JOIN deliveries d ON d.seq = head.seq AND d.destination = n.destination "
      "ORDER BY d.seq, d.destination FOR NO KEY UPDATE OF d",
      kDeliveryColumns, kLeaving, kHeadOfLine);
  PostgresColumn seq(PostgresType::kBigint), destination(PostgresType::kBytea);
  for (const PostgresPlace& place : leaving) {
    seq.add(place.first);
    destination.add(std::string_view(place.second));
  }
  PostgresParameters parameters;
  parameters.add_column(std::move(seq)).add_column(std::move(destination));
  for (const std::string* sql : {&leave, &heads, &deliveries}) connection.add(*sql, parameters);
}

std::int64_t hash_of(const PostgresLine& line) {
  const KeyHash hash = key_hash("line", {line.destination, line.source, line.ordering_key});
  std::int64_t number = 0;
  std::memcpy(&number, hash.data(), sizeof number);
  return number;
}

}  // namespace

void lock_lines(PostgresConnection& connection, const std::map<PostgresLine, bool>& lines) {
  std::set<std::int64_t> hashes;
  for (const auto& [line, occupied] : lines) hashes.insert(hash_of(line));
  PostgresColumn column(PostgresType::kBigint);
  for (std::int64_t hash : hashes) column.add(hash);
  connection.add(kLockLines, PostgresParameters().add_column(std::move(column)));
}

void queue_heads(PostgresConnection& connection, const std::map<PostgresLine, bool>& lines) {
  PostgresColumn destination(PostgresType::kBytea), source(PostgresType::kBytea), ordering_key(PostgresType::kBytea);
  for (const auto& [line, occupied] : lines) {
    destination.add(std::string_view(line.destination));
    source.add(std::string_view(line.source));
    ordering_key.add(std::string_view(line.ordering_key));
  }
  connection.add(kHeads, PostgresParameters()
                             .add_column(std::move(destination))
                             .add_column(std::move(source))
                             .add_column(std::move(ordering_key)));
}

void read_heads(const PostgresResult& result, std::map<PostgresLine, bool>& lines) {
  for (int row = 0; row < result.rows(); ++row) {
    lines[{std::string(result.bytes(row, 0)), std::string(result.bytes(row, 1)), std::string(result.bytes(row, 2))}] =
        true;
  }
}

Result<std::set<PostgresPlace>> leave_lines(PostgresConnection& connection, const std::vector<PostgresPlace>& leaving,
                                            Time now, PostgresChanges& changes) {
  queue_leave(connection, leaving);
  HK_ASSIGN(const auto results, connection.run());
  HK_CHECK(results.size() >= kLeaveQueries);
  const PostgresResult& left = results[results.size() - 3];
  const PostgresResult& heads = results[results.size() - 1];
  std::set<std::int64_t> stood;  // places in `leaving` that stood in a line
  for (int row = 0; row < left.rows(); ++row) stood.insert(left.bigint(row, 0));
  // The last one of each line comes first, and frees.
  std::vector<std::pair<std::int64_t, int>> rows;
  for (int row = 0; row < heads.rows(); ++row) rows.emplace_back(-heads.bigint(row, 0), row);
  std::sort(rows.begin(), rows.end());
  std::set<PostgresPlace> freed, seen;
  for (const auto& [negative_place, row] : rows) {
    if (stood.count(-negative_place) == 0) continue;
    const PostgresPlace& by = leaving.at(static_cast<std::size_t>(-negative_place) - 1);
    const PostgresPlace head(heads.bigint(row, 1), by.second);
    DeliveryRecord record = read_record(heads, row, 2);
    if (!seen.insert(head).second || !free_held(record, now)) continue;
    changes.save(head, record);
    freed.insert(by);
  }
  return freed;
}

Result<bool> apply_rule(PostgresConnection& connection, const PostgresTransaction& transaction, const LineRule& rule,
                        std::optional<Time> clock) {
  if (rule.ordered && !rule.skip_dead) return false;
  constexpr const char* kAll =
      "SELECT seq, coalesce($3, clock_timestamp()) FROM lines WHERE destination = $1 "
      "ORDER BY source, ordering_key, seq LIMIT $2";
  constexpr const char* kDead =
      "SELECT l.seq, coalesce($3, clock_timestamp()) FROM lines l "
      "JOIN deliveries d ON d.seq = l.seq AND d.destination = l.destination "
      "WHERE l.destination = $1 AND d.state = 3 LIMIT $2";
  connection.begin(transaction);
  connection.add(
      rule.ordered ? kDead : kAll,
      PostgresParameters().add_bytes(std::string_view(rule.destination)).add_bigint(kRuleRows).add_time(clock));
  HK_ASSIGN(const auto found, connection.run());
  std::vector<std::int64_t> seqs;
  for (int row = 0; row < found[0].rows(); ++row) seqs.push_back(found[0].bigint(row, 0));
  if (!seqs.empty()) {
    const Time now = found[0].time(0, 1);
    lock_deliveries(connection, seqs);
    HK_ASSIGN(const auto locked, connection.run());
    PostgresChanges changes;
    std::vector<PostgresPlace> leaving;
    for (auto [place, record] : read_deliveries(locked[0])) {
      // A dead one may have been replayed in this moment.
      if (place.second != rule.destination || (rule.ordered && !leaves_line(record, rule.skip_dead))) continue;
      leaving.push_back(place);
      // Whoever leaves in the middle of a line waits no longer either.
      if (free_held(record, now)) changes.save(place, record);
    }
    if (!leaving.empty()) HK_TRY(leave_lines(connection, leaving, now, changes).status());
    changes.queue(connection);
  }
  HK_TRY(connection.run_and_commit().status());
  return static_cast<std::int64_t>(seqs.size()) == kRuleRows;
}

}  // namespace hookonce
