#include "store/memory_event.h"

namespace hookonce {

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
  event.headers = std::make_shared<const Headers>(content.headers);
  event.body = std::make_shared<const std::string>(content.body);
  event.reply = content.reply;
  event.arrivals = content.arrivals;
  for (const RecordedKey& key : record.keys) event.keys.insert(key.key);
  return event;
}

}  // namespace hookonce
