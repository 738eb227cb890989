#include "store/delivery_record.h"

#include <gtest/gtest.h>

#include "test/support/event_builder.h"

namespace hookonce {
namespace {

using std::chrono::seconds;

DeliveryRecord leased() {
  DeliveryRecord record = new_delivery(kTestStart);
  take_lease(record, seconds(30), kTestStart);
  return record;
}

Settlement outcome(const DeliveryRecord& record, Outcome result, Next next) {
  Lease lease;
  lease.attempt = record.attempt;
  return settlement(lease, result, next, seconds(1));
}

TEST(DeliveryRecord, EveryWayOutOfALeaseLeadsWhereTheStateMachineSays) {
  const struct {
    Next next;
    DeliveryState state;
    int counted;
  } kCases[] = {
      {Next::kDelivered, DeliveryState::kDelivered, 1},
      {Next::kRetry, DeliveryState::kPending, 1},
      {Next::kDead, DeliveryState::kDead, 1},
      {Next::kRelease, DeliveryState::kPending, 0},
  };
  for (const auto& expected : kCases) {
    DeliveryRecord record = leased();
    EXPECT_TRUE(settle(record, outcome(record, Outcome::kFailed, expected.next), kTestStart));
    EXPECT_EQ(record.state, expected.state);
    EXPECT_EQ(record.counted, expected.counted);
    EXPECT_EQ(record.attempt, 1);
    EXPECT_FALSE(record.unsettled);
    if (record.state == DeliveryState::kPending) {
      EXPECT_EQ(record.due_at, kTestStart + seconds(1));
    }
  }
}

TEST(DeliveryRecord, OnlyTheNewestUnsettledAttemptIsTaken) {
  DeliveryRecord record = leased();
  Settlement other = outcome(record, Outcome::kSuccess, Next::kDelivered);
  other.attempt = 2;
  EXPECT_FALSE(settle(record, other, kTestStart));
  EXPECT_TRUE(settle(record, outcome(record, Outcome::kFailed, Next::kRetry), kTestStart));
  EXPECT_FALSE(settle(record, outcome(record, Outcome::kSuccess, Next::kDelivered), kTestStart));
  EXPECT_EQ(record.state, DeliveryState::kPending);
}

TEST(DeliveryRecord, ABuriedOrReplayedOneIsChangedByALateSuccessAlone) {
  for (bool replayed : {false, true}) {
    for (Next next : {Next::kDelivered, Next::kRetry, Next::kDead, Next::kRelease}) {
      DeliveryRecord record = leased();
      bury(record, kTestStart);
      if (replayed) replay(record, false, kTestStart);
      const DeliveryState before = record.state;
      EXPECT_TRUE(settle(record, outcome(record, Outcome::kFailed, next), kTestStart));
      EXPECT_EQ(record.state, next == Next::kDelivered ? DeliveryState::kDelivered : before);
    }
  }
}

TEST(DeliveryRecord, ARearmKeepsTheReplayMarkAndTheKey) {
  DeliveryRecord record = new_delivery(kTestStart);
  replay(record, true, kTestStart);
  take_lease(record, seconds(30), kTestStart);
  settle(record, outcome(record, Outcome::kFailed, Next::kDead), kTestStart);
  EXPECT_TRUE(rearm(record, kTestStart + seconds(5)));
  EXPECT_TRUE(record.replay);
  EXPECT_EQ(record.new_key, 1);
  EXPECT_EQ(record.armed_at, kTestStart + seconds(5));
}

TEST(DeliveryRecord, AnEventIsPendingBeforeItIsDeadBeforeItIsDelivered) {
  const auto state_of = [](std::initializer_list<DeliveryState> states) {
    EventStateOf state;
    for (DeliveryState one : states) state.add(one);
    return state.value();
  };
  EXPECT_EQ(state_of({}), EventState::kDelivered);
  EXPECT_EQ(state_of({DeliveryState::kDelivered, DeliveryState::kDelivered}), EventState::kDelivered);
  EXPECT_EQ(state_of({DeliveryState::kDelivered, DeliveryState::kDead}), EventState::kDead);
  EXPECT_EQ(state_of({DeliveryState::kDead, DeliveryState::kPending}), EventState::kPending);
  EXPECT_EQ(state_of({DeliveryState::kInFlight, DeliveryState::kDead}), EventState::kPending);
}

}  // namespace
}  // namespace hookonce
