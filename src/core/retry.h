// When to try again: exponential backoff with jitter, Retry-After and its bounds. Pure functions.
#pragma once

#include <optional>
#include <string_view>

#include "base/clock.h"

namespace hookonce {

struct RetryPolicy {
  Duration first = std::chrono::seconds(1);
  double factor = 2.0;
  Duration max = std::chrono::hours(1);
  double jitter = 0.2;                        // of the delay, to both sides
  int attempts = 20;                          // counted ones since the delivery was armed
  Duration give_up = std::chrono::hours(72);  // since the delivery was armed
  bool operator==(const RetryPolicy&) const = default;
};

inline constexpr Duration kRetryAfterMax = std::chrono::hours(24);  // contract: Retry-After is capped at one day

// The delay behind the `counted`-th failed attempt (from 1), without and with jitter (`jitter` in [0, 1)).
Duration backoff_without_jitter(const RetryPolicy& policy, int counted);
Duration backoff(const RetryPolicy& policy, int counted, double jitter);

// Retry-After as seconds or HTTP-date: never negative, at most kRetryAfterMax; nullopt where it is neither.
std::optional<Duration> parse_retry_after(std::string_view value, Time now);

}  // namespace hookonce
