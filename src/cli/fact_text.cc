#include "cli/fact_text.h"

#include <fmt/format.h>

#include "cli/event_text.h"
#include "cli/terminal.h"

namespace hookonce {

namespace {

constexpr int kNameWidth = 10;  // of "duplicate" and a blank: facts stand below each other
constexpr int kDateWidth = 11;  // "2026-01-02 ", which stands in every listing

Paint paint_of(std::string_view name) {
  if (name == "accepted") return Paint::kStrong;
  if (name == "delivered") return Paint::kGood;
  if (name == "rejected" || name == "dead") return Paint::kBad;
  return Paint::kDim;
}

std::string member(const json::value& data, std::string_view name) {
  return printable(json_string(data, name).value_or("-"));
}

// "  503  12 ms  connection refused"
std::string ending_of(const json::value& data) {
  std::string text;
  if (const auto status = json_int(data, "status")) text += fmt::format("  {}", *status);
  if (const auto ms = json_int(data, "ms")) text += "  " + milliseconds_text(*ms);
  if (const auto error = json_string(data, "error")) text += "  " + printable(*error);
  return text;
}

std::string what_of(std::string_view name, const json::value& data) {
  if (name == "missed") return fmt::format("{} facts came too fast to be shown", json_int(data, "count").value_or(0));
  if (name == "rejected") {
    return fmt::format("{}  {}: {}", member(data, "source"), member(data, "code"), member(data, "reason"));
  }
  std::string text = fmt::format("{}  {}  {}", member(data, "source"), member(data, "type"), member(data, "event"));
  if (const auto key = json_string(data, "key")) text += "  " + printable(*key);
  if (const auto destination = json_string(data, "destination")) text += "  to " + printable(*destination);
  if (const auto attempt = json_int(data, "attempt")) text += fmt::format("  attempt {}", *attempt);
  if (name == "attempt") text += "  " + member(data, "outcome");
  if (const auto cause = json_string(data, "cause")) text += "  " + words_of(*cause);
  if (const auto since = json_int(data, "since_first_ms")) text += "  +" + milliseconds_text(*since);
  return text + ending_of(data);
}

}  // namespace

std::string fact_text(std::string_view name, const json::value& data, bool colour) {
  std::string at = local_time(json_string(data, "at").value_or(""));
  at = at.size() > kDateWidth ? at.substr(kDateWidth) : std::string(12, ' ');
  const std::string word = fmt::format("{:<{}}", printable(name), kNameWidth);
  return fmt::format("{}  {}  {}", at, painted(word, paint_of(name), colour), what_of(name, data));
}

}  // namespace hookonce
