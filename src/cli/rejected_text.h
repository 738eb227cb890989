// Rejected requests as people read them, made of what the admin API answers. Pure.
#pragma once

#include <string>

#include "base/json.h"

namespace hookonce {

// One paragraph each: when, source, code, how many, and below it the reason.
std::string rejected_text(const json::array& items, bool colour);

}  // namespace hookonce
