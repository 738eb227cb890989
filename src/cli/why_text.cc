#include "cli/why_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "cli/event_text.h"
#include "cli/terminal.h"

namespace hookonce {

namespace {

constexpr std::size_t kReasonIndent = 30;  // below the cause
constexpr std::size_t kNarrowIndent = 6;   // where that would leave no room for a sentence
constexpr std::size_t kRoomMin = 30;
constexpr std::string_view kBetween = "   ";
constexpr std::size_t kNamedMax = 3;  // attempts without an answer; more are only counted

// One piece of a line, which is not broken.
struct Piece {
  std::string text;
  Paint paint = Paint::kNone;
};

// Lines of pieces with `between` them, broken between pieces before `columns`; lines behind the first begin with
// `indent` blanks.
class Wrapped {
 public:
  Wrapped(std::size_t indent, std::string_view between, const WhyOptions& options)
      : indent_(indent), between_(between), options_(options) {}

  void add(const Piece& piece) {
    if (piece.text.empty()) return;
    const std::size_t width = width_of(piece.text);
    if (!fresh_ && options_.columns > 0 && column_ + between_.size() + width > options_.columns) {
      while (!out_.empty() && out_.back() == ' ') out_.pop_back();
      out_ += "\n";
      begin(indent_);
    }
    if (!fresh_) {
      out_ += between_;
      column_ += between_.size();
    }
    out_ += painted(piece.text, piece.paint, options_.colour);
    column_ += width;
    fresh_ = false;
  }
  void begin(std::size_t indent) {
    out_.append(indent, ' ');
    column_ = indent;
    fresh_ = true;
  }
  std::string take() { return std::move(out_) + "\n"; }

 private:
  const std::size_t indent_;
  const std::string_view between_;
  const WhyOptions& options_;
  std::string out_;
  std::size_t column_ = 0;
  bool fresh_ = true;  // nothing stands on the line but its indent
};

std::string text_of(const json::value& object, std::string_view name) {
  const auto text = json_string(object, name);
  return text && !text->empty() ? printable(*text) : "-";
}

std::optional<bool> flag_of(const json::value& object, std::string_view name) {
  const json::value* member = object.is_object() ? object.get_object().if_contains(name) : nullptr;
  return member != nullptr && member->is_bool() ? std::optional(member->get_bool()) : std::nullopt;
}

const json::array& array_of(const json::object& object, std::string_view name) {
  static const json::array none;
  const json::value* member = object.if_contains(name);
  return member != nullptr && member->is_array() ? member->get_array() : none;
}

std::int64_t number_of(const json::value& object, std::string_view name) {
  return json_int(object, name).value_or(0);
}

std::size_t indent_of(const WhyOptions& options) {
  return options.columns > 0 && options.columns < kReasonIndent + kRoomMin ? kNarrowIndent : kReasonIndent;
}

std::string counted_number(std::int64_t count, std::string_view noun) {
  return counted(static_cast<std::size_t>(std::max<std::int64_t>(count, 0)), noun);
}

std::int64_t successes_of(const json::object& delivery) {
  const json::array& attempts = array_of(delivery, "attempts");
  return std::count_if(attempts.begin(), attempts.end(),
                       [](const json::value& attempt) { return json_string(attempt, "outcome") == "success"; });
}

// Whether the backend may have done the work although no answer said so: the request was out. A failure before that
// begins with what failed ("connect ...", "resolve ..."), and only a lost answer speaks of one.
bool may_have_worked(const json::value& attempt) {
  const std::string outcome = json_string(attempt, "outcome").value_or("");
  if (outcome == "unknown") return true;  // the gateway died, or nothing was heard within the lease
  if (outcome != "failed" || json_int(attempt, "status")) return false;
  const std::string error = json_string(attempt, "error").value_or("");
  return error.find("answer") != std::string::npos && error.rfind("connect ", 0) != 0 &&
         error.rfind("resolve ", 0) != 0;
}

struct Effects {
  std::int64_t sure = 0;             // a success was recorded
  std::vector<std::string> perhaps;  // "attempt 1", of each that had no answer
};

Effects effects_of(const json::object& event) {
  Effects effects;
  const json::array& deliveries = array_of(event, "deliveries");
  for (const json::value& delivery : deliveries) {
    if (!delivery.is_object()) continue;
    effects.sure += successes_of(delivery.get_object());
    for (const json::value& attempt : array_of(delivery.get_object(), "attempts")) {
      if (!may_have_worked(attempt)) continue;
      const std::string name = deliveries.size() == 1 ? "" : text_of(delivery, "destination") + "'s ";
      effects.perhaps.push_back(fmt::format("{}attempt {}", name, number_of(attempt, "number")));
    }
  }
  return effects;
}

// "2 arrivals, 1 event, 1 effect, perhaps 1 more: attempt 1 had no answer".
std::string sum_text(const json::object& event, const WhyOptions& options) {
  const Effects effects = effects_of(event);
  std::string text = fmt::format("{}, 1 event, {}", counted_number(number_of(event, "duplicates") + 1, "arrival"),
                                 counted_number(effects.sure, "effect"));
  if (const std::size_t perhaps = effects.perhaps.size(); perhaps > 0) {
    text += fmt::format(", perhaps {} more: {} had no answer", perhaps,
                        perhaps > kNamedMax ? counted(perhaps, "attempt") : join(effects.perhaps, ", "));
  }
  Wrapped lines(2, " ", options);
  lines.begin(2);
  for (std::string_view word : split(text, ' ')) lines.add({std::string(word)});
  return lines.take();
}

// "attempt 2, 200, 12 ms" of the last attempt that has `outcome`, or of the last one at all.
std::string attempt_text(const json::object& delivery, std::optional<std::string_view> outcome) {
  const json::array& attempts = array_of(delivery, "attempts");
  const auto found = std::find_if(attempts.rbegin(), attempts.rend(), [&](const json::value& attempt) {
    return !outcome || json_string(attempt, "outcome") == *outcome;
  });
  if (found == attempts.rend()) return "";
  std::string text = fmt::format("attempt {}", number_of(*found, "number"));
  if (const auto status = json_int(*found, "status")) text += fmt::format(", {}", *status);
  if (const auto duration = json_int(*found, "duration_ms")) text += ", " + milliseconds_text(*duration);
  if (const auto error = json_string(*found, "error"); error && !error->empty()) text += ", " + printable(*error);
  return text;
}

std::string in_brackets(const std::string& text) {
  return text.empty() ? "" : " (" + text + ")";
}

Piece delivery_piece(const json::object& delivery, bool only_one) {
  const std::string state = json_string(delivery, "state").value_or("");
  const std::string name = only_one ? "" : text_of(delivery, "destination") + ": ";
  const std::int64_t successes = successes_of(delivery);
  const std::string replayed = flag_of(delivery, "replayed").value_or(false) ? ", replayed" : "";
  if (state == "delivered") {
    const std::string times = successes <= 1 ? "once" : fmt::format("{} times", successes);
    return {name + "delivered " + times + replayed + in_brackets(attempt_text(delivery, "success")), Paint::kGood};
  }
  const std::string last = in_brackets(attempt_text(delivery, std::nullopt));
  if (state == "dead") return {name + "dead" + replayed + last, Paint::kBad};
  if (flag_of(delivery, "orphaned").value_or(false)) return {name + "orphaned" + last, Paint::kBad};
  return {name + words_of(state) + replayed + last, Paint::kWarn};
}

// A line for each delivery that something holds.
std::string holds_text(const json::array& deliveries, const WhyOptions& options) {
  std::string out;
  for (const json::value& delivery : deliveries) {
    const std::string hold = delivery.is_object() ? hold_text(delivery.get_object()) : "";
    if (hold.empty()) continue;
    Wrapped lines(4, " ", options);
    lines.begin(2);
    if (deliveries.size() > 1) lines.add({text_of(delivery, "destination") + ":", Paint::kWarn});
    for (std::string_view word : split(hold, ' ')) lines.add({std::string(word), Paint::kWarn});
    out += lines.take();
  }
  return out;
}

std::string deliveries_text(const json::object& event, const WhyOptions& options) {
  Wrapped line(2, ", ", options);
  line.begin(2);
  line.add({"accepted once"});
  const json::array& deliveries = array_of(event, "deliveries");
  if (deliveries.empty()) line.add({"no destination of its source wanted it (types, when)"});
  for (const json::value& delivery : deliveries) {
    if (delivery.is_object()) line.add(delivery_piece(delivery.get_object(), deliveries.size() == 1));
  }
  return line.take() + holds_text(deliveries, options);
}

std::string retry_text(const json::value& arrival) {
  const json::value* retry = arrival.get_object().if_contains("retry");
  if (retry == nullptr || !retry->is_object()) return "";
  const auto reason = json_string(*retry, "reason");
  return fmt::format("retry {}", number_of(*retry, "number")) +
         (reason && !reason->empty() ? " " + printable(*reason) : "");
}

// What a duplicate shares with the first.
std::string likeness_text(const json::value& arrival) {
  std::vector<std::string> parts;
  if (flag_of(arrival, "same_key") == false) parts.emplace_back("another id");
  if (const auto same = flag_of(arrival, "same_body")) parts.emplace_back(*same ? "same bytes" : "other bytes");
  if (const auto same = flag_of(arrival, "same_signature"))
    parts.emplace_back(*same ? "same signature" : "new signature");
  return join(parts, ", ");
}

std::string reason_text(const json::value& arrival, const WhyOptions& options) {
  const std::size_t indent = indent_of(options);
  Wrapped lines(indent, " ", options);
  lines.begin(indent);
  const std::string reason = printable(json_string(arrival, "reason").value_or(""));
  for (std::string_view word : split(reason, ' ')) lines.add({std::string(word), Paint::kDim});
  return lines.take();
}

std::string arrival_text(const json::value& arrival, std::string_view time, const WhyOptions& options) {
  const bool is_first = json_string(arrival, "verdict") == "accepted";
  Wrapped line(indent_of(options), kBetween, options);
  std::string words = fmt::format("{:<10}  {:<18}", text_of(arrival, "verdict"), words_of(text_of(arrival, "cause")));
  line.begin(2);
  line.add({fmt::format("{}  {} {}", time, is_first ? "●" : "○", words), is_first ? Paint::kStrong : Paint::kNone});
  line.add({fmt::format("from {:<14}", text_of(arrival, "remote"))});
  line.add({fmt::format("secret #{}", number_of(arrival, "secret") + 1)});
  line.add({retry_text(arrival)});
  if (!is_first) {
    line.add({distance_text(number_of(arrival, "since_first_ms"))});
    line.add({likeness_text(arrival), flag_of(arrival, "same_body") == false ? Paint::kWarn : Paint::kNone});
  }
  std::string text = line.take();
  // Of an ordinary first arrival there is nothing to explain.
  if (!is_first || !retry_text(arrival).empty()) text += reason_text(arrival, options);
  return text;
}

std::string arrivals_text(const json::object& event, const WhyOptions& options) {
  std::string out;
  std::string day;
  for (const json::value& arrival : array_of(event, "arrivals")) {
    if (!arrival.is_object()) continue;
    const std::string time = local_time(json_string(arrival, "at").value_or(""));
    constexpr std::size_t kDate = 10;  // "2026-01-02 03:04:05.678"
    if (time.size() > kDate && time.substr(0, kDate) != day) {
      day = time.substr(0, kDate);
      out += "\n  " + painted(day, Paint::kDim, options.colour) + "\n";
    }
    out += arrival_text(arrival, time.size() > kDate ? std::string_view(time).substr(kDate + 1) : time, options);
  }
  const std::int64_t shown = static_cast<std::int64_t>(array_of(event, "arrivals").size());
  const std::int64_t arrivals = number_of(event, "duplicates") + 1;
  if (arrivals > shown) out += fmt::format("  and {} more, of which only the number is kept\n", arrivals - shown);
  return out;
}

}  // namespace

std::string why_text(const json::object& event, const WhyOptions& options) {
  Wrapped head(2, "  ", options);
  for (const char* name : {"source", "type", "key", "id"}) {
    if (json_string(event, name))
      head.add({text_of(event, name), name == std::string_view("id") ? Paint::kDim : Paint::kStrong});
  }
  return head.take() + deliveries_text(event, options) + arrivals_text(event, options) + "\n" +
         sum_text(event, options);
}

json::object why_json(const json::object& event) {
  json::object why;
  for (const char* name :
       {"id", "source", "type", "key", "received_at", "state", "duplicates", "arrivals", "deliveries"}) {
    if (const json::value* member = event.if_contains(name)) why[name] = *member;
  }
  const Effects effects = effects_of(event);
  why["effects"] = effects.sure;
  why["effects_perhaps"] = effects.perhaps.size();
  return why;
}

}  // namespace hookonce
