#include "store/redis_read.h"

#include <map>
#include <memory>

#include "base/bytes.h"
#include "store/headers_codec.h"
#include "store/redis_codec.h"

namespace hookonce {

namespace {

using Deliveries = std::vector<std::pair<std::string, DeliveryRecord>>;

EventState state_of(const Deliveries& deliveries) {
  EventStateOf state;
  for (const auto& [name, record] : deliveries) state.add(record.state);
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
  std::int64_t duplicates = 0;
  std::map<std::int64_t, std::string_view> arrivals;                             // by number
  std::map<std::string, std::map<int, std::string_view>, std::less<>> attempts;  // by destination and number
};

void sort_field(std::string_view name, std::string_view value, Fields& fields) {
  if (name == "s") fields.fixed = value;
  if (name == "h") fields.headers = value;
  if (name == "b") fields.body = value;
  if (name == "d") fields.deliveries = value;
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

Result<Delivery> read_delivery(const std::string& name, const DeliveryRecord& record, const Fields& fields) {
  Delivery delivery;
  delivery.destination = name;
  delivery.state = record.state;
  if (record.state == DeliveryState::kPending && !record.is_held()) delivery.next_attempt_at = record.due_at;
  delivery.delivered_at = record.delivered_at;
  if (const auto attempts = fields.attempts.find(name); attempts != fields.attempts.end()) {
    for (const auto& [number, bytes] : attempts->second) {
      HK_ASSIGN(delivery.attempts.emplace_back(), decode_attempt(bytes, number));
    }
  }
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
  read.is_there = true;
  read.summary = summary_of(fixed, deliveries);
  read.summary.source = row[0].text();
  HK_ASSIGN(read.summary.id, decode_id(row[1].text()));
  read.summary.duplicates = parse_digits(row[5].text()).value_or(0);
  return read;
}

Result<EventDetail> read_detail(const EventId& id, RedisReply source, RedisReply reply) {
  Fields fields;
  for (std::size_t i = 0; i + 1 < reply.size(); i += 2) sort_field(reply[i].text(), reply[i + 1].text(), fields);
  HK_ASSIGN(const RedisFixed fixed, decode_fixed(fields.fixed));
  HK_ASSIGN(const Deliveries deliveries, decode_deliveries(fields.deliveries));
  EventDetail detail;
  detail.summary = summary_of(fixed, deliveries);
  detail.summary.id = id;
  detail.summary.source = source.text();
  detail.summary.duplicates = fields.duplicates;
  detail.ordering_key = fixed.ordering_key;
  HK_ASSIGN(detail.headers, decode_headers(fields.headers));
  detail.body = fields.body;
  detail.arrivals.push_back({fixed.arrival, Verdict::kAccepted, true});
  for (const auto& [number, bytes] : fields.arrivals) {
    HK_ASSIGN(detail.arrivals.emplace_back(), decode_arrival(bytes));
  }
  for (const auto& [name, record] : deliveries) {
    HK_ASSIGN(detail.deliveries.emplace_back(), read_delivery(name, record, fields));
  }
  return detail;
}

Status add_event(Lease& lease, RedisReply fields) {
  HK_ASSIGN(RedisFixed fixed, decode_fixed(fields[0].text()));
  HK_ASSIGN(Headers headers, decode_headers(fields[1].text()));
  lease.type = std::move(fixed.type);
  lease.received_at = fixed.received_at;
  lease.forwarded_trusted = fixed.forwarded_trusted;
  lease.headers = std::make_shared<const Headers>(std::move(headers));
  lease.body = std::make_shared<const std::string>(fields[2].text());
  return {};
}

}  // namespace hookonce
