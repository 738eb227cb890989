#include "core/rate.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace hookonce {
namespace {

// Sums of tenths fall short of the whole by a rounding error; a token that is this near is there.
constexpr double kNearlyOne = 1.0 - 1e-6;
// A rate below one in this long is as good as paused; the bound keeps the arithmetic within a Duration.
constexpr double kWaitMaxSeconds = 24 * 3600;

}  // namespace

TokenBucket refilled(TokenBucket bucket, double rate, Time now) {
  const double capacity = std::max(1.0, rate * kBurstSeconds);
  if (!bucket.filled_at) {
    bucket.tokens = capacity;
    bucket.filled_at = now;
  } else if (now > *bucket.filled_at) {
    const double seconds = std::chrono::duration<double>(now - *bucket.filled_at).count();
    bucket.tokens = std::min(capacity, bucket.tokens + seconds * rate);
    bucket.filled_at = now;
  }
  return bucket;
}

int whole_tokens(const TokenBucket& bucket) {
  if (bucket.tokens < kNearlyOne) return 0;
  const double whole = std::floor(bucket.tokens + (1.0 - kNearlyOne));
  return static_cast<int>(std::min(whole, static_cast<double>(std::numeric_limits<int>::max())));
}

Time next_token_at(const TokenBucket& bucket, double rate, Time now) {
  const double seconds = std::clamp((1.0 - bucket.tokens) / rate, 0.0, kWaitMaxSeconds);
  return now + std::chrono::ceil<Duration>(std::chrono::duration<double>(seconds));
}

}  // namespace hookonce
