#include "store/delivery_list.h"

#include <algorithm>
#include <limits>

#include "base/bytes.h"

namespace hookonce {

namespace {

constexpr char kSeparator = '-';

}  // namespace

std::string format_delivery_cursor(const DeliveryPlaceInList& place) {
  std::string text = std::to_string(place.seq);
  if (place.after) text += kSeparator + percent_encode(*place.after);
  return text;
}

Result<DeliveryPlaceInList> parse_delivery_cursor(const std::optional<std::string>& cursor) {
  if (!cursor) return DeliveryPlaceInList{std::numeric_limits<std::int64_t>::max(), std::nullopt};
  const std::string_view text(*cursor);
  const std::size_t separator = text.find(kSeparator);
  DeliveryPlaceInList place;
  const auto seq = parse_digits(text.substr(0, separator));
  if (separator != std::string_view::npos) place.after = percent_decode(text.substr(separator + 1), false);
  const bool whole = separator == std::string_view::npos || place.after;
  if (!seq || !whole) return invalid("cursor: not one of ours; begin without a cursor");
  place.seq = *seq;
  return place;
}

DeliverySummary row_of(const EventSummary& event, const std::string& destination, const DeliveryRecord& record) {
  DeliverySummary row;
  row.event = event.id;
  row.source = event.source;
  row.type = event.type;
  row.key = event.key;
  row.received_at = event.received_at;
  row.destination = destination;
  row.state = record.state;
  row.attempts = record.attempt;
  if (record.state == DeliveryState::kPending && !record.is_held()) row.next_attempt_at = record.due_at;
  row.delivered_at = record.delivered_at;
  return row;
}

bool matches(const DeliveryFilter& filter, const std::string& destination, DeliveryState state) {
  return (!filter.destination || *filter.destination == destination) && (!filter.state || *filter.state == state);
}

void add_rows(DeliveryList& list, std::int64_t seq, const EventSummary& event,
              std::vector<std::pair<std::string, DeliveryRecord>> deliveries) {
  if (list.filter.source && *list.filter.source != event.source) deliveries.clear();
  std::sort(deliveries.begin(), deliveries.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [name, record] : deliveries) {
    if (!matches(list.filter, name, record.state) || !list.place.is_behind(seq, name)) continue;
    if (list.is_full()) return;
    list.found.push_back({seq, row_of(event, name, record)});
  }
  if (!list.is_full()) list.place = {seq, std::nullopt};
}

DeliveryPage page_of(DeliveryList list, bool exhausted) {
  DeliveryPage page;
  if (list.is_full()) {
    list.found.resize(list.limit);
    const ListedDelivery& last = list.found.back();
    page.next = format_delivery_cursor({last.seq, last.row.destination});
    page.searched_until = last.row.received_at;
  } else if (!exhausted) {
    page.next = format_delivery_cursor(list.place);
    page.searched_until = list.looked_until;
  }
  for (ListedDelivery& listed : list.found) page.items.push_back(std::move(listed.row));
  return page;
}

}  // namespace hookonce
