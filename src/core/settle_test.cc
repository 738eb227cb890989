#include "core/settle.h"

#include <gtest/gtest.h>

namespace hookonce {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

constexpr Time kArmed{seconds(1790000000)};
constexpr double kNoSpread = 0.5;  // the middle of the jitter's range

Lease lease_of(int counted, Duration since_armed = seconds(1)) {
  Lease lease;
  lease.event = EventId::make(kArmed, {});
  lease.destination = "backend";
  lease.attempt = counted + 3;
  lease.counted = counted;
  lease.armed_at = kArmed;
  lease.claimed_at = kArmed + since_armed;
  return lease;
}

AttemptResult result_of(Outcome outcome, int status = 0, std::optional<Duration> retry_after = std::nullopt) {
  AttemptResult result;
  result.outcome = outcome;
  result.status = status;
  result.retry_after = retry_after;
  return result;
}

Settlement decide_on(const AttemptResult& result, int counted = 1) {
  return decide(lease_of(counted), result, RetryPolicy{}, kNoSpread);
}

TEST(Settle, KeepsTheIdentityOfTheAttemptAndItsResult) {
  const Settlement settlement = decide_on(result_of(Outcome::kFailed, 500), 2);
  EXPECT_EQ(settlement.event, lease_of(2).event);
  EXPECT_EQ(settlement.destination, "backend");
  EXPECT_EQ(settlement.attempt, 5);
  EXPECT_EQ(settlement.result.status, 500);
}

TEST(Settle, SuccessIsDeliveredEvenAsTheLastAttempt) {
  EXPECT_EQ(decide_on(result_of(Outcome::kSuccess, 204)).next, Next::kDelivered);
  EXPECT_EQ(decide_on(result_of(Outcome::kSuccess, 200), 20).next, Next::kDelivered);
}

TEST(Settle, FailureAndUnknownAreTriedAgainAfterTheBackoff) {
  for (const int status : {0, 301, 400, 401, 404, 408, 422, 429, 500, 503}) {
    const Settlement settlement = decide_on(result_of(Outcome::kFailed, status), 3);
    EXPECT_EQ(settlement.next, Next::kRetry) << status;
    EXPECT_EQ(settlement.delay, seconds(4)) << status;
  }
  EXPECT_EQ(decide_on(result_of(Outcome::kUnknown)).next, Next::kRetry);
}

TEST(Settle, GoneIsDeadAtOnce) {
  EXPECT_EQ(decide_on(result_of(Outcome::kFailed, 410)).next, Next::kDead);
}

TEST(Settle, AReleaseIsDueAtOnceWhateverIsUsedUp) {
  const Settlement settlement =
      decide(lease_of(20, hours(1000)), result_of(Outcome::kReleased), RetryPolicy{}, kNoSpread);
  EXPECT_EQ(settlement.next, Next::kRelease);
  EXPECT_EQ(settlement.delay, Duration::zero());
}

TEST(Settle, TheLastCountedAttemptEndsAsDead) {
  EXPECT_EQ(decide_on(result_of(Outcome::kFailed, 500), 19).next, Next::kRetry);
  EXPECT_EQ(decide_on(result_of(Outcome::kFailed, 500), 20).next, Next::kDead);
  EXPECT_EQ(decide_on(result_of(Outcome::kUnknown), 21).next, Next::kDead);
}

TEST(Settle, GiveUpCountsFromTheArmingToTheAttemptsEnd) {
  AttemptResult result = result_of(Outcome::kFailed, 500);
  result.duration = seconds(10);
  const auto next_after = [&](Duration since_armed) {
    return decide(lease_of(1, since_armed), result, RetryPolicy{}, kNoSpread).next;
  };
  EXPECT_EQ(next_after(hours(72) - seconds(11)), Next::kRetry);
  EXPECT_EQ(next_after(hours(72) - seconds(10)), Next::kDead);
}

TEST(Settle, RetryAfterIsHonouredOn429And503Alone) {
  EXPECT_EQ(decide_on(result_of(Outcome::kFailed, 429, seconds(120))).delay, seconds(120));
  EXPECT_EQ(decide_on(result_of(Outcome::kFailed, 503, seconds(120))).delay, seconds(120));
  EXPECT_EQ(decide_on(result_of(Outcome::kFailed, 500, seconds(120))).delay, seconds(1));
  EXPECT_EQ(decide_on(result_of(Outcome::kFailed, 301, seconds(120))).delay, seconds(1));
}

TEST(Settle, RetryAfterMayShortenTheBackoffButNotToNothing) {
  EXPECT_EQ(decide_on(result_of(Outcome::kFailed, 503, seconds(1)), 10).delay, seconds(1));
  EXPECT_EQ(decide_on(result_of(Outcome::kFailed, 503, seconds(0)), 10).delay, seconds(512));
  EXPECT_EQ(decide_on(result_of(Outcome::kFailed, 503, seconds(-7)), 10).delay, seconds(512));
}

TEST(Settle, RetryAfterIsCappedAtOneDay) {
  EXPECT_EQ(decide_on(result_of(Outcome::kFailed, 503, hours(48))).delay, hours(24));
  EXPECT_EQ(decide_on(result_of(Outcome::kFailed, 503, Duration::max())).delay, hours(24));
}

// Small space: every outcome, the statuses that matter, every count to beyond the limit.
TEST(Settle, NoDecisionHasANegativeDelayAndOnlyRetriesHaveOne) {
  for (const Outcome outcome : {Outcome::kSuccess, Outcome::kFailed, Outcome::kUnknown, Outcome::kReleased}) {
    for (const int status : {0, 200, 410, 429, 500, 503}) {
      for (int counted = 0; counted <= 22; ++counted) {
        for (const double jitter : {0.0, 0.999}) {
          const Settlement settlement = decide(lease_of(counted), result_of(outcome, status), RetryPolicy{}, jitter);
          EXPECT_GE(settlement.delay, Duration::zero());
          EXPECT_TRUE(settlement.next == Next::kRetry || settlement.delay == Duration::zero());
        }
      }
    }
  }
}

TEST(Settle, IsUsedUpByAttemptsOrByTime) {
  const RetryPolicy policy;
  EXPECT_FALSE(used_up(policy, 19, hours(71)));
  EXPECT_TRUE(used_up(policy, 20, hours(0)));
  EXPECT_TRUE(used_up(policy, 0, hours(72)));
}

TEST(Lease, IdempotencyKeyIsTheEventIdUntilAHumanAsksForANewOne) {
  Lease lease = lease_of(1);
  EXPECT_EQ(lease.idempotency_key(), lease.event.text());
  lease.new_key = 2;
  EXPECT_EQ(lease.idempotency_key(), lease.event.text() + ".2");
}

}  // namespace
}  // namespace hookonce
