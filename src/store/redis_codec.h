// How events, arrivals, attempts and deliveries are packed for Redis: big-endian numbers, and texts with their length
// before them, so that the scripts (`struct.pack`) and this side read the same bytes.
//
// What the scripts look into is described at redis_scripts.h; the version in PREFIX:inbox is raised with every change.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/model.h"
#include "core/settle.h"
#include "store/delivery_record.h"
#include "store/inbox_records.h"

namespace hookonce {

// What never changes of an event, as its field `s` has it.
struct RedisFixed {
  std::int64_t seq = 0;
  Time received_at{};
  std::string keys;  // 16 bytes each
  std::string type;
  std::optional<std::string> key;
  std::optional<std::string> ordering_key;
  std::size_t size = 0;
  bool forwarded_trusted = false;
  Arrival arrival;  // the first
};

// Who holds a dedup key.
struct RedisHolder {
  std::int64_t seq = 0;
  Time first_at{};
  Time expires_at{};
  EventId id;
  KeyHash body_hash{};
};

// Of the commit script's arguments: what it looks at in every event.
std::string encode_head(const NewEvent& event, std::size_t shape, std::size_t arrival_size);
std::string encode_fixed(const NewEvent& event);  // without seq, received_at and arrival, which the script adds
std::string encode_fixed(const InboxRecord& record, const RecordedContent& content);  // the same
std::string encode_arrival(const Arrival& arrival);
std::string encode_stored_arrival(const StoredArrival& stored);
std::string encode_deliveries(const std::vector<RecordedDelivery>& deliveries);
std::string encode_mark(const CopyMark& mark);
std::string encode_attempt(const Attempt& attempt);
std::string encode_attempt_end(const Attempt& attempt);  // without outcome and start, which the script adds
std::string encode_reply(const Reply& reply);
std::string encode_keys(const std::vector<KeyHash>& keys);
std::string encode_id(const EventId& id);

// kInternal where the bytes are not what the above and the scripts make.
Result<RedisFixed> decode_fixed(std::string_view bytes);
Result<StoredArrival> decode_arrival(std::string_view bytes);
Result<Attempt> decode_attempt(std::string_view bytes, int number);
Result<std::vector<RecordedDelivery>> decode_deliveries(std::string_view bytes);  // by name, without their attempts
Result<Reply> decode_reply(std::string_view bytes);
// Of a lease what belongs to the event is the caller's to fill.
Result<std::vector<AcceptFacts>> decode_accepts(std::string_view bytes);
Result<std::vector<SettleFacts>> decode_settles(std::string_view bytes);
Result<Lease> decode_lease(std::string_view bytes);  // what belongs to the event is the caller's to fill
Result<EventId> decode_id(std::string_view bytes);
Result<RedisHolder> decode_holder(std::string_view bytes);
Result<CopyMark> decode_mark(std::string_view bytes);

}  // namespace hookonce
