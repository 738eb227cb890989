#include "core/retry.h"

#include <algorithm>
#include <cmath>

#include "base/bytes.h"

namespace hookonce {

namespace {

// Half of what a Duration holds: adding a delay of any policy to any time of this century stays far from overflow.
constexpr double kMicrosMax = 4.0e18;

Duration from_micros(double micros) {
  // The comparison is written so that a NaN of a senseless policy ends as no delay instead of undefined behaviour.
  if (!(micros > 0.0)) return Duration::zero();
  return Duration(static_cast<Duration::rep>(std::min(micros, kMicrosMax)));
}

}  // namespace

Duration backoff_without_jitter(const RetryPolicy& policy, int counted) {
  const int failures_before = std::max(counted, 1) - 1;
  const double micros = static_cast<double>(policy.first.count()) * std::pow(policy.factor, failures_before);
  // pow() may be infinite for a long row of failures, which the minimum turns into `max`.
  return from_micros(std::min(micros, static_cast<double>(policy.max.count())));
}

Duration backoff(const RetryPolicy& policy, int counted, double jitter) {
  const auto plain = static_cast<double>(backoff_without_jitter(policy, counted).count());
  return from_micros(plain * (1.0 + policy.jitter * (2.0 * jitter - 1.0)));
}

std::optional<Duration> parse_retry_after(std::string_view value, Time now) {
  const std::string_view text = trim(value);
  if (!text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos) {
    // Digits beyond what a number holds still mean "much later than a day".
    const std::optional<std::int64_t> seconds = parse_digits(text);
    const std::int64_t limit = std::chrono::duration_cast<std::chrono::seconds>(kRetryAfterMax).count();
    return std::chrono::seconds(std::min(seconds.value_or(limit), limit));
  }
  const std::optional<Time> date = parse_http_date(text);
  if (!date) return std::nullopt;
  return std::clamp(*date - now, Duration::zero(), Duration(kRetryAfterMax));
}

}  // namespace hookonce
