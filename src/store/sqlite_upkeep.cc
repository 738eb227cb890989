#include "store/sqlite_upkeep.h"

#include <algorithm>

namespace hookonce {

namespace {

// Events looked at by one call. Pending ones stay in the way at the old end for as long as they are pending, so a walk
// goes on in the next call instead of beginning anew.
constexpr std::int64_t kWalkRows = 2000;

}  // namespace

Status SqliteUpkeep::prepare(Database& database, SqliteDeliveries& deliveries) {
  database_ = &database;
  deliveries_ = &deliveries;
  return prepare_all(
      database,
      {
          {&next_events_,
           "SELECT seq, source, id, received_at, keys_until, body_hash FROM events WHERE seq > ? ORDER BY seq LIMIT ?"},
          {&remove_event_, "DELETE FROM events WHERE seq = ?"},
          {&remove_content_, "DELETE FROM contents WHERE seq = ?"},
          {&remove_arrivals_, "DELETE FROM arrivals WHERE seq = ?"},
          {&insert_pruned_,
           "INSERT INTO pruned (seq, id, source, received_at, keys_until, body_hash) VALUES (?, ?, ?, ?, ?, ?)"},
          {&over_, "SELECT seq, source FROM pruned WHERE keys_until <= ? ORDER BY keys_until LIMIT ?"},
          {&remove_pruned_, "DELETE FROM pruned WHERE seq = ?"},
          {&keys_of_, "SELECT key, older, newer FROM event_keys WHERE seq = ?"},
          {&set_older_, "UPDATE event_keys SET older = ?3 WHERE seq = ?1 AND key = ?2"},
          {&set_newer_, "UPDATE event_keys SET newer = ?3 WHERE seq = ?1 AND key = ?2"},
          {&repoint_, "UPDATE dedup SET seq = ?4 WHERE source = ?1 AND key = ?2 AND seq = ?3"},
          {&free_key_, "DELETE FROM dedup WHERE source = ?1 AND key = ?2 AND seq = ?3"},
          {&remove_keys_, "DELETE FROM event_keys WHERE seq = ?"},
      });
}

Result<std::int64_t> SqliteUpkeep::prune(const PruneRequest& request) {
  std::int64_t removed = 0;
  HK_ASSIGN(const std::vector<OldEvent> events, next_events(position_));
  bool at_end = static_cast<std::int64_t>(events.size()) < kWalkRows;
  for (const OldEvent& event : events) {
    if (removed >= request.limit) {
      at_end = false;
      break;
    }
    // Acceptance times rise with the sequence, so the rest is young too; unless this one was stamped by a clock that
    // ran ahead.
    if (event.received_at >= request.events_before && event.received_at <= request.keys_now) {
      at_end = true;
      break;
    }
    position_ = event.seq;
    HK_ASSIGN(const bool ended, has_ended(event, request.events_before));
    if (!ended) continue;
    HK_TRY(remove_event(event));
    ++removed;
    if (event.keys_until > request.keys_now) {
      HK_TRY(keep_as_pruned(event));
    } else {
      HK_ASSIGN(const std::int64_t keys, remove_keys(event.seq, event.source));
      removed += keys;
    }
  }
  if (at_end) position_ = 0;
  HK_ASSIGN(const std::int64_t keys, prune_keys(request.keys_now, request.limit - removed));
  return removed + keys;
}

Result<std::vector<SqliteUpkeep::OldEvent>> SqliteUpkeep::next_events(std::int64_t from) {
  std::vector<OldEvent> events;
  Query query(next_events_);
  query.bind_integer(from).bind_integer(kWalkRows);
  while (true) {
    HK_ASSIGN(const bool more, query.row());
    if (!more) return events;
    events.push_back({query.integer(0), query.integer(1), EventId(query.bytes<16>(2)), query.time(3), query.time(4),
                      query.bytes<16>(5)});
  }
}

Result<bool> SqliteUpkeep::has_ended(const OldEvent& event, Time before) {
  HK_ASSIGN(const std::vector<PlacedDelivery> deliveries, deliveries_->of_event(event.seq));
  Time end = event.received_at;
  for (const PlacedDelivery& delivery : deliveries) {
    if (delivery.record.is_open()) return false;
    end = std::max(end, delivery.record.ended_at);
  }
  return end < before;
}

Status SqliteUpkeep::remove_event(const OldEvent& event) {
  for (Statement* statement : {&remove_event_, &remove_content_, &remove_arrivals_}) {
    Query query(*statement);
    query.bind_integer(event.seq);
    HK_TRY(query.run());
  }
  return deliveries_->remove_of_event(event.seq);
}

Status SqliteUpkeep::keep_as_pruned(const OldEvent& event) {
  Query query(insert_pruned_);
  query.bind_integer(event.seq).bind_blob(event.id.bytes()).bind_integer(event.source);
  query.bind_time(event.received_at).bind_time(event.keys_until).bind_blob(event.body_hash);
  return query.run();
}

Result<std::int64_t> SqliteUpkeep::prune_keys(Time now, std::int64_t limit) {
  std::vector<std::pair<std::int64_t, std::int64_t>> over;  // sequence number and source
  {
    Query query(over_);
    query.bind_time(now).bind_integer(std::max<std::int64_t>(0, limit));
    while (true) {
      HK_ASSIGN(const bool more, query.row());
      if (!more) break;
      over.emplace_back(query.integer(0), query.integer(1));
    }
  }
  std::int64_t removed = 0;
  for (const auto& [seq, source] : over) {
    if (removed >= limit) break;
    HK_ASSIGN(const std::int64_t keys, remove_keys(seq, source));
    removed += keys;
    Query query(remove_pruned_);
    query.bind_integer(seq);
    HK_TRY(query.run());
  }
  return removed;
}

Result<std::int64_t> SqliteUpkeep::remove_keys(std::int64_t seq, std::int64_t source) {
  std::int64_t freed = 0;
  HK_ASSIGN(const std::vector<KeyLink> links, keys_of(seq));
  for (const KeyLink& link : links) {
    HK_ASSIGN(const bool free, release_key(seq, source, link));
    freed += free ? 1 : 0;
  }
  Query query(remove_keys_);
  query.bind_integer(seq);
  HK_TRY(query.run());
  return freed;
}

Result<std::vector<SqliteUpkeep::KeyLink>> SqliteUpkeep::keys_of(std::int64_t seq) {
  std::vector<KeyLink> links;
  Query query(keys_of_);
  query.bind_integer(seq);
  while (true) {
    HK_ASSIGN(const bool more, query.row());
    if (!more) return links;
    KeyLink link;
    link.key = query.bytes<16>(0);
    if (!query.is_null(1)) link.older = query.integer(1);
    if (!query.is_null(2)) link.newer = query.integer(2);
    links.push_back(link);
  }
}

// The holders on both sides become neighbours. The dedup row goes only with the last holder: an older one whose event
// is still here must be found by its key, though the key itself is free.
Result<bool> SqliteUpkeep::release_key(std::int64_t seq, std::int64_t source, const KeyLink& link) {
  if (link.newer) {
    Query query(set_older_);
    query.bind_integer(*link.newer).bind_blob(link.key).bind_integer(link.older);
    HK_TRY(query.run());
  }
  if (link.older) {
    Query query(set_newer_);
    query.bind_integer(*link.older).bind_blob(link.key).bind_integer(link.newer);
    HK_TRY(query.run());
  }
  if (link.newer) return false;
  Query query(link.older ? repoint_ : free_key_);
  query.bind_integer(source).bind_blob(link.key).bind_integer(seq);
  if (link.older) query.bind_integer(*link.older);
  HK_TRY(query.run());
  return database_->changes() > 0;
}

}  // namespace hookonce
