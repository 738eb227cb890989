#include "store/postgres_replay.h"

#include <fmt/format.h>

#include <map>
#include <set>

namespace hookonce {

namespace {

struct ReplayedEvent {
  std::int64_t seq = 0;
  EventId id;
};

using Records = std::map<PostgresPlace, DeliveryRecord>;

// Events before deliveries, as everybody: an event that is locked is not pruned meanwhile.
constexpr const char* kLockEvents =
    "SELECT seq, id, coalesce($1, clock_timestamp()) FROM events WHERE id = ANY ($2::uuid[]) ORDER BY seq "
    "FOR NO KEY UPDATE";

struct Locked {
  std::map<EventId, std::int64_t> seqs;
  Records records;
  Time now{};
};

Result<Locked> lock(PostgresConnection& connection, const std::vector<EventId>& ids, PostgresClockTime clock) {
  static const std::string deliveries_sql = fmt::format(
      "SELECT seq, destination, {} FROM deliveries "
      "WHERE seq IN (SELECT seq FROM events WHERE id = ANY ($1::uuid[])) ORDER BY seq, destination FOR NO KEY UPDATE",
      kDeliveryColumns);
  PostgresColumn column(PostgresType::kUuid);
  for (const EventId& id : ids) column.add(id.bytes());
  PostgresParameters wanted;
  wanted.add_column(std::move(column));
  PostgresParameters with_time;
  with_time.add_time(clock).add(wanted);
  connection.add(kLockEvents, with_time);
  connection.add(deliveries_sql, wanted);
  HK_ASSIGN(const auto results, connection.run());
  Locked locked;
  for (int row = 0; row < results[0].rows(); ++row) {
    locked.seqs[EventId(results[0].uuid(row, 1))] = results[0].bigint(row, 0);
    locked.now = results[0].time(row, 2);
  }
  locked.records = read_deliveries(results[1]);
  return locked;
}

void replay_delivery(const ReplayedEvent& event, const std::string& name, const DeliveryRecord* existing,
                     const ReplayRequest& request, Time now, PostgresChanges& changes, Replayed& replayed) {
  DeliveryRecord record = existing == nullptr ? new_delivery(now) : *existing;
  replayed.deliveries.push_back({event.id, name, record.state});
  if (!replay(record, request.new_key, now) || request.dry_run) return;
  if (existing == nullptr) {
    changes.insert({event.seq, name}, record);
  } else {
    changes.save({event.seq, name}, record);
  }
}

void replay_event(const ReplayedEvent& event, const Locked& locked, const ReplayRequest& request,
                  PostgresChanges& changes, Replayed& replayed) {
  const Records& records = locked.records;
  for (auto it = records.lower_bound({event.seq, ""}); it != records.end() && it->first.first == event.seq; ++it) {
    const std::string& name = it->first.second;
    if (request.destination && *request.destination != name) continue;
    if (request.dead_only && it->second.state != DeliveryState::kDead) continue;
    replay_delivery(event, name, &it->second, request, locked.now, changes, replayed);
  }
  const bool create = request.destination && request.create_missing && !request.dead_only;
  if (!create || records.count({event.seq, *request.destination}) > 0) return;
  replay_delivery(event, *request.destination, nullptr, request, locked.now, changes, replayed);
}

bool still_matches(const PostgresFound& found, const Locked& locked, const EventFilter& filter) {
  if (locked.seqs.count(found.summary.id) == 0) return false;
  if (!filter.state) return true;  // Nothing else of an event ever changes.
  EventStateOf state;
  for (auto it = locked.records.lower_bound({found.seq, ""});
       it != locked.records.end() && it->first.first == found.seq; ++it) {
    state.add(it->second.state);
  }
  return state.value() == *filter.state;
}

}  // namespace

Result<Replayed> replay_ids(PostgresConnection& connection, const PostgresTransaction& transaction,
                            const ReplayRequest& request, PostgresClockTime clock) {
  connection.begin(transaction);
  HK_ASSIGN(const Locked locked, lock(connection, request.ids, clock));
  Replayed replayed;
  PostgresChanges changes;
  std::set<EventId> seen;
  for (const EventId& id : request.ids) {
    const auto seq = locked.seqs.find(id);
    if (seq == locked.seqs.end()) return not_found("event " + id.text() + ": no such event");
    if (seen.insert(id).second) replay_event({seq->second, id}, locked, request, changes, replayed);
  }
  changes.queue(connection);
  HK_TRY(connection.run_and_commit().status());
  return replayed;
}

Result<Replayed> replay_found(PostgresConnection& connection, const PostgresTransaction& transaction,
                              const ReplayRequest& request, const std::vector<PostgresFound>& found,
                              PostgresClockTime clock) {
  std::vector<EventId> ids;
  for (const PostgresFound& event : found) ids.push_back(event.summary.id);
  connection.begin(transaction);
  HK_ASSIGN(const Locked locked, lock(connection, ids, clock));
  Replayed replayed;
  PostgresChanges changes;
  for (const PostgresFound& event : found) {
    if (!still_matches(event, locked, request.filter)) continue;
    replay_event({event.seq, event.summary.id}, locked, request, changes, replayed);
  }
  changes.queue(connection);
  HK_TRY(connection.run_and_commit().status());
  return replayed;
}

}  // namespace hookonce
