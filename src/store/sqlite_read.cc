#include "store/sqlite_read.h"

#include <algorithm>

#include "store/headers_codec.h"
#include "store/sqlite_arrivals.h"

namespace hookonce {

Status SqliteRead::prepare(Database& database, SqliteNames& destinations, SqliteDeliveries& deliveries,
                           SqliteSearch& search, SqlitePauses& pauses, SqliteHolds& holds) {
  destinations_ = &destinations;
  deliveries_ = &deliveries;
  search_ = &search;
  pauses_ = &pauses;
  holds_ = &holds;
  return prepare_all(
      database,
      {
          {&event_,
           "SELECT e.arrived_at, e.remote, e.retry_number, e.retry_reason, e.provider_time, e.secret, e.body_hash, "
           "e.signature_hash, e.ordering_key, c.headers, c.body, c.new_items "
           "FROM events e JOIN contents c ON c.seq = e.seq WHERE e.seq = ?"},
          {&duplicates_,
           "SELECT arrived_at, remote, retry_number, retry_reason, provider_time, secret, body_hash, signature_hash, "
           "verdict, same_body, same_key FROM arrivals WHERE seq = ? ORDER BY number"},
          // In the order of the index: nothing is sorted, and no row of the table is read.
          {&open_counts_,
           "SELECT destination, sum(state = 0), sum(state = 1), min(CASE state WHEN 0 THEN seq END) "
           "FROM deliveries INDEXED BY deliveries_open WHERE state IN (0, 1) GROUP BY destination"},
          // Sequence numbers have few gaps, so their span stands for a count of every event.
          {&counts_,
           "SELECT coalesce((SELECT max(seq) FROM events) - (SELECT min(seq) FROM events) + 1, 0), "
           "(SELECT count(*) FROM deliveries INDEXED BY deliveries_dead WHERE state = 3)"},
          {&received_at_, "SELECT received_at FROM events WHERE seq = ?"},
      });
}

Result<std::optional<EventDetail>> SqliteRead::get(const EventId& id) {
  HK_ASSIGN(auto found, search_->by_id(id));
  if (!found) return std::optional<EventDetail>();
  EventDetail detail;
  detail.summary = std::move(found->summary);
  HK_TRY(read_event(found->seq, detail));
  HK_TRY(read_duplicates(found->seq, detail));
  HK_TRY(read_deliveries(found->seq, detail));
  return std::optional(std::move(detail));
}

Status SqliteRead::read_event(std::int64_t seq, EventDetail& detail) {
  Query query(event_);
  query.bind_integer(seq);
  HK_ASSIGN(const bool found, query.row());
  if (!found) return internal("the content of an event is missing");
  detail.arrivals.push_back({read_arrival(query, 0), Verdict::kAccepted, true});
  detail.ordering_key = query.optional_blob(8);
  HK_ASSIGN(detail.headers, decode_headers(query.blob(9)));
  detail.body = query.blob(10);
  detail.new_items = query.blob(11);
  return {};
}

Status SqliteRead::read_duplicates(std::int64_t seq, EventDetail& detail) {
  Query query(duplicates_);
  query.bind_integer(seq);
  while (true) {
    HK_ASSIGN(const bool more, query.row());
    if (!more) return {};
    detail.arrivals.push_back(
        {read_arrival(query, 0), static_cast<Verdict>(query.integer(8)), query.flag(9), query.flag(10)});
  }
}

Status SqliteRead::read_deliveries(std::int64_t seq, EventDetail& detail) {
  HK_ASSIGN(const std::vector<PlacedDelivery> deliveries, deliveries_->of_event(seq));
  for (const auto& [place, record] : deliveries) {
    Delivery delivery;
    HK_ASSIGN(delivery.destination, destinations_->name_of(place.destination));
    delivery.state = record.state;
    if (record.state == DeliveryState::kPending) {
      if (!record.is_held()) delivery.next_attempt_at = record.due_at;
      HK_ASSIGN(delivery.held, holds_->of(place, record.is_held()));
    }
    delivery.delivered_at = record.delivered_at;
    delivery.replayed = record.replay;
    HK_ASSIGN(delivery.attempts, deliveries_->attempts(place));
    if (record.state == DeliveryState::kInFlight) delivery.attempts.push_back(attempt_in_flight(record));
    detail.deliveries.push_back(std::move(delivery));
  }
  std::sort(detail.deliveries.begin(), detail.deliveries.end(),
            [](const Delivery& a, const Delivery& b) { return a.destination < b.destination; });
  return {};
}

Result<StoreStats> SqliteRead::stats() {
  StoreStats stats;
  std::optional<std::int64_t> oldest;
  {
    Query query(open_counts_);
    while (true) {
      HK_ASSIGN(const bool more, query.row());
      if (!more) break;
      HK_ASSIGN(const std::string name, destinations_->name_of(query.integer(0)));
      const std::int64_t pending = query.integer(1);
      const std::int64_t in_flight = query.integer(2);
      stats.pending += pending;
      stats.in_flight += in_flight;
      stats.pending_by_destination.emplace_back(name, pending + in_flight);
      if (!query.is_null(3)) oldest = std::min(oldest.value_or(query.integer(3)), query.integer(3));
    }
  }
  std::sort(stats.pending_by_destination.begin(), stats.pending_by_destination.end());
  HK_ASSIGN(stats.paused, pauses_->names());
  if (oldest) {
    Query query(received_at_);
    query.bind_integer(*oldest);
    HK_ASSIGN(const bool found, query.row());
    if (found) stats.oldest_pending = query.time(0);
  }
  Query query(counts_);
  HK_ASSIGN(const bool found, query.row());
  if (found) {
    stats.events = query.integer(0);
    stats.dead = query.integer(1);
  }
  return stats;
}

}  // namespace hookonce
