// A fact of the live stream as one line for people. Pure.
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"

namespace hookonce {

// 22:28:53.677  accepted    stripe  invoice.paid  evt_1  0199a1b2-...
// `name` is the stream's event name; unknown ones and members are shown as well as they can be. Without a line end.
std::string fact_text(std::string_view name, const json::value& data, bool colour);

}  // namespace hookonce
