#include "core/settle.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace hookonce {

namespace {

constexpr int kGone = 410;
constexpr int kTooManyRequests = 429;
constexpr int kServiceUnavailable = 503;

// What the destination asked for is waited exactly, shorter or longer than the backoff. Asking for no wait at all, or
// for a moment that is over, asks for nothing: the backoff stays, so that no destination is hammered by its own
// mistake.
Duration retry_delay(const Lease& lease, const AttemptResult& result, const RetryPolicy& policy, double jitter) {
  const bool may_ask = result.status == kTooManyRequests || result.status == kServiceUnavailable;
  if (may_ask && result.retry_after && *result.retry_after > Duration::zero()) {
    return std::min(*result.retry_after, Duration(kRetryAfterMax));
  }
  return std::max(backoff(policy, lease.counted, jitter), Duration::zero());
}

Next next_of(const Lease& lease, const AttemptResult& result, const RetryPolicy& policy) {
  if (result.outcome == Outcome::kSuccess) return Next::kDelivered;
  if (result.outcome == Outcome::kReleased) return Next::kRelease;
  if (result.status == kGone) return Next::kDead;
  // Only the store's clock and a measured duration are added up: the sender's own clock may differ from the store's.
  const Duration since_armed = lease.claimed_at - lease.armed_at + result.duration;
  return used_up(policy, lease.counted, since_armed) ? Next::kDead : Next::kRetry;
}

}  // namespace

std::string Lease::idempotency_key() const {
  return new_key == 0 ? event.text() : fmt::format("{}.{}", event.text(), new_key);
}

Settlement decide(const Lease& lease, AttemptResult result, const RetryPolicy& policy, double jitter) {
  Settlement settlement;
  settlement.event = lease.event;
  settlement.destination = lease.destination;
  settlement.attempt = lease.attempt;
  settlement.next = next_of(lease, result, policy);
  if (settlement.next == Next::kRetry) settlement.delay = retry_delay(lease, result, policy, jitter);
  if (settlement.next == Next::kDelivered) settlement.reply = std::exchange(result.reply, std::nullopt);
  settlement.result = std::move(result);
  return settlement;
}

bool used_up(const RetryPolicy& policy, int counted, Duration since_armed) {
  return counted >= policy.attempts || since_armed >= policy.give_up;
}

}  // namespace hookonce
