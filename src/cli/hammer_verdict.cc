#include "cli/hammer_verdict.h"

#include <fmt/format.h>

#include "base/bytes.h"
#include "cli/terminal.h"

namespace hookonce {

namespace {

constexpr std::size_t kIdsShown = 5;  // enough to look one up

// How often an event took effect, as far as can be told.
std::int64_t effects_of(const HammeredEvent& event, bool by_effects) {
  if (by_effects) return event.effects.value_or(0);
  if (event.successes == 0) return 0;
  // An endpoint that does not say which copies it accepted is believed.
  return event.accepted > 1 ? event.accepted : 1;
}

std::string ids_text(const std::vector<std::string>& ids) {
  std::string text;
  for (std::size_t i = 0; i < ids.size() && i < kIdsShown; ++i) text += (i == 0 ? "" : ", ") + printable(ids[i]);
  if (ids.size() > kIdsShown) text += fmt::format(" and {} more", ids.size() - kIdsShown);
  return text;
}

std::string line(std::string_view name, std::size_t count, const std::vector<std::string>& ids) {
  return fmt::format("  {:<18}{:>6}{}\n", name, count, ids.empty() ? "" : "  " + ids_text(ids));
}

json::array json_ids(const std::vector<std::string>& ids) {
  json::array array;
  for (const std::string& id : ids) array.emplace_back(to_utf8(id));
  return array;
}

}  // namespace

HammerVerdict judge_hammered(const std::vector<HammeredEvent>& events, bool by_effects) {
  HammerVerdict verdict;
  verdict.by_effects = by_effects;
  verdict.events = events.size();
  for (const HammeredEvent& event : events) {
    verdict.requests += static_cast<std::size_t>(event.copies);
    for (const auto& [answer, count] : event.answers) verdict.answers[answer] += count;
    const std::int64_t effects = effects_of(event, by_effects);
    if (effects == 1) ++verdict.once;
    if (effects > 1) verdict.twice.push_back(event.id);
    if (effects < 1) verdict.never.push_back(event.id);
  }
  return verdict;
}

std::string verdict_text(const HammerVerdict& verdict, bool colour) {
  std::string text =
      fmt::format("\n  {}, {}; answers:", counted(verdict.events, "event"), counted(verdict.requests, "request"));
  for (const auto& [answer, count] : verdict.answers) text += fmt::format(" {} x {}", count, answer);
  text += "\n";
  text += line(verdict.by_effects ? "took effect once" : "answered 2xx", verdict.once, {});
  text += line(verdict.by_effects ? "more than once" : "accepted twice", verdict.twice.size(), verdict.twice);
  text += line(verdict.by_effects ? "never" : "never 2xx", verdict.never.size(), verdict.never);
  if (verdict.good()) {
    text += painted(
        verdict.by_effects ? "  good: every event took effect exactly once\n" : "  good, as far as answers show\n",
        Paint::kGood, colour);
  } else {
    text += painted("  bad: ", Paint::kBad, colour);
    const bool effects = verdict.by_effects;
    if (!verdict.twice.empty()) text += effects ? "an event took effect more than once" : "an event was accepted twice";
    if (!verdict.twice.empty() && !verdict.never.empty()) text += ", and ";
    if (!verdict.never.empty()) text += effects ? "an event took no effect" : "no copy of an event got a 2xx";
    text += "\n";
  }
  if (!verdict.by_effects) {
    text +=
        "  judged by the answers alone: they can't show what the endpoint did. Pass --effects URL to count effects\n";
  }
  return text;
}

json::object verdict_json(const HammerVerdict& verdict) {
  json::object answers;
  for (const auto& [answer, count] : verdict.answers) answers[answer] = count;
  return {{"good", verdict.good()},
          {"judged_by", verdict.by_effects ? "effects" : "answers"},
          {"events", verdict.events},
          {"requests", verdict.requests},
          {"once", verdict.once},
          {"twice", json_ids(verdict.twice)},
          {"never", json_ids(verdict.never)},
          {"answers", std::move(answers)}};
}

Result<std::map<std::string, std::int64_t>> parse_effects(std::string_view text) {
  HK_ASSIGN(json::value document, parse_json(text));
  if (!document.is_object()) return invalid("it must be a JSON object, event id to number of effects");
  std::map<std::string, std::int64_t> effects;
  for (const auto& [id, count] : document.get_object()) {
    const auto number = json_int(document, std::string_view(id.data(), id.size()));
    if (!number)
      return invalid(
          fmt::format("the number of effects of {} is no number", printable(std::string_view(id.data(), id.size()))));
    effects[std::string(id)] = *number;
  }
  return effects;
}

}  // namespace hookonce
