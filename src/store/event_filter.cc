#include "store/event_filter.h"

#include <algorithm>
#include <limits>

#include "base/bytes.h"

namespace hookonce {

bool matches_fields(const EventFilter& filter, const EventSummary& summary) {
  if (filter.source && *filter.source != summary.source) return false;
  if (filter.type && *filter.type != summary.type) return false;
  if (filter.key && summary.key && filter.key != summary.key) return false;
  if (filter.since && summary.received_at < *filter.since) return false;
  return !filter.until || summary.received_at < *filter.until;
}

bool matches_names(const EventFilter& filter, const EventSummary& summary) {
  return contains(summary.id.text(), filter.query) || contains(summary.key.value_or(""), filter.query) ||
         contains(summary.type, filter.query);
}

bool contains(std::string_view text, std::string_view needle) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; };
  const auto same = [lower](char a, char b) { return lower(a) == lower(b); };
  return needle.empty() || std::search(text.begin(), text.end(), needle.begin(), needle.end(), same) != text.end();
}

std::string format_cursor(std::int64_t seq) {
  return std::to_string(seq);
}

Result<std::int64_t> parse_cursor(const std::optional<std::string>& cursor) {
  if (!cursor) return std::numeric_limits<std::int64_t>::max();
  const auto seq = parse_digits(*cursor);
  if (!seq) return invalid("cursor: not one of ours; begin without a cursor");
  return *seq;
}

}  // namespace hookonce
