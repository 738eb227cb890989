#include "cli/event_stream.h"

namespace hookonce {

void EventStreamReader::take(std::string_view piece) {
  for (const char c : piece) {
    // A line ends with CR, LF, or both.
    const bool second_half = after_cr_ && c == '\n';
    after_cr_ = c == '\r';
    if (second_half) continue;
    if (c != '\n' && c != '\r') {
      line_.push_back(c);
      continue;
    }
    take_line(line_);
    line_.clear();
  }
}

void EventStreamReader::take_line(std::string_view line) {
  if (line.empty()) {
    if (has_data_) on_event_(name_.empty() ? "message" : std::string_view(name_), data_);
    name_.clear();
    data_.clear();
    has_data_ = false;
    return;
  }
  const auto colon = line.find(':');
  const std::string_view field = line.substr(0, colon);
  std::string_view value = colon == std::string_view::npos ? std::string_view() : line.substr(colon + 1);
  if (!value.empty() && value.front() == ' ') value.remove_prefix(1);
  if (field == "event") {
    name_ = value;
  } else if (field == "data") {
    if (has_data_) data_.push_back('\n');
    data_ += value;
    has_data_ = true;
  }
}

}  // namespace hookonce
