// What the memory store keeps of one event, and the same as a record of an inbox.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
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
  std::shared_ptr<const Headers> headers;
  std::shared_ptr<const std::string> body;
  std::vector<StoredArrival> arrivals;
  std::map<std::string, StoredDelivery> deliveries;  // by destination
  std::optional<Reply> reply;
  std::set<KeyHash> keys;  // that it ever held
};

// Without what the event alone does not know: its position, which keys it holds, which deliveries stand in a line.
InboxRecord record_of(const StoredEvent& event);
// The other way round; deliveries are the caller's to add.
StoredEvent event_of(const InboxRecord& record, const RecordedContent& content);

}  // namespace hookonce
