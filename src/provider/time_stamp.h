// Signed time stamps in unix seconds: reading them strictly, and judging their distance from now.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "provider/provider.h"

namespace hookonce {

// Decimal digits only; nullopt for anything else. Longer numbers than a Time can hold read as the largest one that it
// can: they are far in the future, not unreadable.
std::optional<Time> parse_unix_seconds(std::string_view text);

std::string unix_seconds(Time time);

// Why `stamp` is too far from `now`, or nullopt where it is not. Compared in whole seconds, since the stamp has no
// finer ones; exactly the tolerance passes, in both directions.
std::optional<Verification> time_stamp_refusal(Time stamp, Time now, Duration tolerance);

}  // namespace hookonce
