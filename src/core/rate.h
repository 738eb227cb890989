// A limit on how often something starts: a token bucket as a plain value and pure functions over it.
//
//   bucket = refilled(bucket, 100.0, now);
//   int may_start = whole_tokens(bucket);
//   bucket.tokens -= started;
#pragma once

#include <optional>

#include "base/clock.h"

namespace hookonce {

struct TokenBucket {
  double tokens = 0;
  std::optional<Time> filled_at;  // nullopt: never used, which counts as full
};

// What may start at once after a pause, in seconds' worth of the rate; at least one. Small, so that a rate is kept
// within each second and not only over many.
inline constexpr double kBurstSeconds = 0.1;

// REQUIRES: rate > 0, in tokens a second. A `now` before the last one adds nothing.
TokenBucket refilled(TokenBucket bucket, double rate, Time now);
int whole_tokens(const TokenBucket& bucket);
// When the next whole token is there. REQUIRES: refilled at `now`.
Time next_token_at(const TokenBucket& bucket, double rate, Time now);

}  // namespace hookonce
