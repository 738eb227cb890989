#include "store/redis_codec.h"

#include <algorithm>
#include <array>
#include <memory>

namespace hookonce {

namespace {

constexpr std::int64_t kNever = -1;  // where a time or a duration is absent
// Of a duplicate's arrival, one byte.
constexpr int kSameBody = 1;
constexpr int kOtherKey = 2;
constexpr std::int64_t kHeldInLua = 9007199254740991;  // kHeld is no number that Lua can hold

class Writer {
 public:
  Writer& number(std::int64_t value, int size) {
    for (int shift = 8 * (size - 1); shift >= 0; shift -= 8) out_.push_back(static_cast<char>((value >> shift) & 0xff));
    return *this;
  }
  Writer& time(Time value) { return number(value.time_since_epoch().count(), 8); }
  Writer& bytes(const std::array<std::uint8_t, 16>& value) {
    out_.append(reinterpret_cast<const char*>(value.data()), value.size());
    return *this;
  }
  Writer& text(std::string_view value) {
    number(static_cast<std::int64_t>(value.size()), 4);
    out_.append(value);
    return *this;
  }
  Writer& raw(std::string_view value) {
    out_.append(value);
    return *this;
  }
  Writer& optional_text(const std::optional<std::string>& value) {
    number(value ? 1 : 0, 1);
    return text(value ? std::string_view(*value) : std::string_view());
  }
  std::string take() { return std::move(out_); }

 private:
  std::string out_;
};

// Reads in the same order. What is not there reads as nothing, and whole() says so at the end.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}

  std::int64_t number(std::size_t size) {
    const std::string_view part = take(size);
    std::uint64_t value = !part.empty() && (part[0] & 0x80) != 0 ? ~std::uint64_t{0} : 0;  // carries the sign
    for (char c : part) value = value << 8 | static_cast<unsigned char>(c);
    return static_cast<std::int64_t>(value);
  }
  int small() { return static_cast<int>(number(4)); }
  bool flag() { return number(1) != 0; }
  int byte() { return static_cast<int>(number(1)); }
  Time time() { return Time(Duration(number(8))); }
  std::optional<Time> optional_time() {
    const std::int64_t value = number(8);
    return value == kNever ? std::nullopt : std::optional(Time(Duration(value)));
  }
  std::array<std::uint8_t, 16> bytes() {
    std::array<std::uint8_t, 16> value{};
    const std::string_view part = take(value.size());
    std::copy(part.begin(), part.end(), value.begin());
    return value;
  }
  std::string text(std::size_t length_size = 4) {
    const auto length = static_cast<std::uint64_t>(number(length_size)) & (length_size == 1 ? 0xffu : 0xffffffffu);
    return std::string(take(length));
  }
  std::optional<std::string> optional_text() {
    const bool is_there = flag();
    std::string value = text();
    return is_there ? std::optional(std::move(value)) : std::nullopt;
  }
  bool at_end() const { return rest_.empty() || short_; }
  Status whole(const char* what) const {
    if (short_ || !rest_.empty()) return internal(std::string("stored ") + what + ": damaged");
    return {};
  }

 private:
  std::string_view take(std::size_t size) {
    if (rest_.size() < size) {
      short_ = true;
      return {};
    }
    const std::string_view part = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return part;
  }

  std::string_view rest_;
  bool short_ = false;
};

void write_arrival(Writer& writer, const Arrival& arrival) {
  writer.time(arrival.at).text(arrival.remote);
  writer.number(arrival.retry ? 1 : 0, 1).number(arrival.retry ? arrival.retry->number : 0, 4);
  writer.text(arrival.retry ? std::string_view(arrival.retry->reason) : std::string_view());
  writer.number(arrival.provider_time ? arrival.provider_time->time_since_epoch().count() : kNever, 8);
  writer.number(arrival.secret, 4).bytes(arrival.body_hash).bytes(arrival.signature_hash);
}

Arrival read_arrival(Reader& reader) {
  Arrival arrival;
  arrival.at = reader.time();
  arrival.remote = reader.text();
  const bool is_retry = reader.flag();
  RetryHint retry;
  retry.number = reader.small();
  retry.reason = reader.text();
  if (is_retry) arrival.retry = std::move(retry);
  arrival.provider_time = reader.optional_time();
  arrival.secret = reader.small();
  arrival.body_hash = reader.bytes();
  // It stands at the end, and what an older program stored ends before it.
  if (!reader.at_end()) arrival.signature_hash = reader.bytes();
  return arrival;
}

void write_record(Writer& writer, const RecordedDelivery& delivery) {
  const DeliveryRecord& record = delivery.record;
  writer.number(static_cast<std::int64_t>(delivery.destination.size()), 1).raw(delivery.destination);
  writer.number(static_cast<std::int64_t>(record.state), 1);
  writer.number(record.due_at == kHeld ? kHeldInLua : record.due_at.time_since_epoch().count(), 8);
  writer.number(record.attempt, 4).number(record.counted, 4).time(record.armed_at).time(record.claimed_at);
  writer.number(record.unsettled ? 1 : 0, 1);
  writer.number(record.delivered_at ? record.delivered_at->time_since_epoch().count() : kNever, 8);
  writer.time(record.ended_at).number(record.replay ? 1 : 0, 1).number(record.new_key, 4).number(record.new_keys, 4);
  writer.number(delivery.in_line ? 1 : 0, 1);
}

DeliveryRecord read_record(Reader& reader) {
  DeliveryRecord record;
  record.state = static_cast<DeliveryState>(reader.byte());
  const std::int64_t due_at = reader.number(8);
  record.due_at = due_at == kHeldInLua ? kHeld : Time(Duration(due_at));
  record.attempt = reader.small();
  record.counted = reader.small();
  record.armed_at = reader.time();
  record.claimed_at = reader.time();
  record.unsettled = reader.flag();
  record.delivered_at = reader.optional_time();
  record.ended_at = reader.time();
  record.replay = reader.flag();
  record.new_key = reader.small();
  record.new_keys = reader.small();
  return record;
}

// The part of `s` between received_at and the first arrival.
void write_fixed(Writer& writer, std::string_view type, const std::optional<std::string>& key,
                 const std::optional<std::string>& ordering_key, std::size_t size, bool forwarded_trusted) {
  writer.text(type).optional_text(key).optional_text(ordering_key);
  writer.number(static_cast<std::int64_t>(size), 8).number(forwarded_trusted ? 1 : 0, 1);
}

}  // namespace

std::string encode_head(const NewEvent& event, std::size_t shape, std::size_t arrival_size) {
  Writer writer;
  writer.number(static_cast<std::int64_t>(shape), 2).number(static_cast<std::int64_t>(arrival_size), 4);
  writer.bytes(event.id.bytes()).bytes(event.arrival.body_hash);
  for (const KeyHash& key : event.keys) writer.bytes(key);
  return writer.take();
}

std::string encode_fixed(const NewEvent& event) {
  Writer writer;
  writer.text(encode_keys(event.keys));
  write_fixed(writer, event.type, event.key, event.ordering_key, event.body.size(), event.forwarded_trusted);
  return writer.take();
}

std::string encode_fixed(const InboxRecord& record, const RecordedContent& content) {
  std::vector<KeyHash> keys;
  for (const RecordedKey& key : record.keys) keys.push_back(key.key);
  Writer writer;
  writer.text(encode_keys(keys));
  write_fixed(writer, content.type, content.key, content.ordering_key, content.body.size(), content.forwarded_trusted);
  return writer.take();
}

std::string encode_arrival(const Arrival& arrival) {
  Writer writer;
  write_arrival(writer, arrival);
  return writer.take();
}

std::string encode_stored_arrival(const StoredArrival& stored) {
  Writer writer;
  const int same = (stored.same_body ? kSameBody : 0) | (stored.same_key ? 0 : kOtherKey);
  writer.number(static_cast<std::int64_t>(stored.verdict), 1).number(same, 1);
  write_arrival(writer, stored.arrival);
  return writer.take();
}

std::string encode_deliveries(const std::vector<RecordedDelivery>& deliveries) {
  Writer writer;
  for (const RecordedDelivery& delivery : deliveries) write_record(writer, delivery);
  return writer.take();
}

std::string encode_mark(const CopyMark& mark) {
  Writer writer;
  return writer.number(mark.position, 8).bytes(mark.last.bytes()).number(mark.records, 8).text(mark.from).take();
}

std::string encode_attempt(const Attempt& attempt) {
  Writer writer;
  writer.number(static_cast<std::int64_t>(attempt.outcome.value_or(Outcome::kUnknown)), 1).time(attempt.started_at);
  return writer.take() + encode_attempt_end(attempt);
}

std::string encode_attempt_end(const Attempt& attempt) {
  Writer writer;
  writer.number(attempt.duration ? attempt.duration->count() : kNever, 8).number(attempt.status, 4);
  writer.text(attempt.error).text(attempt.response);
  return writer.take();
}

std::string encode_reply(const Reply& reply) {
  Writer writer;
  return writer.number(reply.status, 4).text(reply.content_type).text(reply.body).take();
}

std::string encode_keys(const std::vector<KeyHash>& keys) {
  Writer writer;
  for (const KeyHash& key : keys) writer.bytes(key);
  return writer.take();
}

std::string encode_id(const EventId& id) {
  Writer writer;
  return writer.bytes(id.bytes()).take();
}

Result<RedisFixed> decode_fixed(std::string_view bytes) {
  Reader reader(bytes);
  RedisFixed fixed;
  fixed.seq = reader.number(8);
  fixed.received_at = reader.time();
  fixed.keys = reader.text();
  fixed.type = reader.text();
  fixed.key = reader.optional_text();
  fixed.ordering_key = reader.optional_text();
  fixed.size = static_cast<std::size_t>(reader.number(8));
  fixed.forwarded_trusted = reader.flag();
  fixed.arrival = read_arrival(reader);
  HK_TRY(reader.whole("event"));
  return fixed;
}

Result<StoredArrival> decode_arrival(std::string_view bytes) {
  Reader reader(bytes);
  StoredArrival stored;
  stored.verdict = static_cast<Verdict>(reader.byte());
  const int same = reader.byte();
  stored.same_body = (same & kSameBody) != 0;
  stored.same_key = (same & kOtherKey) == 0;
  stored.arrival = read_arrival(reader);
  HK_TRY(reader.whole("arrival"));
  return stored;
}

Result<Attempt> decode_attempt(std::string_view bytes, int number) {
  Reader reader(bytes);
  Attempt attempt;
  attempt.number = number;
  attempt.outcome = static_cast<Outcome>(reader.byte());
  attempt.started_at = reader.time();
  const std::int64_t duration = reader.number(8);
  if (duration != kNever) attempt.duration = Duration(duration);
  attempt.status = reader.small();
  attempt.error = reader.text();
  attempt.response = reader.text();
  HK_TRY(reader.whole("attempt"));
  return attempt;
}

Result<std::vector<RecordedDelivery>> decode_deliveries(std::string_view bytes) {
  std::vector<RecordedDelivery> deliveries;
  Reader reader(bytes);
  while (!reader.at_end()) {
    RecordedDelivery& delivery = deliveries.emplace_back();
    delivery.destination = reader.text(1);
    delivery.record = read_record(reader);
    delivery.in_line = reader.flag();
  }
  HK_TRY(reader.whole("deliveries"));
  std::sort(deliveries.begin(), deliveries.end(),
            [](const RecordedDelivery& a, const RecordedDelivery& b) { return a.destination < b.destination; });
  return deliveries;
}

Result<Reply> decode_reply(std::string_view bytes) {
  Reader reader(bytes);
  Reply reply;
  reply.status = reader.small();
  reply.content_type = reader.text();
  reply.body = reader.text();
  HK_TRY(reader.whole("reply"));
  return reply;
}

Result<std::vector<AcceptFacts>> decode_accepts(std::string_view bytes) {
  std::vector<AcceptFacts> accepts;
  Reader reader(bytes);
  while (!reader.at_end()) {
    AcceptFacts facts;
    facts.verdict = static_cast<Verdict>(reader.byte());
    facts.id = EventId(reader.bytes());
    facts.first_at = reader.time();
    facts.same_body = reader.flag();
    facts.new_delivery = reader.flag();
    if (const std::string lease = reader.text(); !lease.empty()) {
      HK_ASSIGN(Lease taken, decode_lease(lease));
      facts.lease = std::make_shared<Lease>(std::move(taken));
    }
    if (const std::string reply = reader.text(); !reply.empty()) {
      HK_ASSIGN(facts.reply, decode_reply(reply));
    }
    facts.same_key = !reader.flag();
    if (const std::string event = reader.text(); !event.empty()) {
      HK_ASSIGN(const RedisFixed fixed, decode_fixed(event));
      facts.first = FirstArrival{fixed.arrival.at, fixed.arrival.secret, fixed.arrival.signature_hash};
    }
    if (std::string new_items = reader.text(); facts.lease) facts.lease->new_items = std::move(new_items);
    accepts.push_back(facts);
  }
  HK_TRY(reader.whole("answer"));
  return accepts;
}

Result<std::vector<SettleFacts>> decode_settles(std::string_view bytes) {
  std::vector<SettleFacts> settles;
  Reader reader(bytes);
  while (!reader.at_end()) {
    SettleFacts facts;
    facts.taken = reader.flag();
    facts.event_state = static_cast<EventState>(reader.byte());
    facts.freed = reader.flag();
    settles.push_back(facts);
  }
  HK_TRY(reader.whole("answer"));
  return settles;
}

Result<Lease> decode_lease(std::string_view bytes) {
  Reader reader(bytes);
  Lease lease;
  lease.attempt = reader.small();
  lease.counted = reader.small();
  lease.claimed_at = reader.time();
  lease.until = reader.time();
  lease.armed_at = reader.time();
  lease.replay = reader.flag();
  lease.new_key = reader.small();
  HK_TRY(reader.whole("lease"));
  return lease;
}

Result<EventId> decode_id(std::string_view bytes) {
  Reader reader(bytes);
  const EventId id(reader.bytes());
  HK_TRY(reader.whole("id"));
  return id;
}

Result<RedisHolder> decode_holder(std::string_view bytes) {
  Reader reader(bytes);
  RedisHolder holder;
  holder.seq = reader.number(8);
  holder.first_at = reader.time();
  holder.expires_at = reader.time();
  holder.id = EventId(reader.bytes());
  holder.body_hash = reader.bytes();
  HK_TRY(reader.whole("dedup key"));
  return holder;
}

Result<CopyMark> decode_mark(std::string_view bytes) {
  Reader reader(bytes);
  CopyMark mark;
  mark.position = reader.number(8);
  mark.last = EventId(reader.bytes());
  mark.records = reader.number(8);
  mark.from = reader.text();
  HK_TRY(reader.whole("mark of a copy"));
  return mark;
}

}  // namespace hookonce
