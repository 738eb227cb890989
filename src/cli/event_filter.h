// Which events a command means: the filter options that `events` and `replay` share.
#pragma once

#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/json.h"
#include "base/result.h"
#include "cli/admin_client.h"

namespace CLI {
class App;
}

namespace hookonce {

struct EventFilterOptions {
  std::string source;
  std::string type;
  std::string state;
  std::string key;
  std::string since;
  std::string until;
  std::string search;
  bool empty() const;
};

// For an option's check(): an empty value is refused with what CLI11 shows. A shell variable that is not set must not
// make a command mean every event.
std::string refuse_empty(const std::string& value);

void add_event_filter(CLI::App& command, EventFilterOptions& options);

// The filter under the names of the admin API: ("source", "shop"), ("since", RFC 3339), ...
// kInvalid names the option that can't be understood.
using FilterTerms = std::vector<std::pair<std::string, std::string>>;
Result<FilterTerms> filter_terms(const EventFilterOptions& options, Time now);

// RFC 3339, or an age such as `1h`, which counts back from `now`. kInvalid names `option`.
Result<Time> parse_moment(std::string_view option, std::string_view text, Time now);

}  // namespace hookonce
