// A port of the loopback address that nobody listens on.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace hookonce {

inline constexpr int kPortsTried = 100;  // a machine with more gateways than this has other plans

// "127.0.0.1:PORT" with the first free port from `first` on, other than that of the address `taken`. Somebody else may
// take it before the caller does; then listening says so.
Result<std::string> next_free_loopback(int first, std::string_view taken);

}  // namespace hookonce
