#include "core/trace.h"

#include <algorithm>

namespace hookonce {

namespace {

// "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01": version, trace, parent, flags.
constexpr std::size_t kVersionLength = 2, kTraceAt = 3, kTraceLength = 32, kParentAt = 36, kParentLength = 16,
                      kFlagsAt = 53, kLength = 55;

bool is_hex(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

bool is_zero(std::string_view text) {
  return text.find_first_not_of('0') == std::string_view::npos;
}

}  // namespace

std::string_view trace_id(const Headers& headers) {
  const auto found = headers.first("traceparent");
  if (!found || headers.all("traceparent").size() > 1) return {};
  const std::string_view text = *found;
  if (text.size() < kLength) return {};
  const std::string_view version = text.substr(0, kVersionLength);
  const std::string_view trace = text.substr(kTraceAt, kTraceLength);
  const std::string_view parent = text.substr(kParentAt, kParentLength);
  const bool is_cut = text[kTraceAt - 1] == '-' && text[kParentAt - 1] == '-' && text[kFlagsAt - 1] == '-';
  if (!is_cut || !is_hex(version) || !is_hex(trace) || !is_hex(parent) || !is_hex(text.substr(kFlagsAt, 2))) return {};
  if (version == "ff" || is_zero(trace) || is_zero(parent)) return {};
  // Only a later version than the first may have more behind the flags.
  if (text.size() > kLength && (version == "00" || text[kLength] != '-')) return {};
  return trace;
}

}  // namespace hookonce
