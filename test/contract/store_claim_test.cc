// How every store backend hands out deliveries and takes their outcomes.
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "test/contract/store_fixture.h"

namespace hookonce {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

class StoreClaim : public StoreFixture {};
INSTANTIATE_TEST_SUITE_P(Backends, StoreClaim, testing::ValuesIn(store_schemes()), scheme_name);

TEST_P(StoreClaim, ALeaseCarriesWhatTheSenderNeeds) {
  const EventId id = accept(NewEventBuilder().key("k").forwarded_trusted(true).build()).id;
  pass(seconds(1));
  const Lease taken = lease();
  EXPECT_EQ(taken.event, id);
  EXPECT_EQ(taken.destination, "backend");
  EXPECT_EQ(taken.attempt, 1);
  EXPECT_EQ(taken.counted, 1);
  EXPECT_EQ(taken.claimed_at, now_);
  EXPECT_EQ(taken.until, now_ + kLease);
  EXPECT_EQ(taken.armed_at, kTestStart);
  EXPECT_FALSE(taken.replay);
  EXPECT_EQ(taken.new_key, 0);
  EXPECT_EQ(taken.source, "shop");
  EXPECT_EQ(taken.type, "order.paid");
  EXPECT_EQ(taken.received_at, kTestStart);
  EXPECT_TRUE(taken.forwarded_trusted);
  EXPECT_EQ(*taken.body, "{\"paid\":true}");
  EXPECT_EQ(*taken.headers, (Headers{{"Content-Type", "application/json"}}));
}

TEST_P(StoreClaim, WhatIsLeasedIsNotLeasedAgain) {
  accept(NewEventBuilder().build());
  EXPECT_EQ(claim().leases.size(), 1u);
  EXPECT_EQ(claim().leases.size(), 0u);
}

TEST_P(StoreClaim, AClaimWithACommitSeesWhatThatLeavesAndHappensWithItOrNotAtAll) {
  if (!store_->claims_with_commit()) return;  // there the two go side by side, and nobody calls this
  const ClaimRequest request{{{"backend", 10, kLease, attempts_, std::chrono::hours(72), false}}};
  const auto first = events_of(NewEventBuilder().build()), second = events_of(NewEventBuilder().build());
  auto done = store_->commit_and_claim(first, {}, request, now_);
  ASSERT_OK(done);
  ASSERT_EQ(done->commit.accepts.size(), 1u);
  ASSERT_EQ(done->claimed.leases.size(), 1u);
  EXPECT_EQ(done->claimed.leases[0].event, first[0].id);

  // Of a transaction that cannot be, nothing happens: neither the settlement nor the claim of what it would put back.
  const std::vector<Settlement> released{release(done->claimed.leases[0])};
  EXPECT_EQ(store_->commit_and_claim(first, released, request, now_).code(), Code::kInternal);
  EXPECT_EQ(get(first[0].id).deliveries.at(0).state, DeliveryState::kInFlight);
  EXPECT_EQ(get(first[0].id).deliveries.at(0).attempts.size(), 1u);

  done = store_->commit_and_claim(second, released, request, now_);
  ASSERT_OK(done);
  EXPECT_TRUE(done->commit.settles.at(0).taken);
  ASSERT_EQ(done->claimed.leases.size(), 2u);
  for (const Lease& taken : done->claimed.leases) EXPECT_EQ(taken.attempt, taken.event == first[0].id ? 2 : 1);
}

TEST_P(StoreClaim, TheLongestDueGoFirstAndNeverMoreThanTheSlots) {
  std::vector<EventId> ids;
  for (int i = 0; i < 5; ++i) {
    ids.push_back(accept(NewEventBuilder().build()).id);
    pass(milliseconds(1));
  }
  const Claimed claimed = claim(3);
  ASSERT_EQ(claimed.leases.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(claimed.leases[i].event, ids[i]);
  EXPECT_EQ(claim(0).leases.size(), 0u);
}

TEST_P(StoreClaim, UnknownDestinationsAreLeftAlone) {
  accept(NewEventBuilder().to({"gone"}).build());
  EXPECT_TRUE(claim().leases.empty());
  EXPECT_EQ(store_->next_due({"backend"}, now_).value(), std::nullopt);
  EXPECT_EQ(store_->stats(now_)->pending_by_destination,
            (std::vector<std::pair<std::string, std::int64_t>>{{"gone", 1}}));
  EXPECT_EQ(claim(1, "gone").leases.size(), 1u);
}

TEST_P(StoreClaim, TwoDestinationsHaveTwoDeliveries) {
  const EventId id = accept(NewEventBuilder().to({"b", "a"}).build()).id;
  settle(success(lease("a")));
  EXPECT_EQ(get(id).summary.state, EventState::kPending);
  EXPECT_EQ(settle(success(lease("b"))).event_state, EventState::kDelivered);
  ASSERT_EQ(get(id).deliveries.size(), 2u);
  EXPECT_EQ(get(id).deliveries[0].destination, "a");
}

TEST_P(StoreClaim, ASuccessIsFinal) {
  const EventId id = accept(NewEventBuilder().build()).id;
  const SettleFacts facts = settle(success(lease()));
  EXPECT_TRUE(facts.taken);
  EXPECT_EQ(facts.event_state, EventState::kDelivered);
  pass(hours(100));
  EXPECT_TRUE(claim().leases.empty());
  const Delivery delivery = get(id).deliveries[0];
  EXPECT_EQ(delivery.state, DeliveryState::kDelivered);
  EXPECT_EQ(delivery.delivered_at, kTestStart);
  ASSERT_EQ(delivery.attempts.size(), 1u);
  EXPECT_EQ(delivery.attempts[0].outcome, Outcome::kSuccess);
  EXPECT_EQ(delivery.attempts[0].status, 200);
  EXPECT_EQ(delivery.attempts[0].response, "ok");
}

TEST_P(StoreClaim, ARetryIsDueAfterItsDelayWithTheNextNumber) {
  accept(NewEventBuilder().build());
  settle(failure(lease(), seconds(7)));
  EXPECT_EQ(store_->next_due({"backend"}, now_).value(), now_ + seconds(7));
  pass(seconds(7) - Duration(1));
  EXPECT_TRUE(claim().leases.empty());
  pass(Duration(1));
  const Lease again = lease();
  EXPECT_EQ(again.attempt, 2);
  EXPECT_EQ(again.counted, 2);
}

TEST_P(StoreClaim, ARetryWaitsBehindNobodyElse) {  // a poison event must not hold up those behind it
  accept(NewEventBuilder().build());
  const EventId healthy = accept(NewEventBuilder().build()).id;
  settle(failure(lease(), seconds(7)));
  EXPECT_EQ(lease().event, healthy);
}

TEST_P(StoreClaim, AReleasedAttemptKeepsItsNumberAndIsNotCounted) {
  const EventId id = accept(NewEventBuilder().build()).id;
  settle(release(lease()));
  const Lease again = lease();
  EXPECT_EQ(again.attempt, 2);
  EXPECT_EQ(again.counted, 1);
  EXPECT_EQ(get(id).deliveries[0].attempts[0].outcome, Outcome::kReleased);
}

TEST_P(StoreClaim, ADeadDeliveryMakesItsEventDead) {
  const EventId id = accept(NewEventBuilder().build()).id;
  EXPECT_EQ(settle(death(lease())).event_state, EventState::kDead);
  EXPECT_EQ(store_->stats(now_)->dead, 1);
  EXPECT_TRUE(claim().leases.empty());
  EXPECT_EQ(get(id).deliveries[0].state, DeliveryState::kDead);
}

TEST_P(StoreClaim, ALeaseThatRanOutIsTakenAnewAndShownAsUnknown) {
  const EventId id = accept(NewEventBuilder().build()).id;
  const Lease lost = lease();
  EXPECT_EQ(store_->next_due({"backend"}, now_).value(), now_ + kLease);
  pass(kLease - Duration(1));
  EXPECT_TRUE(claim().leases.empty());
  pass(Duration(1));
  EXPECT_EQ(lease().attempt, 2);
  const std::vector<Attempt> attempts = get(id).deliveries[0].attempts;
  ASSERT_EQ(attempts.size(), 2u);
  EXPECT_EQ(attempts[0].outcome, Outcome::kUnknown);
  EXPECT_EQ(attempts[0].started_at, lost.claimed_at);
  EXPECT_EQ(attempts[0].duration, std::nullopt);
  EXPECT_EQ(attempts[1].outcome, std::nullopt);
}

TEST_P(StoreClaim, ALateOutcomeOfTheNewestAttemptIsTaken) {
  accept(NewEventBuilder().build());
  const Lease late = lease();
  pass(kLease * 2);
  EXPECT_TRUE(settle(success(late)).taken);
  EXPECT_TRUE(claim().leases.empty());
}

TEST_P(StoreClaim, AnOutcomeOfAReplacedAttemptIsShownAndChangesNothing) {
  const EventId id = accept(NewEventBuilder().build()).id;
  const Lease first = lease();
  pass(kLease);
  const Lease second = lease();
  const SettleFacts facts = settle(death(first));
  EXPECT_FALSE(facts.taken);
  EXPECT_EQ(facts.event_state, EventState::kPending);
  EXPECT_EQ(get(id).deliveries[0].state, DeliveryState::kInFlight);
  EXPECT_EQ(get(id).deliveries[0].attempts[0].outcome, Outcome::kFailed);
  EXPECT_TRUE(settle(success(second)).taken);
}

TEST_P(StoreClaim, AnOutcomeIsTakenOnce) {
  const EventId id = accept(NewEventBuilder().build()).id;
  const Lease only = lease();
  EXPECT_TRUE(settle(success(only)).taken);
  EXPECT_FALSE(settle(death(only)).taken);
  EXPECT_EQ(get(id).summary.state, EventState::kDelivered);
  EXPECT_EQ(get(id).deliveries[0].attempts[0].outcome, Outcome::kSuccess);
}

// The committer repeats what it has no answer to.
TEST_P(StoreClaim, AnOutcomeWhoseCommitWasNotConfirmedIsTakenAgainAndChangesNothing) {
  using Make = Settlement (*)(const Lease&);
  const Make makes[] = {success, death, release, [](const Lease& lease) { return failure(lease, kLease); }};
  for (const Make make : makes) {
    const EventId id = accept(NewEventBuilder().build()).id;
    const Settlement outcome = make(lease());
    const SettleFacts first = settle(outcome);
    const EventDetail before = get(id);
    pass(std::chrono::milliseconds(1));
    const SettleFacts again = settle(outcome);
    EXPECT_TRUE(again.taken) << to_string(outcome.result.outcome);
    EXPECT_EQ(again.event_state, first.event_state);
    EXPECT_FALSE(again.freed);
    const EventDetail after = get(id);
    EXPECT_EQ(after.deliveries[0].state, before.deliveries[0].state);
    EXPECT_EQ(after.deliveries[0].attempts.size(), before.deliveries[0].attempts.size());
    EXPECT_EQ(after.deliveries[0].next_attempt_at, before.deliveries[0].next_attempt_at);
    if (outcome.next == Next::kRelease) settle(death(lease()));  // out of the next one's way
  }
}

TEST_P(StoreClaim, TheOutcomeOfAForeignEventIsNotTaken) {
  Lease nobody;
  nobody.event = EventId::make(now_);
  nobody.destination = "backend";
  nobody.attempt = 1;
  EXPECT_FALSE(settle(success(nobody)).taken);
}

TEST_P(StoreClaim, ADeliveryThatKillsItsSenderEndsAsDead) {
  attempts_ = 3;
  const EventId id = accept(NewEventBuilder().build()).id;
  for (int i = 1; i <= 3; ++i) {
    EXPECT_EQ(lease().attempt, i);
    pass(kLease);
  }
  const Claimed claimed = claim();
  EXPECT_TRUE(claimed.leases.empty());
  ASSERT_EQ(claimed.dead.size(), 1u);
  EXPECT_EQ(claimed.dead[0].event, id);
  EXPECT_EQ(claimed.dead[0].destination, "backend");
  EXPECT_EQ(get(id).summary.state, EventState::kDead);
  EXPECT_EQ(get(id).deliveries[0].attempts.size(), 3u);
}

TEST_P(StoreClaim, ALateSuccessEndsEvenABuriedDelivery) {
  attempts_ = 1;
  const EventId id = accept(NewEventBuilder().build()).id;
  const Lease late = lease();
  pass(kLease);
  ASSERT_EQ(claim().dead.size(), 1u);
  EXPECT_TRUE(settle(success(late)).taken);
  EXPECT_EQ(get(id).summary.state, EventState::kDelivered);
}

TEST_P(StoreClaim, ALateFailureDoesNotUndoAReplay) {
  attempts_ = 1;
  const EventId id = accept(NewEventBuilder().build()).id;
  const Lease late = lease();
  pass(kLease);
  ASSERT_EQ(claim().dead.size(), 1u);
  replay({.ids = {id}});
  settle(death(late));
  EXPECT_EQ(get(id).summary.state, EventState::kPending);
  EXPECT_EQ(lease().attempt, 2);
}

TEST_P(StoreClaim, BuryingOneLeavesItsSlotToOthers) {
  attempts_ = 1;
  for (int i = 0; i < 3; ++i) accept(NewEventBuilder().build());
  ASSERT_EQ(claim(3).leases.size(), 3u);
  pass(kLease);
  const EventId fresh = accept(NewEventBuilder().build()).id;
  const Claimed claimed = claim(1);
  EXPECT_EQ(claimed.dead.size(), 3u);
  ASSERT_EQ(claimed.leases.size(), 1u);
  EXPECT_EQ(claimed.leases[0].event, fresh);
}

TEST_P(StoreClaim, OnlyTheNewestAttemptsAreKept) {
  const EventId id = accept(NewEventBuilder().build()).id;
  for (int i = 0; i < kAttemptsShown + 5; ++i) settle(failure(lease(), Duration::zero()));
  const std::vector<Attempt> attempts = get(id).deliveries[0].attempts;
  ASSERT_EQ(attempts.size(), static_cast<std::size_t>(kAttemptsShown));
  EXPECT_EQ(attempts.front().number, 6);
  EXPECT_EQ(attempts.back().number, kAttemptsShown + 5);
}

TEST_P(StoreClaim, AnErrorPageIsNotKeptWhole) {
  const EventId id = accept(NewEventBuilder().build()).id;
  Settlement huge = failure(lease(), Duration::zero());
  huge.result.response = std::string(1 << 20, 'x');
  huge.result.error = std::string(1 << 20, 'y');
  EXPECT_TRUE(settle(huge).taken);
  EXPECT_EQ(get(id).deliveries[0].attempts[0].response.size(), kResponseKept);
  EXPECT_EQ(get(id).deliveries[0].attempts[0].error.size(), kErrorKept);
}

TEST_P(StoreClaim, NextDueIsNowForThePastAndNothingWhereNothingWaits) {
  EXPECT_EQ(store_->next_due({"backend"}, now_).value(), std::nullopt);
  accept(NewEventBuilder().build());
  pass(hours(1));
  EXPECT_EQ(store_->next_due({"backend", "other"}, now_).value(), now_);
}

}  // namespace
}  // namespace hookonce
