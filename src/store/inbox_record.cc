#include "store/inbox_record.h"

#include <algorithm>

#include "base/bytes.h"
#include "store/headers_codec.h"

namespace hookonce {

namespace {

// Every number has eight bytes and every text its length before it, so that no two records share their bytes.
class Encoder {
 public:
  Encoder& number(std::int64_t value) {
    for (int shift = 56; shift >= 0; shift -= 8) out_.push_back(static_cast<char>((value >> shift) & 0xff));
    return *this;
  }
  Encoder& flag(bool value) { return number(value ? 1 : 0); }
  Encoder& time(Time value) { return number(value.time_since_epoch().count()); }
  Encoder& optional_time(const std::optional<Time>& value) {
    return flag(value.has_value()).time(value.value_or(Time()));
  }
  template <std::size_t n>
  Encoder& bytes(const std::array<std::uint8_t, n>& value) {
    out_.append(reinterpret_cast<const char*>(value.data()), n);
    return *this;
  }
  Encoder& text(std::string_view value) {
    number(static_cast<std::int64_t>(value.size()));
    out_.append(value);
    return *this;
  }
  Encoder& optional_text(const std::optional<std::string>& value) {
    return flag(value.has_value()).text(value ? std::string_view(*value) : std::string_view());
  }
  template <typename T>
  Encoder& size(const std::vector<T>& list) {
    return number(static_cast<std::int64_t>(list.size()));
  }
  std::string take() { return std::move(out_); }

 private:
  std::string out_;
};

void encode(Encoder& encoder, const StoredArrival& stored) {
  const Arrival& arrival = stored.arrival;
  encoder.number(static_cast<std::int64_t>(stored.verdict)).flag(stored.same_body).flag(stored.same_key);
  encoder.time(arrival.at).text(arrival.remote).flag(arrival.retry.has_value());
  if (arrival.retry) encoder.number(arrival.retry->number).text(arrival.retry->reason);
  encoder.optional_time(arrival.provider_time).number(arrival.secret).bytes(arrival.body_hash);
  encoder.bytes(arrival.signature_hash);
}

void encode(Encoder& encoder, const Attempt& attempt) {
  encoder.number(attempt.number).time(attempt.started_at);
  encoder.flag(attempt.duration.has_value()).number(attempt.duration.value_or(Duration()).count());
  encoder.flag(attempt.outcome.has_value());
  encoder.number(static_cast<std::int64_t>(attempt.outcome.value_or(Outcome::kUnknown)));
  encoder.number(attempt.status).text(attempt.error).text(attempt.response);
}

// What a state gives no meaning to is left out: a backend may keep anything there.
void encode(Encoder& encoder, const RecordedDelivery& delivery) {
  const DeliveryRecord& record = delivery.record;
  encoder.text(delivery.destination).number(static_cast<std::int64_t>(record.state));
  encoder.time(record.is_open() ? record.due_at : Time()).number(record.attempt).number(record.counted);
  encoder.time(record.armed_at).time(record.attempt > 0 ? record.claimed_at : Time()).flag(record.unsettled);
  encoder.optional_time(record.delivered_at).time(record.is_open() ? Time() : record.ended_at);
  encoder.flag(record.replay).number(record.new_key).number(record.new_keys);
  encoder.flag(delivery.in_line).size(delivery.attempts);
  for (const Attempt& attempt : delivery.attempts) encode(encoder, attempt);
}

void encode(Encoder& encoder, const RecordedContent& content) {
  encoder.text(content.type).optional_text(content.key).optional_text(content.ordering_key);
  encoder.flag(content.forwarded_trusted)
      .text(content.new_items)
      .text(encode_headers(content.headers))
      .text(content.body);
  encoder.flag(content.reply.has_value());
  if (content.reply) {
    encoder.number(content.reply->status).text(content.reply->content_type).text(content.reply->body);
  }
  encoder.number(content.duplicates).size(content.arrivals);
  for (const StoredArrival& arrival : content.arrivals) encode(encoder, arrival);
  encoder.size(content.deliveries);
  for (const RecordedDelivery& delivery : content.deliveries) encode(encoder, delivery);
}

}  // namespace

bool InboxRecord::holds_a_key() const {
  return std::any_of(keys.begin(), keys.end(), [](const RecordedKey& key) { return key.held; });
}

std::string encode_record(const InboxRecord& record) {
  Encoder encoder;
  encoder.bytes(record.id.bytes()).text(record.source).time(record.received_at).bytes(record.body_hash);
  encoder.time(record.holds_a_key() ? record.keys_until : Time()).size(record.keys);
  for (const RecordedKey& key : record.keys) encoder.bytes(key.key).flag(key.held);
  encoder.flag(record.content.has_value());
  if (record.content) encode(encoder, *record.content);
  return encoder.take();
}

void InboxDigest::add(const InboxRecord& record) {
  for (const RecordedKey& key : record.keys) counts_.keys += key.held ? 1 : 0;
  if (record.content) {
    ++counts_.events;
    counts_.arrivals += static_cast<std::int64_t>(record.content->arrivals.size());
    counts_.deliveries += static_cast<std::int64_t>(record.content->deliveries.size());
    for (const RecordedDelivery& delivery : record.content->deliveries) {
      counts_.attempts += static_cast<std::int64_t>(delivery.attempts.size());
    }
  } else {
    ++counts_.pruned_events;
  }
  const std::string_view before(reinterpret_cast<const char*>(hash_.data()), hash_.size());
  hash_ = sha256({before, encode_record(record)});
}

std::string InboxDigest::hash() const {
  return to_hex(std::string_view(reinterpret_cast<const char*>(hash_.data()), hash_.size()));
}

}  // namespace hookonce
