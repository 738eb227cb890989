#include "cli/event_filter.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "base/bytes.h"
#include "cli/option_checks.h"
#include "cli/terminal.h"
#include "core/model.h"

namespace hookonce {

namespace {

const std::vector<std::string> kEventStates = {"pending", "delivered", "dead"};

}  // namespace

bool EventFilterOptions::empty() const {
  return source.empty() && type.empty() && state.empty() && key.empty() && since.empty() && until.empty() &&
         search.empty();
}

std::string refuse_empty(const std::string& value) {
  return value.empty() ? "is empty; give a value, or leave it out" : "";
}

void add_event_filter(CLI::App& command, EventFilterOptions& options) {
  command.add_option("--source", options.source, "Only events of this source")->type_name("S")->group("Filters");
  command.add_option("--type", options.type, "Only events of exactly this type")->type_name("T")->group("Filters");
  offer(*command.add_option("--state", options.state, "pending, delivered or dead")->type_name("ST")->group("Filters"),
        kEventStates);
  command.add_option("--key", options.key, "Only events with exactly this dedup key")->type_name("K")->group("Filters");
  command.add_option("--since", options.since, "Received at or after: RFC 3339, or an age such as 1h")
      ->type_name("T")
      ->group("Filters");
  command.add_option("--until", options.until, "Received before: RFC 3339, or an age such as 1h")
      ->type_name("T")
      ->group("Filters");
  command
      .add_option("--search", options.search, "This text in id, key, type or body; on Redis in id, key and type alone")
      ->type_name("Q")
      ->group("Filters");
  for (CLI::Option* option : command.get_options([](const CLI::Option* o) { return o->get_group() == "Filters"; })) {
    option->check(refuse_empty);
  }
}

Result<Time> parse_moment(std::string_view option, std::string_view text, Time now) {
  if (const std::optional<Time> moment = parse_rfc3339(text)) return *moment;
  if (const std::optional<Duration> age = parse_duration(text)) {
    // An age from before the epoch means everything; it must not wrap round.
    if (*age > now.time_since_epoch()) return Time();
    return now - *age;
  }
  return invalid(fmt::format("{} {}: neither a time as 2026-01-02T03:04:05Z nor an age as 90s, 15m, 1h, 7d", option,
                             printable(text)));
}

Result<FilterTerms> filter_terms(const EventFilterOptions& options, Time now) {
  FilterTerms terms;
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) terms.emplace_back(name, value);
  };
  add("source", options.source);
  add("type", options.type);
  if (!options.state.empty() && !parse_event_state(options.state)) {
    const auto near = nearest(options.state, kEventStates);
    return invalid(fmt::format("--state {}: must be one of {}{}", printable(options.state), join(kEventStates, ", "),
                               near ? fmt::format("; did you mean {}?", *near) : ""));
  }
  add("state", options.state);
  add("key", options.key);
  add("q", options.search);
  if (!options.since.empty()) {
    HK_ASSIGN(const Time since, parse_moment("--since", options.since, now));
    terms.emplace_back("since", to_rfc3339(since));
  }
  if (!options.until.empty()) {
    HK_ASSIGN(const Time until, parse_moment("--until", options.until, now));
    terms.emplace_back("until", to_rfc3339(until));
  }
  return terms;
}

}  // namespace hookonce
