#include "store/memory_event.h"

#include <algorithm>
#include <utility>

namespace hookonce {

void record_attempt(StoredDelivery& delivery, Attempt attempt) {
  delivery.attempts[attempt.number] = std::move(attempt);
  if (delivery.attempts.size() > static_cast<std::size_t>(kAttemptsShown))
    delivery.attempts.erase(delivery.attempts.begin());
}

EventState state_of(const StoredEvent& event) {
  EventStateOf state;
  for (const auto& [name, delivery] : event.deliveries) state.add(delivery.record.state);
  return state.value();
}

std::vector<std::pair<std::string, DeliveryRecord>> records_of(const StoredEvent& event) {
  std::vector<std::pair<std::string, DeliveryRecord>> records;
  for (const auto& [name, delivery] : event.deliveries) records.emplace_back(name, delivery.record);
  return records;
}

bool ended_before(const StoredEvent& event, Time before) {
  Time end = event.summary.received_at;
  for (const auto& [name, delivery] : event.deliveries) {
    if (delivery.record.is_open()) return false;
    end = std::max(end, delivery.record.ended_at);
  }
  return end < before;
}

void add_event(Lease& lease, const StoredEvent& event) {
  lease.event = event.summary.id;
  lease.source = event.summary.source;
  lease.type = event.summary.type;
  lease.received_at = event.summary.received_at;
  lease.forwarded_trusted = event.forwarded_trusted;
  lease.new_items = event.new_items;
  lease.headers = event.headers;
  lease.body = event.body;
}

EventSummary summary_of(const StoredEvent& event) {
  EventSummary summary = event.summary;
  summary.state = state_of(event);
  return summary;
}

EventDetail detail_of(const StoredEvent& event) {
  EventDetail detail;
  detail.summary = summary_of(event);
  detail.ordering_key = event.ordering_key;
  detail.new_items = event.new_items;
  detail.headers = *event.headers;
  detail.body = *event.body;
  detail.arrivals = event.arrivals;
  for (const auto& [name, stored] : event.deliveries) {
    Delivery delivery;
    delivery.destination = name;
    delivery.state = stored.record.state;
    if (delivery.state == DeliveryState::kPending && !stored.record.is_held())
      delivery.next_attempt_at = stored.record.due_at;
    delivery.delivered_at = stored.record.delivered_at;
    delivery.replayed = stored.record.replay;
    for (const auto& [number, attempt] : stored.attempts) delivery.attempts.push_back(attempt);
    if (delivery.state == DeliveryState::kInFlight) delivery.attempts.push_back(attempt_in_flight(stored.record));
    detail.deliveries.push_back(std::move(delivery));
  }
  return detail;
}

std::string new_items_of(const NewEvent& event, const std::vector<KeyHash>& missing) {
  std::string items;
  if (event.rule != KeyRule::kEach) return items;
  std::set<KeyHash> left(missing.begin(), missing.end());
  for (std::size_t i = 0; i < event.keys.size(); ++i) {
    if (left.erase(event.keys[i]) > 0) add_item(items, i);
  }
  return items;
}

bool has_held(const StoredEvent& event, const std::vector<KeyHash>& keys) {
  return std::any_of(keys.begin(), keys.end(), [&event](const KeyHash& key) { return event.keys.contains(key); });
}

InboxRecord record_of(const StoredEvent& event) {
  InboxRecord record;
  record.id = event.summary.id;
  record.source = event.summary.source;
  record.received_at = event.summary.received_at;
  record.body_hash = event.arrivals.at(0).arrival.body_hash;
  for (const KeyHash& key : event.keys) record.keys.push_back({key, false});
  RecordedContent& content = record.content.emplace();
  content.type = event.summary.type;
  content.key = event.summary.key;
  content.ordering_key = event.ordering_key;
  content.forwarded_trusted = event.forwarded_trusted;
  content.new_items = event.new_items;
  content.headers = *event.headers;
  content.body = *event.body;
  content.duplicates = event.summary.duplicates;
  content.reply = event.reply;
  content.arrivals = event.arrivals;
  for (const auto& [name, stored] : event.deliveries) {
    RecordedDelivery& delivery = content.deliveries.emplace_back();
    delivery.destination = name;
    delivery.record = stored.record;
    for (const auto& [number, attempt] : stored.attempts) delivery.attempts.push_back(attempt);
  }
  return record;
}

StoredEvent event_of(const InboxRecord& record, const RecordedContent& content) {
  StoredEvent event;
  event.summary.id = record.id;
  event.summary.source = record.source;
  event.summary.type = content.type;
  event.summary.key = content.key;
  event.summary.received_at = record.received_at;
  event.summary.duplicates = content.duplicates;
  event.summary.size = content.body.size();
  event.ordering_key = content.ordering_key;
  event.forwarded_trusted = content.forwarded_trusted;
  event.new_items = content.new_items;
  event.headers = std::make_shared<const Headers>(content.headers);
  event.body = std::make_shared<const std::string>(content.body);
  event.reply = content.reply;
  event.arrivals = content.arrivals;
  for (const RecordedKey& key : record.keys) event.keys.insert(key.key);
  return event;
}

}  // namespace hookonce
