#include "core/breaker.h"

#include <gtest/gtest.h>

#include <vector>

namespace hookonce {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

AttemptResult result_of(Outcome outcome, int status) {
  AttemptResult result;
  result.outcome = outcome;
  result.status = status;
  return result;
}

class BreakerTest : public ::testing::Test {
 protected:
  // An attempt of a new event that began `took` ago and ends now.
  void end(Sign sign, Duration took = milliseconds(1)) {
    AttemptEnd attempt;
    attempt.event = next_event();
    attempt.attempt = 1;
    attempt.started_at = now_ - took;
    attempt.sign = sign;
    breaker_ = noted(breaker_, policy_, attempt, now_);
  }
  void end(Sign sign, int times) {
    for (int i = 0; i < times; ++i) end(sign);
  }
  // The probe that the dispatcher would take.
  AttemptEnd take_probe() {
    EXPECT_EQ(room(), 1);
    Lease lease;
    lease.event = next_event();
    lease.attempt = 3;
    started(breaker_, policy_, lease, now_);
    EXPECT_EQ(room(), 0) << "one probe at a time";
    AttemptEnd probe;
    probe.event = lease.event;
    probe.attempt = lease.attempt;
    probe.started_at = now_;
    return probe;
  }
  void end(AttemptEnd attempt, Sign sign) {
    attempt.sign = sign;
    breaker_ = noted(breaker_, policy_, attempt, now_);
  }
  void open() {
    advance(milliseconds(1));  // these begin after whatever closed it before
    end(Sign::kFailing, 10);
    advance(policy_.after);
    end(Sign::kFailing);
    ASSERT_EQ(state(), BreakerState::kOpen);
  }
  void advance(Duration by) { now_ += by; }
  BreakerState state() const { return state_of(breaker_, now_); }
  int room(int busy = 0) const { return room_for(breaker_, 16 - busy, busy, now_); }
  EventId next_event() {
    ++events_;
    EventId::Bytes bytes{};
    bytes[0] = static_cast<std::uint8_t>(events_ >> 8);
    bytes[1] = static_cast<std::uint8_t>(events_);
    return EventId(bytes);
  }

  BreakerPolicy policy_;
  Breaker breaker_;
  Time now_{std::chrono::hours(1000)};
  int events_ = 0;
};

TEST(BreakerSign, FourHundredsAreAboutTheEventAndSayThatTheDestinationLives) {
  EXPECT_EQ(sign_of(result_of(Outcome::kSuccess, 200)), Sign::kAlive);
  for (const int status : {301, 302, 400, 401, 403, 404, 409, 410, 422}) {
    EXPECT_EQ(sign_of(result_of(Outcome::kFailed, status)), Sign::kAlive) << status;
  }
  for (const int status : {0, 429, 500, 502, 503, 504, 599}) {
    EXPECT_EQ(sign_of(result_of(Outcome::kFailed, status)), Sign::kFailing) << status;
  }
  EXPECT_EQ(sign_of(result_of(Outcome::kReleased, 0)), Sign::kNone);
  EXPECT_EQ(sign_of(result_of(Outcome::kUnknown, 0)), Sign::kNone);
}

TEST_F(BreakerTest, OpensOnlyAfterEnoughAttemptsHaveFailedForLongEnough) {
  end(Sign::kFailing, 100);
  EXPECT_EQ(state(), BreakerState::kClosed) << "a burst of failures within a moment is what retries are for";
  advance(policy_.after - milliseconds(2));
  end(Sign::kFailing);
  EXPECT_EQ(state(), BreakerState::kClosed);
  advance(milliseconds(2));
  end(Sign::kFailing);
  EXPECT_EQ(state(), BreakerState::kOpen);
  EXPECT_EQ(room(), 0);
}

TEST_F(BreakerTest, FewAttemptsNeverOpenItHoweverLongTheyFail) {
  for (int i = 0; i < policy_.attempts - 1; ++i) {
    advance(std::chrono::minutes(10));
    end(Sign::kFailing);
  }
  EXPECT_EQ(state(), BreakerState::kClosed);
  advance(std::chrono::minutes(10));
  end(Sign::kFailing);
  EXPECT_EQ(state(), BreakerState::kOpen);
}

TEST_F(BreakerTest, OneEventThatAlwaysFailsDoesNotOpenIt) {
  AttemptEnd poison;
  poison.event = next_event();
  for (poison.attempt = 1; poison.attempt <= 50; ++poison.attempt) {
    advance(seconds(10));
    poison.started_at = now_;
    end(poison, Sign::kFailing);
  }
  EXPECT_EQ(state(), BreakerState::kClosed);
}

TEST_F(BreakerTest, AShareBelowTheLimitNeverOpensIt) {
  for (int i = 0; i < 400; ++i) {
    advance(seconds(1));
    end(i % 4 == 0 ? Sign::kAlive : Sign::kFailing);
    ASSERT_EQ(state(), BreakerState::kClosed) << i;
  }
}

TEST_F(BreakerTest, AShareAboveTheLimitOpensItThoughNowAndThenOneSucceeds) {
  int i = 0;
  while (state() == BreakerState::kClosed && i < 400) {
    advance(seconds(1));
    end(++i % 10 == 0 ? Sign::kAlive : Sign::kFailing);
  }
  EXPECT_EQ(state(), BreakerState::kOpen);
}

TEST_F(BreakerTest, AttemptsThatHungTogetherCountTheTimeThatTheyHung) {
  for (int i = 0; i < policy_.attempts; ++i) end(Sign::kFailing, policy_.after);
  EXPECT_EQ(state(), BreakerState::kOpen);
}

TEST_F(BreakerTest, OneOldAttemptThatHungDoesNotMakeANewTroubleOld) {
  end(Sign::kAlive, 20);
  advance(seconds(1));
  for (int i = 0; i < 30; ++i) end(Sign::kFailing, seconds(60));
  EXPECT_EQ(state(), BreakerState::kClosed) << "attempts succeeded a second ago";
}

TEST_F(BreakerTest, ReleasedAttemptsSayNothing) {
  end(Sign::kNone, 100);
  advance(std::chrono::hours(1));
  end(Sign::kNone, 100);
  EXPECT_EQ(breaker_.known, 0);
  EXPECT_EQ(state(), BreakerState::kClosed);
}

TEST_F(BreakerTest, HalfOpenLetsOneProbeAfterAnotherTryAndTheFirstSuccessCloses) {
  open();
  advance(policy_.open);
  EXPECT_EQ(state(), BreakerState::kHalfOpen);
  end(take_probe(), Sign::kNone);
  EXPECT_EQ(state(), BreakerState::kHalfOpen) << "a probe that was given back says nothing";
  end(take_probe(), Sign::kAlive);
  EXPECT_EQ(state(), BreakerState::kClosed);
}

TEST_F(BreakerTest, EachFailedProbeDoublesTheTimeUpToItsBound) {
  open();
  Lease ordinary;
  Breaker closed;
  started(closed, policy_, ordinary, now_);
  EXPECT_FALSE(closed.probe) << "a closed breaker has no probe";
  Duration expected = policy_.open;
  for (int i = 0; i < 10; ++i) {
    ASSERT_EQ(breaker_.open_until, now_ + expected) << i;
    advance(expected);
    end(take_probe(), Sign::kFailing);
    expected = std::min(expected * 2, policy_.open_max);
  }
  EXPECT_EQ(expected, policy_.open_max);
  advance(expected);
  end(take_probe(), Sign::kAlive);
  open();
  EXPECT_EQ(breaker_.open_until, now_ + policy_.open) << "the next trouble begins anew";
}

TEST_F(BreakerTest, WhatBeganBeforeItOpenedNeitherClosesNorProlongsIt) {
  open();
  const auto until = breaker_.open_until;
  end(Sign::kAlive, 5);
  end(Sign::kFailing, 5);
  EXPECT_EQ(breaker_.open_until, until);
  advance(policy_.open);
  const AttemptEnd probe = take_probe();
  end(Sign::kFailing, 5);
  end(Sign::kAlive, 5);
  EXPECT_EQ(breaker_.open_until, until);
  EXPECT_EQ(room(), 0) << "the probe is still on its way";
  end(probe, Sign::kAlive);
  EXPECT_EQ(state(), BreakerState::kClosed);
}

TEST_F(BreakerTest, AProbeThatHangsIsFollowedByAnotherAndOnlyTheLatestDecides) {
  open();
  advance(policy_.open);
  const AttemptEnd hung = take_probe();
  advance(policy_.open_max - Duration(1));
  EXPECT_EQ(room(), 0);
  advance(Duration(1));
  const AttemptEnd second = take_probe();
  end(hung, Sign::kFailing);
  EXPECT_EQ(state(), BreakerState::kHalfOpen);
  end(second, Sign::kAlive);
  EXPECT_EQ(state(), BreakerState::kClosed);
}

TEST_F(BreakerTest, AProbeThatAnswersAfterTheNextHasBegunClosesItAllTheSame) {
  open();
  advance(policy_.open);
  const AttemptEnd slow = take_probe();
  advance(policy_.open_max);
  take_probe();
  end(slow, Sign::kAlive);
  EXPECT_EQ(state(), BreakerState::kClosed) << "or a destination that always takes longer would stay half-open";
}

TEST_F(BreakerTest, ASuccessThatBeganBeforeTheLatestFailureDoesNotCloseIt) {
  open();
  advance(policy_.open);
  const AttemptEnd slow = take_probe();
  advance(policy_.open_max);
  end(take_probe(), Sign::kFailing);
  const auto until = breaker_.open_until;
  end(slow, Sign::kAlive);
  EXPECT_EQ(breaker_.open_until, until);
  advance(*until - now_);
  end(slow, Sign::kAlive);
  EXPECT_EQ(state(), BreakerState::kHalfOpen);
}

TEST_F(BreakerTest, AProbesSuccessClosesItThoughTheClockWasSetBackMeanwhile) {
  open();
  advance(policy_.open);
  AttemptEnd probe = take_probe();
  advance(-std::chrono::hours(1));
  probe.started_at = now_;
  end(probe, Sign::kAlive);
  EXPECT_EQ(state(), BreakerState::kClosed);
}

TEST_F(BreakerTest, WhatBeganBeforeItClosedDoesNotOpenItAgain) {
  open();
  advance(policy_.open);
  end(take_probe(), Sign::kAlive);
  for (int i = 0; i < 30; ++i) end(Sign::kFailing, seconds(60));
  end(Sign::kAlive, seconds(60));
  EXPECT_EQ(state(), BreakerState::kClosed);
  EXPECT_EQ(breaker_.known, 0);
  EXPECT_EQ(breaker_.ramp, 2) << "its success met another time too";
  advance(policy_.after * 2);
  for (int i = 0; i < policy_.attempts; ++i) end(Sign::kFailing, policy_.after);
  EXPECT_EQ(state(), BreakerState::kOpen) << "what begins afterwards counts";
}

TEST_F(BreakerTest, AClockThatIsSetBackAfterItClosedBlindsNobody) {
  open();
  advance(policy_.open);
  end(take_probe(), Sign::kAlive);
  advance(-std::chrono::hours(1));
  end(Sign::kAlive);
  EXPECT_EQ(breaker_.ramp, 3);
}

TEST_F(BreakerTest, OnceClosedTheAttemptsAtOnceGrowWithEachSuccess) {
  open();
  advance(policy_.open);
  end(take_probe(), Sign::kAlive);
  EXPECT_EQ(room(), 2);
  EXPECT_EQ(room(2), 0);
  advance(milliseconds(1));
  end(Sign::kAlive);
  EXPECT_EQ(room(1), 2);
  end(Sign::kFailing);
  EXPECT_EQ(room(), 3) << "a failure does not make room";
  end(Sign::kAlive, 2000);
  EXPECT_EQ(room(), 16);
  EXPECT_EQ(breaker_.ramp, 0);
}

}  // namespace
}  // namespace hookonce
