// The time line of one event as people read it, made of what the admin API answers. Pure functions.
#pragma once

#include <cstddef>
#include <string>

#include "base/json.h"

namespace hookonce {

struct WhyOptions {
  bool colour = false;
  std::size_t columns = 0;  // at which lines are wrapped; 0: nowhere
};
// Each arrival with its evidence and what caused it, the deliveries in one line, and what it all came to.
std::string why_text(const json::object& event, const WhyOptions& options);

// The same without headers and body, and with the number of effects: what `why --json` prints.
json::object why_json(const json::object& event);

}  // namespace hookonce
