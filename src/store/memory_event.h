// What the memory store keeps of one event, and the same as a record of an inbox.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "store/delivery_record.h"
#include "store/inbox_record.h"

namespace hookonce {

struct StoredDelivery {
  DeliveryRecord record;
  std::map<int, Attempt> attempts;  // settled ones and those without an outcome, by number
};

struct StoredEvent {
  EventSummary summary;  // its state is computed when asked for
  std::optional<std::string> ordering_key;
  bool forwarded_trusted = false;
  std::string new_items;
  std::shared_ptr<const Headers> headers;
  std::shared_ptr<const std::string> body;
  std::vector<StoredArrival> arrivals;
  std::map<std::string, StoredDelivery> deliveries;  // by destination
  std::optional<Reply> reply;
  std::set<KeyHash> keys;  // that it ever held
};

EventState state_of(const StoredEvent& event);
EventSummary summary_of(const StoredEvent& event);
EventDetail detail_of(const StoredEvent& event);
std::vector<std::pair<std::string, DeliveryRecord>> records_of(const StoredEvent& event);
// Whether its last delivery ended before that moment.
bool ended_before(const StoredEvent& event, Time before);
// What a lease needs of its event.
void add_event(Lease& lease, const StoredEvent& event);
// The newest kAttemptsShown stay.
void record_attempt(StoredDelivery& delivery, Attempt attempt);

// Of a batch: the indexes of its items that have one of the `missing` keys; an item that repeats another one's is not
// new.
std::string new_items_of(const NewEvent& event, const std::vector<KeyHash>& missing);

bool has_held(const StoredEvent& event, const std::vector<KeyHash>& keys);

// Without what the event alone does not know: its position, which keys it holds, which deliveries stand in a line.
InboxRecord record_of(const StoredEvent& event);
// The other way round; deliveries are the caller's to add.
StoredEvent event_of(const InboxRecord& record, const RecordedContent& content);

}  // namespace hookonce
