// Why an event arrived again: concluded from what the arrivals show, never from one header alone.
#pragma once

#include <string_view>

#include "core/model.h"

namespace hookonce {

enum class Cause {
  kFirst,           // accepted as the event
  kConcurrentTwin,  // arrived within kTwinWithin of the first
  kSecondListener,  // verified with another secret than the first: two endpoints or a CLI listener
  kProviderRetry,   // the provider says so in its headers, or the distance fits a retry
  kManualResend,    // long after the first, without retry headers
};

inline constexpr Duration kTwinWithin = std::chrono::seconds(1);  // no provider retries this fast by its schedule
inline constexpr Duration kManualResendAfter = std::chrono::minutes(30);  // a person, without retry headers

// "first" "concurrent_twin" "second_listener" "provider_retry" "manual_resend"
std::string_view to_string(Cause cause);

// REQUIRES: `first` is the event's first arrival. `arrival` may be the same one.
Cause cause_of(const Arrival& first, const Arrival& arrival, Verdict verdict);

}  // namespace hookonce
