#include "store/redis_read.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include "base/bytes.h"
#include "store/headers_codec.h"
#include "store/redis_codec.h"

namespace hookonce {

namespace {

using Deliveries = std::vector<RecordedDelivery>;

EventState state_of(const Deliveries& deliveries) {
  EventStateOf state;
  for (const RecordedDelivery& delivery : deliveries) state.add(delivery.record.state);
  return state.value();
}

EventSummary summary_of(const RedisFixed& fixed, const Deliveries& deliveries) {
  EventSummary summary;
  summary.type = fixed.type;
  summary.key = fixed.key;
  summary.received_at = fixed.received_at;
  summary.state = state_of(deliveries);
  summary.size = fixed.size;
  return summary;
}

// The fields of one event, sorted by what they are.
struct Fields {
  std::string_view fixed;
  std::string_view headers;
  std::string_view body;
  std::string_view deliveries;
  std::string_view joined_keys;
  std::optional<std::string_view> reply;
  std::string_view new_items;
  std::int64_t duplicates = 0;
  std::map<std::int64_t, std::string_view> arrivals;                             // by number
  std::map<std::string, std::map<int, std::string_view>, std::less<>> attempts;  // by destination and number
};

void sort_field(std::string_view name, std::string_view value, Fields& fields) {
  if (name == "s") fields.fixed = value;
  if (name == "h") fields.headers = value;
  if (name == "b") fields.body = value;
  if (name == "d") fields.deliveries = value;
  if (name == "j") fields.joined_keys = value;
  if (name == "r") fields.reply = value;
  if (name == "i") fields.new_items = value;
  if (name == "n") fields.duplicates = parse_digits(value).value_or(0);
  if (name.substr(0, 1) == "a") {
    if (const auto number = parse_digits(name.substr(1))) fields.arrivals[*number] = value;
  }
  if (name.substr(0, 2) == "t:") {
    const std::size_t colon = name.rfind(':');
    const auto number = parse_digits(name.substr(colon + 1));
    if (number && colon > 1) fields.attempts[std::string(name.substr(2, colon - 2))][static_cast<int>(*number)] = value;
  }
}

Result<std::vector<Attempt>> read_attempts(const std::string& destination, const Fields& fields) {
  std::vector<Attempt> attempts;
  const auto found = fields.attempts.find(destination);
  if (found == fields.attempts.end()) return attempts;
  for (const auto& [number, bytes] : found->second) {
    HK_ASSIGN(attempts.emplace_back(), decode_attempt(bytes, number));
  }
  return attempts;
}

Fields fields_of(RedisReply reply) {
  Fields fields;
  for (std::size_t i = 0; i + 1 < reply.size(); i += 2) sort_field(reply[i].text(), reply[i + 1].text(), fields);
  return fields;
}

std::vector<RecordedKey> keys_of(std::string_view bytes) {
  constexpr std::size_t kKeySize = sizeof(KeyHash);
  std::set<KeyHash> keys;
  for (std::size_t at = 0; at + kKeySize <= bytes.size(); at += kKeySize) {
    KeyHash key{};
    std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(at), kKeySize, key.begin());
    keys.insert(key);
  }
  std::vector<RecordedKey> recorded;
  for (const KeyHash& key : keys) recorded.push_back({key, false});
  return recorded;
}

Result<Delivery> read_delivery(const std::string& name, const DeliveryRecord& record, const Fields& fields) {
  Delivery delivery;
  delivery.destination = name;
  delivery.state = record.state;
  if (record.state == DeliveryState::kPending && !record.is_held()) delivery.next_attempt_at = record.due_at;
  delivery.delivered_at = record.delivered_at;
  delivery.replayed = record.replay;
  HK_ASSIGN(delivery.attempts, read_attempts(name, fields));
  if (record.state == DeliveryState::kInFlight) delivery.attempts.push_back(attempt_in_flight(record));
  return delivery;
}

}  // namespace

Result<RedisRow> read_row(RedisReply row) {
  RedisRow read;
  read.seq = row[2].integer();
  if (row[3].text().empty()) return read;
  HK_ASSIGN(const RedisFixed fixed, decode_fixed(row[3].text()));
  HK_ASSIGN(const Deliveries deliveries, decode_deliveries(row[4].text()));
  for (const auto& delivery : deliveries) read.deliveries.emplace_back(delivery.destination, delivery.record);
  read.is_there = true;
  read.ordering_key = fixed.ordering_key;
  read.summary = summary_of(fixed, deliveries);
  read.summary.source = row[0].text();
  HK_ASSIGN(read.summary.id, decode_id(row[1].text()));
  read.summary.duplicates = parse_digits(row[5].text()).value_or(0);
  return read;
}

Result<ReplyState> read_reply_state(RedisReply deliveries, RedisReply reply) {
  HK_ASSIGN(const Deliveries decoded, decode_deliveries(deliveries.text()));
  ReplyState state{state_of(decoded), std::nullopt};
  if (!reply.is_nil()) {
    HK_ASSIGN(state.reply, decode_reply(reply.text()));
  }
  return state;
}

Result<EventDetail> read_detail(const EventId& id, RedisReply source, RedisReply reply) {
  const Fields fields = fields_of(reply);
  HK_ASSIGN(const RedisFixed fixed, decode_fixed(fields.fixed));
  HK_ASSIGN(const Deliveries deliveries, decode_deliveries(fields.deliveries));
  EventDetail detail;
  detail.summary = summary_of(fixed, deliveries);
  detail.summary.id = id;
  detail.summary.source = source.text();
  detail.summary.duplicates = fields.duplicates;
  detail.ordering_key = fixed.ordering_key;
  detail.new_items = fields.new_items;
  HK_ASSIGN(detail.headers, decode_headers(fields.headers));
  detail.body = fields.body;
  detail.arrivals.push_back({fixed.arrival, Verdict::kAccepted, true});
  for (const auto& [number, bytes] : fields.arrivals) {
    HK_ASSIGN(detail.arrivals.emplace_back(), decode_arrival(bytes));
  }
  for (const RecordedDelivery& delivery : deliveries) {
    HK_ASSIGN(detail.deliveries.emplace_back(), read_delivery(delivery.destination, delivery.record, fields));
  }
  return detail;
}

Result<InboxRecord> read_record(RedisReply reply) {
  const Fields fields = fields_of(reply);
  HK_ASSIGN(RedisFixed fixed, decode_fixed(fields.fixed));
  InboxRecord record;
  record.position = fixed.seq;
  record.received_at = fixed.received_at;
  record.body_hash = fixed.arrival.body_hash;
  record.keys = keys_of(fixed.keys.append(fields.joined_keys));
  RecordedContent& content = record.content.emplace();
  content.type = std::move(fixed.type);
  content.key = std::move(fixed.key);
  content.ordering_key = std::move(fixed.ordering_key);
  content.forwarded_trusted = fixed.forwarded_trusted;
  content.new_items = fields.new_items;
  HK_ASSIGN(content.headers, decode_headers(fields.headers));
  content.body = fields.body;
  content.duplicates = fields.duplicates;
  if (fields.reply) {
    HK_ASSIGN(content.reply, decode_reply(*fields.reply));
  }
  content.arrivals.push_back({std::move(fixed.arrival), Verdict::kAccepted, true});
  for (const auto& [number, bytes] : fields.arrivals) {
    HK_ASSIGN(content.arrivals.emplace_back(), decode_arrival(bytes));
  }
  HK_ASSIGN(content.deliveries, decode_deliveries(fields.deliveries));
  for (RecordedDelivery& delivery : content.deliveries) {
    HK_ASSIGN(delivery.attempts, read_attempts(delivery.destination, fields));
  }
  return record;
}

Status add_event(Lease& lease, RedisReply fields) {
  HK_ASSIGN(RedisFixed fixed, decode_fixed(fields[0].text()));
  HK_ASSIGN(Headers headers, decode_headers(fields[1].text()));
  lease.type = std::move(fixed.type);
  lease.received_at = fixed.received_at;
  lease.forwarded_trusted = fixed.forwarded_trusted;
  lease.headers = std::make_shared<const Headers>(std::move(headers));
  lease.body = std::make_shared<const std::string>(fields[2].text());
  lease.new_items = fields[3].text();
  return {};
}

}  // namespace hookonce
