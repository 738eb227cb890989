#include "store/sqlite_holder.h"

#include <algorithm>

namespace hookonce {

Status SqliteHolder::prepare(Database& database, SqliteNames& sources, SqliteDeliveries& deliveries,
                             SqliteKeyLookup& keys) {
  sources_ = &sources;
  deliveries_ = &deliveries;
  keys_ = &keys;
  return prepare_all(database, {
                                   // A pruned event still holds its key for the rest of its window.
                                   {&facts_,
                                    "SELECT id, received_at, body_hash FROM events WHERE seq = ?1 "
                                    "UNION ALL SELECT id, received_at, body_hash FROM pruned WHERE seq = ?1"},
                               });
}

Result<std::optional<AcceptFacts>> SqliteHolder::find(const NewEvent& event, Time now) {
  HK_ASSIGN(const auto holder, oldest_holder(event, now));
  if (!holder) return std::optional<AcceptFacts>();
  if (event.rearm) {
    HK_ASSIGN(const bool rearmed, would_be_rearmed(*holder, now));
    if (rearmed) return std::optional<AcceptFacts>();
  }
  Query query(facts_);
  query.bind_integer(*holder);
  HK_ASSIGN(const bool found, query.row());
  if (!found) return internal("the event that holds a dedup key is missing");
  return std::optional(AcceptFacts{Verdict::kDuplicate, EventId(query.bytes<16>(0)), query.time(1),
                                   query.bytes<16>(2) == event.arrival.body_hash, false});
}

Result<std::optional<std::int64_t>> SqliteHolder::oldest_holder(const NewEvent& event, Time now) {
  std::optional<std::int64_t> oldest;
  HK_ASSIGN(const auto source, sources_->find(event.source));
  if (!source) return oldest;
  for (const KeyHash& key : event.keys) {
    HK_ASSIGN(const auto holder, keys_->find({*source, key}));
    if (holder && holder->expires_at > now) {
      oldest = oldest ? std::min(*oldest, holder->seq) : holder->seq;
    } else if (event.rule == KeyRule::kEach) {
      return std::optional<std::int64_t>();  // A key of its own makes it an event.
    }
  }
  return oldest;
}

Result<bool> SqliteHolder::would_be_rearmed(std::int64_t seq, Time now) {
  HK_ASSIGN(std::vector<PlacedDelivery> deliveries, deliveries_->of_event(seq));
  return std::any_of(deliveries.begin(), deliveries.end(),
                     [now](PlacedDelivery& delivery) { return rearm(delivery.record, now); });
}

}  // namespace hookonce
