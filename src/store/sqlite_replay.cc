#include "store/sqlite_replay.h"

#include <algorithm>
#include <map>
#include <set>

namespace hookonce {

Status SqliteReplay::prepare(SqliteNames& destinations, SqliteDeliveries& deliveries, SqliteSearch& search) {
  destinations_ = &destinations;
  deliveries_ = &deliveries;
  search_ = &search;
  return {};
}

Result<Replayed> SqliteReplay::by_ids(const ReplayRequest& request, Time now) {
  Replayed replayed;
  std::set<EventId> seen;
  for (const EventId& id : request.ids) {
    HK_ASSIGN(const auto event, search_->by_id(id));
    if (!event) return not_found("event " + id.text() + ": no such event");
    if (seen.insert(id).second) HK_TRY(replay_event(*event, request, now, replayed));
  }
  return replayed;
}

Result<Replayed> SqliteReplay::found(const ReplayRequest& request, const std::vector<FoundEvent>& events, Time now) {
  Replayed replayed;
  for (const FoundEvent& event : events) {
    HK_ASSIGN(const auto still, search_->by_seq(event.seq, request.filter));
    if (still) HK_TRY(replay_event(*still, request, now, replayed));
  }
  return replayed;
}

Status SqliteReplay::replay_event(const FoundEvent& event, const ReplayRequest& request, Time now, Replayed& replayed) {
  std::map<std::string, DeliveryRecord> records;  // the answer is in the order of the names
  HK_ASSIGN(const std::vector<PlacedDelivery> deliveries, deliveries_->of_event(event.seq));
  for (const auto& [place, record] : deliveries) {
    HK_ASSIGN(const std::string name, destinations_->name_of(place.destination));
    records.emplace(name, record);
  }
  for (const auto& [name, record] : records) {
    if (request.destination && *request.destination != name) continue;
    if (request.dead_only && record.state != DeliveryState::kDead) continue;
    HK_TRY(replay_delivery(event, name, record, request, now, replayed));
  }
  const bool create = request.destination && request.create_missing && !request.dead_only;
  if (!create || records.contains(*request.destination)) return {};
  return replay_delivery(event, *request.destination, std::nullopt, request, now, replayed);
}

Status SqliteReplay::replay_delivery(const FoundEvent& event, const std::string& name,
                                     std::optional<DeliveryRecord> record, const ReplayRequest& request, Time now,
                                     Replayed& replayed) {
  const bool is_new = !record;
  DeliveryRecord changed = record.value_or(new_delivery(now));
  replayed.deliveries.push_back({event.summary.id, name, changed.state});
  if (!replay(changed, request.new_key, now) || request.dry_run) return {};
  HK_ASSIGN(const std::int64_t destination, destinations_->add(name));
  const DeliveryPlace place{event.seq, destination};
  return is_new ? deliveries_->insert(place, changed) : deliveries_->save(place, changed);
}

}  // namespace hookonce
