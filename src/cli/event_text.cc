#include "cli/event_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/clock.h"
#include "cli/table.h"
#include "cli/terminal.h"

namespace hookonce {

namespace {

Paint paint_of(std::string_view state) {
  if (state == "delivered" || state == "success") return Paint::kGood;
  if (state == "dead" || state == "failed" || state == "unknown") return Paint::kBad;
  if (state == "pending" || state == "in_flight") return Paint::kWarn;
  return Paint::kNone;
}

std::string text_or_dash(const json::value& object, std::string_view name) {
  const std::optional<std::string> text = json_string(object, name);
  return text && !text->empty() ? printable(*text) : "-";
}

std::string time_or_dash(const json::value& object, std::string_view name) {
  return local_time(json_string(object, name).value_or(""));
}

const json::array* array_of(const json::object& object, std::string_view name) {
  const json::value* member = object.if_contains(name);
  return member != nullptr ? member->if_array() : nullptr;
}

bool is_true(const json::object& object, std::string_view name) {
  const json::value* member = object.if_contains(name);
  return member != nullptr && member->is_bool() && member->get_bool();
}

std::string heading(std::string_view text, bool colour) {
  return "\n" + painted(text, Paint::kStrong, colour) + "\n";
}

// The indexes of a batch's new items, or nothing.
std::string items_text(const json::object& event) {
  const json::array* items = array_of(event, "new_items");
  std::string out;
  if (items == nullptr) return out;
  for (const json::value& item : *items) {
    if (item.is_int64()) out += fmt::format("{}{}", out.empty() ? "" : ", ", item.get_int64());
  }
  return out.empty() ? out : fmt::format("  new items   {}\n", out);
}

std::string summary_text(const json::object& event, bool colour) {
  const std::string state = text_or_dash(event, "state");
  std::string out = painted(fmt::format("{}  {}  {}", text_or_dash(event, "source"), text_or_dash(event, "type"),
                                        text_or_dash(event, "key")),
                            Paint::kStrong, colour) +
                    "\n";
  out += fmt::format("  id          {}\n", text_or_dash(event, "id"));
  out += fmt::format("  received    {}\n", time_or_dash(event, "received_at"));
  out += fmt::format("  state       {}\n", painted(state, paint_of(state), colour));
  out += fmt::format("  duplicates  {}\n", json_int(event, "duplicates").value_or(0));
  if (json_string(event, "ordering_key")) out += fmt::format("  order by    {}\n", text_or_dash(event, "ordering_key"));
  return out + items_text(event);
}

std::string headers_text(const json::object& event, bool colour) {
  const json::array* headers = array_of(event, "headers");
  if (headers == nullptr || headers->empty()) return "";
  std::string out = heading("headers", colour);
  for (const json::value& header : *headers) {
    const json::array* pair = header.if_array();
    if (pair == nullptr || pair->size() != 2 || !(*pair)[0].is_string() || !(*pair)[1].is_string()) continue;
    out += fmt::format("  {}: {}\n", printable((*pair)[0].get_string()), printable((*pair)[1].get_string()));
  }
  return out;
}

std::string attempt_text(const json::value& attempt, bool colour) {
  const std::optional<std::string> outcome = json_string(attempt, "outcome");
  const std::string word = outcome ? printable(*outcome) : "in flight";
  std::string out =
      fmt::format("    attempt {}  {}  {}", json_int(attempt, "number").value_or(0),
                  time_or_dash(attempt, "started_at"), painted(word, paint_of(outcome.value_or("in_flight")), colour));
  const auto status = json_int(attempt, "status");
  if (status && *status != 0) out += fmt::format("  {}", *status);
  if (const auto duration = json_int(attempt, "duration_ms")) out += "  " + milliseconds_text(*duration);
  const std::string error = json_string(attempt, "error").value_or("");
  if (!error.empty()) out += "  " + printable(error);
  out += "\n";
  std::string response = json_string(attempt, "response").value_or("");
  while (!response.empty() && (response.back() == '\n' || response.back() == '\r')) response.pop_back();
  if (!response.empty()) out += fmt::format("      answer: {}\n", printable(response));
  return out;
}

std::string deliveries_text(const json::object& event, bool colour) {
  std::string out = heading("deliveries", colour);
  const json::array* deliveries = array_of(event, "deliveries");
  if (deliveries == nullptr || deliveries->empty())
    return out + "  none: no destination of its source wanted it (types, when)\n";
  for (const json::value& item : *deliveries) {
    const json::object* delivery = item.if_object();
    if (delivery == nullptr) continue;
    const std::string state = text_or_dash(*delivery, "state");
    out += fmt::format("  {}  {}", text_or_dash(*delivery, "destination"), painted(state, paint_of(state), colour));
    if (is_true(*delivery, "orphaned")) out += painted("  orphaned", Paint::kBad, colour);
    if (json_string(*delivery, "delivered_at")) out += "  at " + time_or_dash(*delivery, "delivered_at");
    if (json_string(*delivery, "next_attempt_at"))
      out += "  next attempt " + time_or_dash(*delivery, "next_attempt_at");
    if (const std::string hold = hold_text(*delivery); !hold.empty()) out += "  " + hold;
    out += "\n";
    if (const json::array* attempts = array_of(*delivery, "attempts")) {
      for (const json::value& attempt : *attempts) out += attempt_text(attempt, colour);
    }
  }
  return out;
}

std::string arrivals_text(const json::object& event, bool colour) {
  const json::array* arrivals = array_of(event, "arrivals");
  if (arrivals == nullptr || arrivals->empty()) return "";
  std::string out = heading("arrivals", colour);
  for (const json::value& item : *arrivals) {
    const json::object* arrival = item.if_object();
    if (arrival == nullptr) continue;
    out += fmt::format("  {}  {}", time_or_dash(*arrival, "at"), text_or_dash(*arrival, "verdict"));
    if (json_string(*arrival, "cause")) out += "  " + words_of(text_or_dash(*arrival, "cause"));
    out += "  from " + text_or_dash(*arrival, "remote");
    const std::string later = distance_text(json_int(*arrival, "since_first_ms").value_or(0));
    if (!later.empty()) out += "  " + later;
    const json::value* same = arrival->if_contains("same_body");
    if (same != nullptr && same->is_bool() && !same->get_bool()) out += painted("  other bytes", Paint::kWarn, colour);
    out += "\n";
  }
  return out;
}

std::string body_text(const json::object& event, const ShowOptions& options) {
  const std::string size = size_text(static_cast<std::uint64_t>(json_int(event, "size").value_or(0)));
  if (const auto encoded = json_string(event, "body_base64")) {
    return heading(fmt::format("body  {}, not text; in base64", size), options.colour) + *encoded + "\n";
  }
  if (const auto why = json_string(event, "body_hidden")) {
    return heading(fmt::format("body  {}, not shown: {}", size, printable(*why)), options.colour);
  }
  const std::string body = json_string(event, "body").value_or("");
  std::string out = heading(fmt::format("body  {}", size), options.colour);
  if (body.empty()) return out;
  out += printable(options.pretty && parse_json(body).ok() ? indented_json(body) : body, true);
  if (out.back() != '\n') out += '\n';
  return out;
}

}  // namespace

std::string events_text(const json::array& items, bool colour) {
  Table table({{"TIME"},
               {"SOURCE"},
               {"TYPE"},
               {"KEY"},
               {"STATE"},
               {"DUPLICATES", Table::Align::kRight},
               {"SIZE", Table::Align::kRight},
               {"ID"}});
  for (const json::value& item : items) {
    const std::string state = text_or_dash(item, "state");
    const std::int64_t duplicates = json_int(item, "duplicates").value_or(0);
    table.add({{time_or_dash(item, "received_at")},
               {text_or_dash(item, "source")},
               {text_or_dash(item, "type")},
               {text_or_dash(item, "key")},
               {state, paint_of(state)},
               {fmt::format("{}", duplicates), duplicates == 0 ? Paint::kDim : Paint::kNone},
               {size_text(static_cast<std::uint64_t>(json_int(item, "size").value_or(0)))},
               {text_or_dash(item, "id")}});
  }
  return table.text(colour);
}

std::string event_text(const json::object& event, const ShowOptions& options) {
  return summary_text(event, options.colour) + deliveries_text(event, options.colour) +
         arrivals_text(event, options.colour) + headers_text(event, options.colour) + body_text(event, options);
}

std::string hold_text(const json::object& delivery) {
  const std::string held = json_string(delivery, "held").value_or("");
  if (held == "paused") {
    return fmt::format("its destination is paused; `hookonce resume {}` goes on",
                       text_or_dash(delivery, "destination"));
  }
  if (held != "line") return "";
  const std::string behind = text_or_dash(delivery, "behind");
  return fmt::format("waits behind {} of its ordering key; if that one is dead, `hookonce replay {}` goes on", behind,
                     behind);
}

std::string local_time(std::string_view rfc3339) {
  const std::optional<Time> time = parse_rfc3339(rfc3339);
  return time ? to_local(*time) : "-";
}

std::string size_text(std::uint64_t bytes) {
  if (bytes < 1024) return fmt::format("{} B", bytes);
  const double kib = static_cast<double>(bytes) / 1024;
  if (kib < 1024) return fmt::format("{:.1f} KiB", kib);
  if (kib < 1024 * 1024) return fmt::format("{:.1f} MiB", kib / 1024);
  return fmt::format("{:.1f} GiB", kib / 1024 / 1024);
}

std::string milliseconds_text(std::int64_t value) {
  if (value < 1000) return fmt::format("{} ms", value);
  if (value < 60'000) return fmt::format("{:.1f} s", static_cast<double>(value) / 1000);
  const std::int64_t minutes = value / 60'000;
  if (minutes < 60) return fmt::format("{} min {} s", minutes, value / 1000 % 60);
  if (minutes < 24 * 60) return fmt::format("{} h {} min", minutes / 60, minutes % 60);
  return fmt::format("{} d {} h", minutes / (24 * 60), minutes / 60 % 24);
}

std::string distance_text(std::int64_t milliseconds) {
  if (milliseconds == 0) return "";
  return (milliseconds < 0 ? "-" : "+") + milliseconds_text(milliseconds < 0 ? -milliseconds : milliseconds);
}

std::string words_of(std::string_view name) {
  std::string words = printable(name);
  std::replace(words.begin(), words.end(), '_', ' ');
  return words;
}

std::string indented_json(std::string_view text) {
  std::string out;
  std::size_t depth = 0;
  bool in_string = false;
  const auto new_line = [&] { out.append("\n").append(depth * 2, ' '); };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      out += c;
      if (c == '\\' && i + 1 < text.size()) out += text[++i];
      in_string = c != '"';
      continue;
    }
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r') continue;
    if (c == '}' || c == ']') {
      if (depth > 0) --depth;
      if (!out.empty() && out.back() != '{' && out.back() != '[') new_line();
      out += c;
      continue;
    }
    // The first thing inside an object or array opens its first line; an empty one stays closed.
    if (!out.empty() && (out.back() == '{' || out.back() == '[')) new_line();
    out += c;
    if (c == '"') in_string = true;
    if (c == '{' || c == '[') ++depth;
    if (c == ',') new_line();
    if (c == ':') out += ' ';
  }
  return out;
}

}  // namespace hookonce
