#include "store/postgres_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/dedup.h"

namespace hookonce {

namespace {

constexpr std::int64_t kRuleRows =
    500;  // deliveries that one call frees, so that a commit behind it does not wait long

void queue_lock(PostgresConnection& connection, PostgresColumn lines, std::span<const Settlement> leaving) {
  PostgresColumn id(PostgresType::kUuid), destination(PostgresType::kBytea);
  for (const Settlement& settlement : leaving) {
    if (!may_leave(settlement)) continue;
    id.add(settlement.event.bytes());
    destination.add(std::string_view(settlement.destination));
  }
  connection.add(
      "SELECT lock_lines($1, $2, $3)",
      PostgresParameters().add_column(std::move(lines)).add_column(std::move(id)).add_column(std::move(destination)));
}

}  // namespace

KeyHash line_hash(const std::string& destination, const std::string& source, const std::string& ordering_key) {
  return key_hash("line", {destination, source, ordering_key});
}

bool may_leave(const Settlement& settlement) {
  return settlement.next == Next::kDelivered || (settlement.next == Next::kDead && settlement.skip_dead);
}

void lock_lines(PostgresConnection& connection, const PostgresLines& joining, std::span<const Settlement> leaving) {
  PostgresColumn lines(PostgresType::kUuid);
  for (const auto& [hash, line] : joining) lines.add(hash);
  queue_lock(connection, std::move(lines), leaving);
}

void lock_lines(PostgresConnection& connection, const std::vector<KeyHash>& lines) {
  PostgresColumn column(PostgresType::kUuid);
  for (const KeyHash& hash : lines) column.add(hash);
  queue_lock(connection, std::move(column), {});
}

Result<std::set<PostgresPlace>> try_lock_lines(PostgresConnection& connection,
                                               const std::vector<PostgresPlace>& deliveries) {
  PostgresColumn seq(PostgresType::kBigint), destination(PostgresType::kBytea);
  for (const PostgresPlace& place : deliveries) {
    seq.add(place.first);
    destination.add(std::string_view(place.second));
  }
  connection.add(
      "SELECT n.seq, n.destination FROM unnest($1::bigint[], $2::bytea[]) AS n (seq, destination) "
      "JOIN events e ON e.seq = n.seq WHERE e.ordering_key IS NOT NULL AND NOT pg_try_advisory_xact_lock("
      "line_lock(line_of(n.destination, e.source, e.ordering_key)))",
      PostgresParameters().add_column(std::move(seq)).add_column(std::move(destination)));
  HK_ASSIGN(const auto results, connection.run());
  std::set<PostgresPlace> blocked;
  for (int row = 0; row < results.back().rows(); ++row) {
    blocked.emplace(results.back().bigint(row, 0), results.back().bytes(row, 1));
  }
  return blocked;
}

Result<std::vector<KeyHash>> find_lines(PostgresConnection& connection, const std::vector<std::int64_t>& seqs) {
  PostgresColumn column(PostgresType::kBigint);
  for (std::int64_t seq : seqs) column.add(seq);
  connection.add(
      "SELECT l.line FROM events e JOIN deliveries d ON d.seq = e.seq JOIN lines l ON l.destination = d.destination "
      "AND l.line = line_of(d.destination, e.source, e.ordering_key) AND l.seq = e.seq "
      "WHERE e.seq = ANY ($1::bigint[]) AND e.ordering_key IS NOT NULL",
      PostgresParameters().add_column(std::move(column)));
  HK_ASSIGN(const auto results, connection.run());
  std::vector<KeyHash> lines;
  for (int row = 0; row < results.back().rows(); ++row) lines.push_back(results.back().uuid(row, 0));
  return lines;
}

void queue_occupied(PostgresConnection& connection, const PostgresLines& lines) {
  PostgresColumn destination(PostgresType::kBytea), line(PostgresType::kUuid);
  for (const auto& [hash, known] : lines) {
    destination.add(std::string_view(known.destination));
    line.add(hash);
  }
  connection.add("SELECT occupied_lines($1, $2)",
                 PostgresParameters().add_column(std::move(destination)).add_column(std::move(line)));
}

void read_occupied(const PostgresResult& result, PostgresLines& lines) {
  for (int row = 0; row < result.rows(); ++row) lines.at(result.uuid(row, 0)).occupied = true;
}

Result<std::set<PostgresPlace>> leave_lines(PostgresConnection& connection, const std::vector<PostgresPlace>& leaving,
                                            Time now, PostgresChanges& changes) {
  static const std::string sql = fmt::format("SELECT place, seq, {} FROM leave_lines($1, $2)", kDeliveryColumns);
  PostgresColumn seq(PostgresType::kBigint), destination(PostgresType::kBytea);
  for (const PostgresPlace& place : leaving) {
    seq.add(place.first);
    destination.add(std::string_view(place.second));
  }
  connection.add(sql, PostgresParameters().add_column(std::move(seq)).add_column(std::move(destination)));
  HK_ASSIGN(const auto results, connection.run());
  const PostgresResult& heads = results.back();
  // The last one of each line comes first, and frees.
  std::vector<std::pair<std::int64_t, int>> rows;
  for (int row = 0; row < heads.rows(); ++row) rows.emplace_back(-heads.bigint(row, 0), row);
  std::sort(rows.begin(), rows.end());
  std::set<PostgresPlace> freed, seen;
  for (const auto& [negative_place, row] : rows) {
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
      "SELECT seq, coalesce($3, clock_timestamp()), line FROM lines WHERE destination = $1 ORDER BY line, seq LIMIT $2";
  constexpr const char* kDead =
      "SELECT l.seq, coalesce($3, clock_timestamp()), l.line FROM lines l "
      "JOIN deliveries d ON d.seq = l.seq AND d.destination = l.destination "
      "WHERE l.destination = $1 AND d.state = 3 LIMIT $2";
  connection.begin(transaction);
  connection.add(
      rule.ordered ? kDead : kAll,
      PostgresParameters().add_bytes(std::string_view(rule.destination)).add_bigint(kRuleRows).add_time(clock));
  HK_ASSIGN(const auto found, connection.run());
  std::vector<std::int64_t> seqs;
  std::vector<KeyHash> lines;
  for (int row = 0; row < found[0].rows(); ++row) {
    seqs.push_back(found[0].bigint(row, 0));
    lines.push_back(found[0].uuid(row, 2));
  }
  if (!seqs.empty()) {
    const Time now = found[0].time(0, 1);
    lock_lines(connection, lines);
    lock_deliveries(connection, seqs);
    HK_ASSIGN(const auto locked, connection.run());
    PostgresChanges changes;
    std::vector<PostgresPlace> leaving;
    for (auto [place, record] : read_deliveries(locked[1])) {
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
