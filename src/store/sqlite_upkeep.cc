#include "store/sqlite_upkeep.h"

#include <algorithm>

namespace hookonce {

namespace {

// Events looked at by one call. Pending ones, and those that their source keeps for longer than others do, stay in the
// way at the old end, so a walk goes on in the next call instead of beginning anew.
constexpr std::int64_t kWalkRows = 2000;

}  // namespace

Status SqliteUpkeep::prepare(Database& database, SqliteDeliveries& deliveries, SqliteKeys& keys, SqliteLines& lines,
                             SqliteNames& sources) {
  deliveries_ = &deliveries;
  keys_ = &keys;
  lines_ = &lines;
  sources_ = &sources;
  return prepare_all(
      database,
      {
          {&next_events_,
           "SELECT seq, source, id, received_at, keys_until, body_hash FROM events WHERE seq > ? ORDER BY seq LIMIT ?"},
          {&remove_event_, "DELETE FROM events WHERE seq = ?"},
          {&remove_content_, "DELETE FROM contents WHERE seq = ?"},
          {&remove_arrivals_, "DELETE FROM arrivals WHERE seq = ?"},
          {&remove_reply_, "DELETE FROM replies WHERE seq = ?"},
          {&insert_pruned_,
           "INSERT INTO pruned (seq, id, source, received_at, keys_until, body_hash) VALUES (?, ?, ?, ?, ?, ?)"},
          {&over_, "SELECT seq, source FROM pruned WHERE keys_until <= ? ORDER BY keys_until LIMIT ?"},
          {&remove_pruned_, "DELETE FROM pruned WHERE seq = ?"},
      });
}

Result<std::int64_t> SqliteUpkeep::prune(const PruneRequest& request) {
  std::int64_t removed = 0;
  HK_ASSIGN(const auto limits, own_limits(request));
  const Time latest = request.latest_before();
  HK_ASSIGN(const std::vector<OldEvent> events, next_events(position_));
  bool at_end = static_cast<std::int64_t>(events.size()) < kWalkRows;
  for (const OldEvent& event : events) {
    if (removed >= request.limit) {
      at_end = false;
      break;
    }
    // Acceptance times rise with the sequence, so the rest is young too; unless this one was stamped by a clock that
    // ran ahead.
    if (event.received_at >= latest && event.received_at <= request.keys_now) {
      at_end = true;
      break;
    }
    position_ = event.seq;
    const auto own = limits.find(event.source);
    HK_ASSIGN(const bool ended, has_ended(event, own == limits.end() ? request.events_before : own->second));
    if (!ended) continue;
    HK_TRY(remove_event(event, request.keys_now));
    ++removed;
    if (event.keys_until > request.keys_now) {
      HK_TRY(keep_as_pruned(event));
    } else {
      HK_ASSIGN(const std::int64_t keys, keys_->release(event.seq, event.source));
      removed += keys;
    }
  }
  if (at_end) position_ = 0;
  HK_ASSIGN(const std::int64_t keys, prune_keys(request.keys_now, request.limit - removed));
  return removed + keys;
}

Result<std::map<std::int64_t, Time>> SqliteUpkeep::own_limits(const PruneRequest& request) {
  std::map<std::int64_t, Time> limits;
  for (const auto& [name, before] : request.events_before_of) {
    HK_ASSIGN(const std::optional<std::int64_t> source, sources_->find(name));
    if (source) limits[*source] = before;
  }
  return limits;
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
  if (event.received_at >= before) return false;  // and so nothing more need be read
  HK_ASSIGN(const std::vector<PlacedDelivery> deliveries, deliveries_->of_event(event.seq));
  Time end = event.received_at;
  for (const PlacedDelivery& delivery : deliveries) {
    if (delivery.record.is_open()) return false;
    end = std::max(end, delivery.record.ended_at);
  }
  return end < before;
}

Status SqliteUpkeep::remove_event(const OldEvent& event, Time now) {
  // A dead one may still have held its line up.
  HK_ASSIGN(const std::vector<PlacedDelivery> deliveries, deliveries_->of_event(event.seq));
  for (const PlacedDelivery& delivery : deliveries) {
    HK_ASSIGN(const bool freed, lines_->leave(delivery.place, now));
    (void)freed;
  }
  for (Statement* statement : {&remove_event_, &remove_content_, &remove_arrivals_, &remove_reply_}) {
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
    HK_ASSIGN(const std::int64_t keys, keys_->release(seq, source));
    removed += keys;
    Query query(remove_pruned_);
    query.bind_integer(seq);
    HK_TRY(query.run());
  }
  return removed;
}

}  // namespace hookonce
