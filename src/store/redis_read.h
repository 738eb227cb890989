// Reading answers of the Redis scripts as the store's values.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "store/delivery_record.h"
#include "store/inbox_record.h"
#include "store/redis_connection.h"
#include "store/store.h"

namespace hookonce {

// An event as a row of the list script: its summary, and its place in the order of acceptance.
struct RedisRow {
  std::int64_t seq = 0;
  EventSummary summary;
  std::optional<std::string> ordering_key;
  std::vector<std::pair<std::string, DeliveryRecord>> deliveries;
  bool is_there = false;  // false: only seq is valid, the event went meanwhile
};

Result<RedisRow> read_row(RedisReply row);
// From the source and all fields of an event.
Result<ReplyState> read_reply_state(RedisReply deliveries, RedisReply reply);
Result<EventDetail> read_detail(const EventId& id, RedisReply source, RedisReply fields);
// From all fields of an event; without its id and source, and with no key held.
Result<InboxRecord> read_record(RedisReply fields);
// What a lease needs of its event: `s`, `h` and `b`.
Status add_event(Lease& lease, RedisReply fields);

}  // namespace hookonce
