// Rejected requests as people read them, made of what the admin API answers. Pure.
#pragma once

#include <cstddef>
#include <string>

#include "base/json.h"

namespace hookonce {

struct RejectedTextOptions {
  bool colour = false;
  std::size_t columns = 0;  // at which lines are wrapped; 0: nowhere
};

// One paragraph each: when, source, code, how many, and below it the reason.
std::string rejected_text(const json::array& items, const RejectedTextOptions& options);

}  // namespace hookonce
