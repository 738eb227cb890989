#include "core/breaker.h"

#include <algorithm>
#include <bit>

namespace hookonce {
namespace {

constexpr int kTooManyRequests = 429;
constexpr int kServerErrors = 500;
constexpr int kRampEnd = 1024;  // so many successes since it closed say that the destination is well

double failing_share(const Breaker& breaker, int attempts) {
  const int judged = std::min(breaker.known, attempts);
  const std::uint64_t mask = judged >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << judged) - 1;
  return static_cast<double>(std::popcount(breaker.history & mask)) / std::max(1, judged);
}

Breaker opened(Duration open_time, Time now) {
  Breaker breaker;
  breaker.open_time = open_time;
  breaker.open_until = now + open_time;
  return breaker;
}

Breaker closed_by_success(Time now) {
  Breaker breaker = closed_from(now);
  breaker.ramp = 2;
  return breaker;
}

Breaker noted_while_closed(Breaker breaker, const BreakerPolicy& policy, const AttemptEnd& end, Time now) {
  // After the clock was set back nothing would count until it has caught up.
  if (breaker.judged_from && now < *breaker.judged_from) breaker.judged_from.reset();
  if (end.sign == Sign::kNone || is_older(breaker, end)) return breaker;
  const bool failing = end.sign == Sign::kFailing;
  if (failing && breaker.last_failed == end.event) return breaker;
  breaker.history = (breaker.history << 1) | (failing ? 1 : 0);
  breaker.known = std::min(breaker.known + 1, kBreakerAttemptsMax);
  if (!failing) {
    breaker.last_failed.reset();
    breaker.last_alive = now;
    if (breaker.ramp > 0 && ++breaker.ramp > kRampEnd) breaker.ramp = 0;
  } else {
    breaker.last_failed = end.event;
  }

  if (failing_share(breaker, policy.attempts) < policy.failure_rate) {
    breaker.failing_since.reset();
    return breaker;
  }
  if (!failing) return breaker;
  // An attempt that was answered by nobody has tried since it began; what succeeded meanwhile ended that time.
  if (!breaker.failing_since)
    breaker.failing_since = std::max(end.started_at, breaker.last_alive.value_or(Time::min()));
  if (breaker.known < policy.attempts || now - *breaker.failing_since < policy.after) return breaker;
  return opened(policy.open, now);
}

Breaker noted_while_open(Breaker breaker, const BreakerPolicy& policy, const AttemptEnd& end, Time now) {
  const bool latest = breaker.probe && breaker.probe->event == end.event && breaker.probe->attempt == end.attempt;
  // An earlier probe's success counts too: where every answer takes longer than open_max, there is no other one. What
  // began before the breaker was half-open says nothing about now.
  if (end.sign == Sign::kAlive && (latest || end.started_at >= *breaker.open_until)) return closed_by_success(now);
  if (!latest) return breaker;
  breaker.probe.reset();
  if (end.sign == Sign::kFailing) return opened(std::clamp(breaker.open_time * 2, policy.open, policy.open_max), now);
  return breaker;
}

}  // namespace

Sign sign_of(const AttemptResult& result) {
  switch (result.outcome) {
    case Outcome::kSuccess:
      return Sign::kAlive;
    case Outcome::kFailed:
      break;
    case Outcome::kUnknown:
    case Outcome::kReleased:
      return Sign::kNone;
  }
  const bool answered = result.status != 0;
  if (!answered || result.status == kTooManyRequests || result.status >= kServerErrors) return Sign::kFailing;
  return Sign::kAlive;
}

BreakerState state_of(const Breaker& breaker, Time now) {
  if (!breaker.open_until) return BreakerState::kClosed;
  return now < *breaker.open_until ? BreakerState::kOpen : BreakerState::kHalfOpen;
}

std::string_view to_string(BreakerState state) {
  switch (state) {
    case BreakerState::kClosed:
      return "closed";
    case BreakerState::kOpen:
      return "open";
    case BreakerState::kHalfOpen:
      return "half_open";
  }
  return "";
}

Breaker closed_from(Time now) {
  Breaker breaker;
  breaker.judged_from = now;
  return breaker;
}

bool is_older(const Breaker& breaker, const AttemptEnd& end) {
  return breaker.judged_from && end.started_at < *breaker.judged_from;
}

void started(Breaker& breaker, const BreakerPolicy& policy, const Lease& lease, Time now) {
  if (state_of(breaker, now) != BreakerState::kHalfOpen) return;
  breaker.probe = Breaker::Probe{lease.event, lease.attempt, now + policy.open_max};
}

int room_for(const Breaker& breaker, int free_slots, int busy, Time now) {
  switch (state_of(breaker, now)) {
    case BreakerState::kOpen:
      return 0;
    case BreakerState::kHalfOpen:
      return breaker.probe && now < breaker.probe->until ? 0 : std::min(free_slots, 1);
    case BreakerState::kClosed:
      break;
  }
  return breaker.ramp == 0 ? free_slots : std::clamp(breaker.ramp - busy, 0, free_slots);
}

Breaker noted(Breaker breaker, const BreakerPolicy& policy, const AttemptEnd& end, Time now) {
  if (breaker.open_until) return noted_while_open(std::move(breaker), policy, end, now);
  return noted_while_closed(std::move(breaker), policy, end, now);
}

}  // namespace hookonce
