// One event of an inbox as a whole: what is copied from store to store, and what two inboxes are compared by.
//
// A record says what an inbox knows and nothing of how a backend keeps it: no row numbers, no indexes. Two inboxes that
// hold the same records in the same order answer every call of a gateway alike.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/crypto.h"
#include "core/model.h"
#include "store/delivery_record.h"

namespace hookonce {

struct RecordedKey {
  KeyHash key{};
  // The key is taken, and this event is what a duplicate is a duplicate of. False: the event is found by it only.
  bool held = false;
  bool operator==(const RecordedKey&) const = default;
};

struct RecordedDelivery {
  std::string destination;
  DeliveryRecord record;
  bool in_line = false;           // it has not left its line (store.h)
  std::vector<Attempt> attempts;  // as kept, oldest first; the one in flight is in `record`
};

// What is gone where an event was pruned before its keys' window was over.
struct RecordedContent {
  std::string type;
  std::optional<std::string> key;
  std::optional<std::string> ordering_key;
  bool forwarded_trusted = false;
  std::string new_items;  // as EventDetail::new_items
  Headers headers;
  std::string body;
  std::int64_t duplicates = 0;
  std::optional<Reply> reply;                // of a synchronous source's event
  std::vector<StoredArrival> arrivals;       // the first, then the kept duplicates
  std::vector<RecordedDelivery> deliveries;  // by destination name
};

struct InboxRecord {
  std::int64_t position = 0;  // where it stands in the store that it was read from; rises with the order of acceptance
  EventId id;
  std::string source;
  Time received_at{};
  Time keys_until{};  // valid where a key is held: when all of them become free
  KeyHash body_hash{};
  std::vector<RecordedKey> keys;           // ascending, each once; of a pruned event the held ones alone
  std::optional<RecordedContent> content;  // nullopt: pruned

  bool holds_a_key() const;
};

// The same bytes for the same record, whichever store it was read from; the position is not among them.
std::string encode_record(const InboxRecord& record);

struct InboxCounts {
  std::int64_t events = 0;
  std::int64_t pruned_events = 0;  // whose keys are still taken
  std::int64_t keys = 0;           // taken
  std::int64_t deliveries = 0;
  std::int64_t attempts = 0;
  std::int64_t arrivals = 0;
  bool operator==(const InboxCounts&) const = default;
};

// Counts and one SHA-256 over records in order.
class InboxDigest {
 public:
  void add(const InboxRecord& record);

  const InboxCounts& counts() const { return counts_; }
  std::int64_t records() const { return counts_.events + counts_.pruned_events; }
  std::string hash() const;  // in hex
  bool operator==(const InboxDigest&) const = default;

 private:
  InboxCounts counts_;
  Sha256 hash_{};  // of the one before and the last record
};

}  // namespace hookonce
