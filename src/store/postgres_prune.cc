#include "store/postgres_prune.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "store/postgres_deliveries.h"
#include "store/postgres_lines.h"

namespace hookonce {

namespace {

constexpr std::int64_t kWalkRows = 2000;  // events looked at by one call

// Whoever has it prunes; "hkon" once more, with a word of its own for the schema.
constexpr const char* kTryLock = "SELECT pg_try_advisory_xact_lock(1751871342, hashtext('prune ' || $1))";

// The next events of the walk: whether all behind them are kept too, whether they seem to have ended long enough ago
// for their source, and before when that had to be.
constexpr const char* kWalk =
    "WITH moment AS MATERIALIZED (SELECT coalesce($1, clock_timestamp()) AS now) "
    "SELECT w.seq, w.received_at >= m.now - $5 * interval '1 microsecond' AND w.received_at <= m.now, "
    "CASE WHEN w.received_at >= w.before THEN false ELSE "
    "NOT EXISTS (SELECT FROM deliveries d WHERE d.seq = w.seq AND (d.state IN (0, 1) OR d.ended_at >= w.before)) END, "
    "m.now, w.before "
    "FROM moment m, LATERAL (SELECT e.seq, e.received_at, "
    "m.now - coalesce(own.age, $4) * interval '1 microsecond' AS before "
    "FROM (SELECT seq, received_at, source FROM events WHERE seq > $2 ORDER BY seq LIMIT $3) e "
    "LEFT JOIN unnest($6::bytea[], $7::bigint[]) AS own (source, age) ON own.source = e.source) w ORDER BY w.seq";

// Locked, so that a duplicate or a replay that comes in this moment waits, and then finds the event gone. What somebody
// else holds is left for the next walk.
constexpr const char* kLockEvents =
    "SELECT seq, ordering_key IS NOT NULL FROM events WHERE seq = ANY ($1::bigint[]) ORDER BY seq FOR UPDATE SKIP "
    "LOCKED";

// What a duplicate is to be told lives on for as long as the keys are taken; an event without keys leaves nothing.
constexpr const char* kMove =
    "WITH gone AS (DELETE FROM events WHERE seq = ANY ($1::bigint[]) RETURNING seq, received_at, keys_until, id, "
    "body_hash, source, keys) "
    "INSERT INTO pruned (seq, received_at, keys_until, id, body_hash, source, keys) "
    "SELECT * FROM gone WHERE length(keys) > 0";

constexpr const char* kKeysOver =
    "SELECT seq, source, keys FROM pruned WHERE keys_until <= coalesce($1, clock_timestamp()) "
    "ORDER BY keys_until LIMIT $2";

constexpr const char* kKeyRows = "unnest($1::bigint[], $2::bytea[], $3::uuid[]) AS n (seq, source, key)";

// In the order in which accepts lock keys.
std::string lock_keys_sql() {
  return fmt::format(
      "SELECT d.seq, d.source, d.key, d.older IS NOT NULL FROM dedup d JOIN {} ON d.key = n.key AND d.source = "
      "n.source "
      "WHERE d.seq = n.seq ORDER BY d.key, d.source FOR UPDATE OF d",
      kKeyRows);
}

struct Over {
  PostgresColumn seqs{PostgresType::kBigint};
  PostgresColumn key_seqs{PostgresType::kBigint};
  PostgresColumn sources{PostgresType::kBytea};
  PostgresColumn keys{PostgresType::kUuid};
};

Over read_over(const PostgresResult& result, std::int64_t limit) {
  Over over;
  std::int64_t count = 0;
  for (int row = 0; row < result.rows() && count < limit; ++row) {
    over.seqs.add(result.bigint(row, 0));
    const std::string_view keys = result.bytes(row, 2);
    for (std::size_t at = 0; at + sizeof(Bytes16) <= keys.size(); at += sizeof(Bytes16)) {
      Bytes16 key{};
      std::copy_n(keys.begin() + static_cast<std::ptrdiff_t>(at), key.size(), key.begin());
      over.key_seqs.add(result.bigint(row, 0));
      over.sources.add(result.bytes(row, 1));
      over.keys.add(key);
      ++count;
    }
  }
  return over;
}

}  // namespace

Result<std::int64_t> PostgresPrune::run(PostgresConnection& connection, const PostgresTransaction& transaction,
                                        const PruneRequest& request, PostgresClockTime clock) {
  std::int64_t removed = 0;
  connection.begin(transaction);
  connection.add(kTryLock, PostgresParameters().add_text(transaction.schema));
  HK_ASSIGN(const auto locked, connection.run());
  if (locked[0].flag(0, 0)) {
    HK_ASSIGN(removed, prune_events(connection, request, clock));
  }
  HK_TRY(connection.run_and_commit().status());
  if (!locked[0].flag(0, 0)) return 0;

  connection.begin(transaction);
  HK_ASSIGN(const std::int64_t keys, prune_keys(connection, std::max<std::int64_t>(0, request.limit - removed), clock));
  HK_TRY(connection.run_and_commit().status());
  return removed + keys;
}

Result<std::int64_t> PostgresPrune::prune_events(PostgresConnection& connection, const PruneRequest& request,
                                                 PostgresClockTime clock) {
  const auto age = [&](Time before) { return std::int64_t{Duration(request.keys_now - before).count()}; };
  PostgresColumn sources(PostgresType::kBytea);
  PostgresColumn ages(PostgresType::kBigint);
  for (const auto& [source, before] : request.events_before_of) {
    sources.add(std::string_view(source));
    ages.add(age(before));
  }
  PostgresParameters limits;
  limits.add_time(clock).add_bigint(position_).add_bigint(kWalkRows).add_bigint(age(request.events_before));
  limits.add_bigint(age(request.latest_before())).add_column(std::move(sources)).add_column(std::move(ages));
  connection.add(kWalk, limits);
  HK_ASSIGN(const auto results, connection.run());
  const PostgresResult& walk = results.at(0);
  std::vector<std::int64_t> ended;
  std::map<std::int64_t, Time> before;  // by event
  bool at_end = walk.rows() < kWalkRows;
  for (int row = 0; row < walk.rows(); ++row) {
    // Acceptance times rise with the walk, but for those of batches that were under way at once; a minute later they
    // are all old. One from the future is a clock's fault, and not the end.
    if (static_cast<int>(ended.size()) >= request.limit || walk.flag(row, 1)) {
      at_end = walk.flag(row, 1);
      break;
    }
    position_ = walk.bigint(row, 0);
    if (!walk.flag(row, 2)) continue;
    ended.push_back(position_);
    before[position_] = walk.time(row, 4);
  }
  if (at_end) position_ = 0;
  if (ended.empty()) return 0;

  HK_ASSIGN(const std::vector<KeyHash> lines, find_lines(connection, ended));
  lock_lines(connection, lines);
  PostgresColumn column(PostgresType::kBigint);
  for (std::int64_t seq : ended) column.add(seq);
  connection.add(kLockEvents, PostgresParameters().add_column(std::move(column)));
  lock_deliveries(connection, ended);
  HK_ASSIGN(const auto locked, connection.run());
  const PostgresResult& events = locked[1];
  const auto records = read_deliveries(locked[2]);
  PostgresColumn gone(PostgresType::kBigint);
  std::vector<PostgresPlace> leaving;  // A dead one may still have held its line up.
  for (int row = 0; row < events.rows(); ++row) {
    const std::int64_t seq = events.bigint(row, 0);
    bool still = true;
    for (auto it = records.lower_bound({seq, ""}); it != records.end() && it->first.first == seq; ++it) {
      still = still && !it->second.is_open() && it->second.ended_at < before.at(seq);
    }
    if (!still) continue;
    gone.add(seq);
    if (!events.flag(row, 1)) continue;
    for (auto it = records.lower_bound({seq, ""}); it != records.end() && it->first.first == seq; ++it) {
      leaving.push_back(it->first);
    }
  }
  if (!leaving.empty()) {
    PostgresChanges freed;
    HK_TRY(leave_lines(connection, leaving, walk.time(0, 3), freed).status());
    freed.queue(connection);
  }
  const auto count = static_cast<std::int64_t>(gone.size());
  PostgresParameters parameters;
  parameters.add_column(std::move(gone));
  connection.add(kMove, parameters);
  for (const char* table : {"contents", "arrivals", "deliveries", "attempts", "replies"}) {
    connection.add(fmt::format("DELETE FROM {} WHERE seq = ANY ($1::bigint[])", table), parameters);
  }
  return count;
}

Result<std::int64_t> PostgresPrune::prune_keys(PostgresConnection& connection, std::int64_t limit,
                                               PostgresClockTime clock) {
  connection.add(kKeysOver, PostgresParameters().add_time(clock).add_bigint(limit));
  HK_ASSIGN(const auto results, connection.run());
  Over over = read_over(results.at(0), limit);
  if (over.seqs.size() == 0) return 0;

  static const std::string lock_keys = lock_keys_sql();
  static const std::string free_keys = fmt::format(
      "DELETE FROM dedup d USING {} WHERE d.key = n.key AND d.source = n.source AND d.seq = n.seq", kKeyRows);
  static const std::string forget = fmt::format(
      "DELETE FROM former_holders f USING {} WHERE f.key = n.key AND f.source = n.source AND f.seq = n.seq", kKeyRows);
  PostgresParameters keys;
  keys.add_column(std::move(over.key_seqs)).add_column(std::move(over.sources)).add_column(std::move(over.keys));
  connection.add(lock_keys, keys);
  HK_ASSIGN(const auto locked, connection.run());
  connection.add(free_keys, keys);
  connection.add(forget, keys);
  connection.add("DELETE FROM pruned WHERE seq = ANY ($1::bigint[])",
                 PostgresParameters().add_column(std::move(over.seqs)));
  return static_cast<std::int64_t>(locked.at(0).rows());
}

}  // namespace hookonce
