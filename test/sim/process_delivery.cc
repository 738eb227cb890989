// The delivering half of a process: claims, attempts and what becomes of them.
#include <algorithm>
#include <chrono>

#include "test/sim/process.h"

namespace hookonce::sim {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Duration kClaimPause = milliseconds(400);

AttemptResult failed(int status, std::string error) {
  AttemptResult result;
  result.outcome = Outcome::kFailed;
  result.status = status;
  result.error = std::move(error);
  return result;
}

AttemptResult succeeded() {
  AttemptResult result;
  result.outcome = Outcome::kSuccess;
  result.status = 200;
  return result;
}

AttemptResult released() {
  AttemptResult result;
  result.outcome = Outcome::kReleased;
  return result;
}

}  // namespace

bool Process::tick() {
  if (is_draining()) return false;
  // Instances that share a store look again though nobody told them; a single one must be told of everything.
  const bool polls = world_.plan.instances > 1 && now() >= poll_at_;
  const bool wanted = nudged_ || !ended_.empty() || polls || (wake_at_ && *wake_at_ <= now());
  if (!wanted || (blocked_until_ && now() < *blocked_until_)) return false;
  nudged_ = false;
  poll_at_ = now() + kIdlePoll;
  for (const AttemptEnd& end : std::exchange(ended_, {})) dispatcher_.ended(end, *config_, now());
  const Time before = now();
  auto tick = dispatcher_.tick(now(), *config_);
  for (const auto& change : dispatcher_.take_breaker_changes())
    world_.trace.add("i{} breaker of {} {}", instance_, change.destination, change.open_until ? "open" : "closed");
  if (!tick.ok()) {
    world_.trace.add("i{} claim: {}", instance_, to_string(tick.code()));
    blocked_until_ = now() + kClaimPause;
    wake_at_ = blocked_until_;
    return true;
  }
  blocked_until_.reset();
  wake_at_ = tick->wake_at;
  if (!tick->leases.empty() || !tick->dead.empty())
    world_.trace.add("i{} claims {} leases, {} dead", instance_, tick->leases.size(), tick->dead.size());
  for (Lease& lease : tick->leases) {
    const DestinationConfig& destination = config_->destinations.find(lease.destination)->second;
    claims_.push_back({std::move(lease), destination.retry, destination.timeout, before});
  }
  return true;
}

bool Process::start() {
  if (claims_.empty()) return false;
  Claim claim = std::move(claims_.front());
  claims_.pop_front();
  const Duration left = (claim.lease.until - claim.lease.claimed_at) - (now() - claim.claimed_before);
  const bool too_late = left < claim.timeout && world_.canary != Canary::kSendsOnOldLease;
  if (is_draining() || too_late) {
    settle(claim.lease, released(), claim.policy);
    return true;
  }
  world_.trace.add("i{} sends attempt {} of {} to {}", instance_, claim.lease.attempt, claim.lease.event.text(),
                   claim.lease.destination);
  world_.auditor.started(claim.lease, instance_, world_.now());
  Duration takes{};
  AttemptResult result = scripted_result(claim, takes);
  attempts_.push_back(
      {std::move(claim.lease), claim.policy, now(), world_.now() + std::min(takes, claim.timeout), std::move(result)});
  return true;
}

AttemptResult Process::scripted_result(const Claim& claim, Duration& takes) {
  Prng& random = world_.random;
  takes = random.between(Duration(milliseconds(1)), milliseconds(200));
  if (world_.healed) return succeeded();
  if (random.percent(20)) takes = random.between(Duration(milliseconds(1)), claim.timeout - milliseconds(1));
  const int draw = random.between(1, 100);
  if (draw <= 45) return succeeded();
  if (draw <= 60) return failed(random.percent(50) ? 500 : 404, "answered");
  if (draw <= 64) return failed(410, "gone");
  if (draw <= 74) {
    AttemptResult result = failed(random.percent(50) ? 429 : 503, "answered");
    if (random.percent(80)) result.retry_after = random.between(Duration(seconds(0)), seconds(400));
    return result;
  }
  if (draw <= 82) return failed(0, "connection refused");
  takes = claim.timeout;  // Never answered, or answered and the answer was lost: nobody can tell.
  return failed(0, "timeout");
}

bool Process::end() {
  const bool given_up = is_draining() && now() >= *drain_until_;
  const auto over = std::find_if(attempts_.begin(), attempts_.end(),
                                 [&](const Attempted& attempt) { return given_up || attempt.ends_at <= world_.now(); });
  if (over == attempts_.end()) return false;
  Attempted attempt = std::move(*over);
  attempts_.erase(over);
  world_.auditor.ended(attempt.lease);
  AttemptResult result = attempt.ends_at <= world_.now() ? std::move(attempt.result) : released();
  result.started_at = attempt.started_at;
  result.duration = now() - attempt.started_at;
  settle(attempt.lease, std::move(result), attempt.policy);
  return true;
}

void Process::settle(const Lease& lease, AttemptResult result, RetryPolicy policy) {
  Settlement settlement = decide(lease, std::move(result), policy, world_.random.unit());
  if (world_.canary == Canary::kRetriesDelivered && settlement.next == Next::kDelivered && world_.random.percent(25)) {
    settlement.next = Next::kRetry;
    settlement.delay = seconds(1);
  }
  settles_.push_back(std::move(settlement));
}

}  // namespace hookonce::sim
