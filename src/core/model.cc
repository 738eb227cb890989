#include "core/model.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/random.h"

namespace hookonce {

namespace {

constexpr std::size_t kUuidTextLength = 36;
constexpr std::array<std::size_t, 4> kDashes = {8, 13, 18, 23};

bool is_dash_position(std::size_t position) {
  return std::find(kDashes.begin(), kDashes.end(), position) != kDashes.end();
}

}  // namespace

EventId EventId::make(Time now, const std::array<std::uint8_t, 10>& random) {
  const auto since_epoch = std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count();
  const auto millis = static_cast<std::uint64_t>(std::max<std::int64_t>(since_epoch, 0));
  Bytes bytes{};
  for (int i = 0; i < 6; ++i) bytes[i] = static_cast<std::uint8_t>(millis >> (8 * (5 - i)));
  std::copy(random.begin(), random.end(), bytes.begin() + 6);
  bytes[6] = static_cast<std::uint8_t>(0x70 | (bytes[6] & 0x0f));  // version 7
  bytes[8] = static_cast<std::uint8_t>(0x80 | (bytes[8] & 0x3f));  // variant of RFC 9562
  return EventId(bytes);
}

EventId EventId::make(Time now) {
  std::array<std::uint8_t, 10> random{};
  fill_random(random);
  return make(now, random);
}

std::optional<EventId> EventId::parse(std::string_view text) {
  if (text.size() != kUuidTextLength) return std::nullopt;
  std::string hex;
  hex.reserve(2 * sizeof(Bytes));
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (is_dash_position(i) != (text[i] == '-')) return std::nullopt;
    if (text[i] != '-') hex.push_back(text[i]);
  }
  const std::optional<std::string> decoded = from_hex(hex);
  if (!decoded) return std::nullopt;
  Bytes bytes{};
  std::copy(decoded->begin(), decoded->end(), bytes.begin());
  return EventId(bytes);
}

std::string EventId::text() const {
  std::string text = to_hex({reinterpret_cast<const char*>(bytes_.data()), bytes_.size()});
  for (const std::size_t position : kDashes) text.insert(position, 1, '-');
  return text;
}

void add_item(std::string& items, std::size_t index) {
  if (!items.empty()) items.push_back(',');
  items += std::to_string(index);
}

std::vector<std::size_t> parse_items(std::string_view items) {
  std::vector<std::size_t> indexes;
  if (items.empty()) return indexes;
  for (const std::string_view part : split(items, ',')) {
    const auto index = parse_digits(part);
    if (!index) return {};
    indexes.push_back(static_cast<std::size_t>(*index));
  }
  return indexes;
}

std::string_view to_string(EventState state) {
  switch (state) {
    case EventState::kPending:
      return "pending";
    case EventState::kDelivered:
      return "delivered";
    case EventState::kDead:
      return "dead";
  }
  return "";
}

std::string_view to_string(HeldBy held_by) {
  switch (held_by) {
    case HeldBy::kLine:
      return "line";
    case HeldBy::kPaused:
      return "paused";
  }
  return "";
}

std::string_view to_string(DeliveryState state) {
  switch (state) {
    case DeliveryState::kPending:
      return "pending";
    case DeliveryState::kInFlight:
      return "in_flight";
    case DeliveryState::kDelivered:
      return "delivered";
    case DeliveryState::kDead:
      return "dead";
  }
  return "";
}

std::string_view to_string(Outcome outcome) {
  switch (outcome) {
    case Outcome::kSuccess:
      return "success";
    case Outcome::kFailed:
      return "failed";
    case Outcome::kUnknown:
      return "unknown";
    case Outcome::kReleased:
      return "released";
  }
  return "";
}

std::string_view to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::kAccepted:
      return "accepted";
    case Verdict::kDuplicate:
      return "duplicate";
    case Verdict::kRearmed:
      return "rearmed";
  }
  return "";
}

std::optional<EventState> parse_event_state(std::string_view text) {
  for (const EventState state : {EventState::kPending, EventState::kDelivered, EventState::kDead}) {
    if (text == to_string(state)) return state;
  }
  return std::nullopt;
}

}  // namespace hookonce
