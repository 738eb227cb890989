#include "cli/status_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/bytes.h"
#include "base/clock.h"
#include "cli/event_text.h"
#include "cli/table.h"
#include "cli/terminal.h"

namespace hookonce {

namespace {

constexpr std::size_t kClockWidth = 8;  // "22:28:53": a second is soon enough to know

constexpr std::size_t kLineMax = 80;
constexpr std::size_t kHeadWidth = 12;  // "deliveries  "

std::int64_t number(const json::value& object, std::string_view name) {
  return json_int(object, name).value_or(0);
}

std::string count(const json::value& object, std::string_view name) {
  return std::to_string(number(object, name));
}

const json::value* member(const json::value& value, std::string_view name) {
  const json::object* object = value.if_object();
  return object == nullptr ? nullptr : object->if_contains(name);
}

bool is_true(const json::value& object, std::string_view name) {
  const json::value* value = member(object, name);
  return value != nullptr && value->is_bool() && value->get_bool();
}

std::vector<std::string> texts(const json::value& object, std::string_view name) {
  std::vector<std::string> found;
  const json::value* value = member(object, name);
  if (value == nullptr || !value->is_array()) return found;
  for (const json::value& item : value->get_array()) {
    if (item.is_string())
      found.push_back(printable(std::string_view(item.get_string().data(), item.get_string().size())));
  }
  return found;
}

std::string age_text(const json::value& stats, const json::value& deliveries) {
  const auto now = parse_rfc3339(json_string(stats, "now").value_or(""));
  const auto oldest = parse_rfc3339(json_string(deliveries, "oldest_pending_at").value_or(""));
  if (!now || !oldest) return "";
  const auto seconds =
      std::max<std::int64_t>(0, std::chrono::duration_cast<std::chrono::seconds>(*now - *oldest).count());
  if (seconds < 120) return fmt::format("{} s", seconds);
  if (seconds < 2 * 3600) return fmt::format("{} min", seconds / 60);
  if (seconds < 2 * 86400) return fmt::format("{} h", seconds / 3600);
  return fmt::format("{} days", seconds / 86400);
}

// `head` in front of the first line, blanks in front of the others; broken between words.
std::string paragraph(std::string_view head, std::string_view text, Paint paint, bool colour) {
  std::string lines;
  std::string line;
  const auto flush = [&] {
    const std::string front = lines.empty() ? std::string(head) : std::string();
    lines += fmt::format("{:<{}}{}\n", front, kHeadWidth, painted(line, paint, colour));
    line.clear();
  };
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = text.find(' ', at);
    if (end == std::string_view::npos) end = text.size();
    const std::string_view word = text.substr(at, end - at);
    if (!line.empty() && kHeadWidth + width_of(line) + 1 + width_of(word) > kLineMax) flush();
    if (!line.empty()) line += ' ';
    line += word;
    at = end + 1;
  }
  flush();
  return lines;
}

std::string store_lines(const json::object& stats, bool colour) {
  const json::value* store = stats.if_contains("store");
  if (store == nullptr) return "";
  const bool ready = is_true(*store, "ready");
  std::string text =
      ready ? "ready" : "not ready: " + printable(json_string(*store, "why").value_or("it does not say why"));
  if (const auto bytes = number(*store, "log_bytes"); bytes > 0) {
    text += fmt::format(", log {}", size_text(static_cast<std::uint64_t>(bytes)));
  }
  std::string lines = paragraph("store", text, ready ? Paint::kGood : Paint::kBad, colour);
  for (const std::string& weakness : texts(*store, "weaknesses")) {
    lines += paragraph("", "weak: " + weakness, Paint::kWarn, colour);
  }
  return lines;
}

std::string delivery_lines(const json::object& stats, bool colour) {
  const json::value* found = stats.if_contains("deliveries");
  if (found == nullptr) return "";
  const json::value& deliveries = *found;
  std::string text = count(deliveries, "pending") + " pending";
  if (const std::string age = age_text(json::value(stats), deliveries); !age.empty())
    text += " (the oldest for " + age + ")";
  text += fmt::format(", {} in flight, {} delivered since the start", count(deliveries, "in_flight"),
                      count(deliveries, "delivered"));
  std::string lines = paragraph("deliveries", text, Paint::kNone, colour);
  if (number(deliveries, "dead") > 0) {
    lines += paragraph("", count(deliveries, "dead") + " dead: listed in the dashboard; or `hookonce replay --dead`",
                       Paint::kBad, colour);
  }
  if (number(deliveries, "orphaned") > 0) {
    lines +=
        paragraph("", count(deliveries, "orphaned") + " orphaned: the configuration does not know their destination",
                  Paint::kWarn, colour);
  }
  return lines;
}

// "provider retry 900, concurrent twin 12": why there were duplicates.
std::string causes_text(const json::value& counts) {
  const json::value* causes = member(counts, "causes");
  if (causes == nullptr || !causes->is_object()) return "";
  std::vector<std::string> parts;
  for (const auto& [cause, times] : causes->get_object()) {
    const std::string_view name(cause.data(), cause.size());
    const std::int64_t n = number(*causes, name);
    if (n > 0) parts.push_back(words_of(name) + " " + std::to_string(n));
  }
  return join(parts, ", ");
}

// One line for each source whose requests are rejected in numbers: it comes before all other numbers.
std::string alarm_lines(const json::array& sources, bool colour) {
  std::string lines;
  for (const json::value& source : sources) {
    const json::value* alarm = member(source, "alarm");
    if (alarm == nullptr || !alarm->is_object()) continue;
    const std::string text = fmt::format(
        "{}: {} requests rejected in the last minute, most of them for {}, since {}",
        printable(json_string(source, "name").value_or("-")), count(*alarm, "rejected_last_minute"),
        printable(json_string(*alarm, "code").value_or("-")), local_time(json_string(*alarm, "since").value_or("")));
    lines += paragraph(lines.empty() ? "alarm" : "", text, Paint::kBad, colour);
  }
  return lines;
}

std::string source_lines(const json::array& sources, bool colour) {
  Table table({{"SOURCE"},
               {"ACCEPTED", Table::Align::kRight},
               {"A MINUTE", Table::Align::kRight},
               {"DUPLICATES", Table::Align::kRight},
               {"A MINUTE", Table::Align::kRight},
               {"REARMED", Table::Align::kRight},
               {"REJECTED", Table::Align::kRight}});
  std::string causes;
  for (const json::value& source : sources) {
    const json::value* counts = member(source, "counts");
    if (counts == nullptr) continue;
    const std::string name = printable(json_string(source, "name").value_or("-"));
    const Paint rejected = number(*counts, "rejected") > 0 ? Paint::kWarn : Paint::kNone;
    table.add({{name, Paint::kStrong},
               {count(*counts, "accepted")},
               {count(*counts, "accepted_last_minute")},
               {count(*counts, "duplicates")},
               {count(*counts, "duplicates_last_minute")},
               {count(*counts, "rearmed")},
               {count(*counts, "rejected"), rejected}});
    if (const std::string text = causes_text(*counts); !text.empty()) {
      causes += paragraph("", "duplicates of " + name + ": " + text, Paint::kNone, colour);
    }
  }
  return table.text(colour) + causes;
}

Table::Cell condition_of(const json::value& destination) {
  if (is_true(destination, "paused"))
    return {is_true(destination, "orphaned") ? "paused, orphaned" : "paused", Paint::kWarn};
  if (is_true(destination, "orphaned")) return {"orphaned", Paint::kWarn};
  const json::value* breaker = member(destination, "breaker");
  const std::string state = breaker == nullptr ? "closed" : json_string(*breaker, "state").value_or("closed");
  if (state == "closed") return {"ok", Paint::kGood};
  if (state == "half_open") return {"breaker half-open", Paint::kWarn};
  // Of the moment the time alone: it is seconds away.
  const std::string until = local_time(json_string(*breaker, "open_until").value_or(""));
  const auto blank = until.find(' ');
  return {"breaker open until " + until.substr(blank == std::string::npos ? 0 : blank + 1, kClockWidth), Paint::kBad};
}

std::string destination_lines(const json::array& destinations, bool colour) {
  Table table({{"DESTINATION"},
               {"WAITING", Table::Align::kRight},
               {"DELIVERED", Table::Align::kRight},
               {"A MINUTE", Table::Align::kRight},
               {"FAILED", Table::Align::kRight},
               {"NOW"}});
  for (const json::value& destination : destinations) {
    table.add({{printable(json_string(destination, "name").value_or("-")), Paint::kStrong},
               {count(destination, "waiting")},
               {count(destination, "delivered")},
               {count(destination, "delivered_last_minute")},
               {count(destination, "failed")},
               condition_of(destination)});
  }
  return table.text(colour);
}

}  // namespace

std::string status_text(const json::object& stats, const json::array& sources, const json::array& destinations,
                        bool colour) {
  std::string text;
  if (is_true(json::value(stats), "draining"))
    text += paragraph("gateway", "draining: it is shutting down", Paint::kWarn, colour);
  text += store_lines(stats, colour);
  text += alarm_lines(sources, colour);
  text += paragraph("events", count(json::value(stats), "events") + " in the inbox", Paint::kNone, colour);
  text += delivery_lines(stats, colour);
  if (const std::vector<std::string> paused = texts(json::value(stats), "paused"); !paused.empty()) {
    text += paragraph("paused", join(paused, ", "), Paint::kWarn, colour);
  }
  if (!sources.empty()) text += "\n" + source_lines(sources, colour);
  if (!destinations.empty()) text += "\n" + destination_lines(destinations, colour);
  return text;
}

}  // namespace hookonce
