// The one suite that every store backend passes: what store/store.h promises, seen from outside.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <set>
#include <thread>

#include "test/contract/store_fixture.h"

namespace hookonce {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

class StoreContract : public StoreFixture {};
INSTANTIATE_TEST_SUITE_P(Backends, StoreContract, testing::ValuesIn(store_schemes()), scheme_name);

// --- accept

TEST_P(StoreContract, WhatGoesInComesOutByteForByte) {
  NewEventBuilder builder;
  const std::string bytes("\0\xff\xed\xa0\x80{", 6);
  Arrival arrival;
  arrival.at = now_ - milliseconds(3);
  arrival.remote = "2001:db8::1";
  arrival.retry = RetryHint{1, "http_timeout"};
  arrival.provider_time = now_ - seconds(1);
  arrival.secret = 2;
  const Headers headers{{"X-Empty", ""}, {"x-twice", "1"}, {"X-Twice", "2"}, {"X-Bytes", bytes}};
  NewEvent event = builder.key("evt_1").type(bytes).body(bytes + "body").headers(headers).ordering_key(bytes).build();
  const KeyHash hash = event.arrival.body_hash;
  arrival.body_hash = hash;
  event.arrival = arrival;
  const EventId id = event.id;
  const AcceptFacts facts = accept(std::move(event));
  EXPECT_EQ(facts.verdict, Verdict::kAccepted);
  EXPECT_EQ(facts.id, id);
  EXPECT_EQ(facts.first_at, now_);
  EXPECT_TRUE(facts.new_delivery);

  const EventDetail detail = get(id);
  EXPECT_EQ(detail.summary.source, "shop");
  EXPECT_EQ(detail.summary.type, bytes);
  EXPECT_EQ(detail.summary.key, "evt_1");
  EXPECT_EQ(detail.summary.size, bytes.size() + 4);
  EXPECT_EQ(detail.summary.received_at, now_);
  EXPECT_EQ(detail.summary.state, EventState::kPending);
  EXPECT_EQ(detail.body, bytes + "body");
  EXPECT_EQ(detail.headers, headers);
  EXPECT_EQ(detail.ordering_key, bytes);
  ASSERT_EQ(detail.arrivals.size(), 1u);
  EXPECT_EQ(detail.arrivals[0].arrival, arrival);
  ASSERT_EQ(detail.deliveries.size(), 1u);
  EXPECT_EQ(detail.deliveries[0].destination, "backend");
  EXPECT_EQ(detail.deliveries[0].next_attempt_at, now_);
}

TEST_P(StoreContract, AnEmptyBodyAndNoHeadersAreAnEvent) {
  NewEvent event = NewEventBuilder().body("").headers({}).type("").build();
  const EventId id = event.id;
  accept(std::move(event));
  EXPECT_EQ(get(id).body, "");
  EXPECT_TRUE(get(id).headers.items().empty());
  EXPECT_EQ(get(id).summary.key, std::nullopt);
}

TEST_P(StoreContract, AnUnknownIdIsNoEvent) {
  EXPECT_FALSE(store_->get(EventId::make(now_)).value().has_value());
}

TEST_P(StoreContract, AnEqualKeyIsADuplicateOfTheFirst) {
  const EventId first = accept(NewEventBuilder().key("k").build()).id;
  pass(seconds(5));
  const AcceptFacts facts = accept(NewEventBuilder().key("k").body("other").build());
  EXPECT_EQ(facts.verdict, Verdict::kDuplicate);
  EXPECT_EQ(facts.id, first);
  EXPECT_EQ(facts.first_at, kTestStart);
  EXPECT_FALSE(facts.same_body);
  EXPECT_FALSE(facts.new_delivery);
  const EventDetail detail = get(first);
  EXPECT_EQ(detail.summary.duplicates, 1);
  ASSERT_EQ(detail.arrivals.size(), 2u);
  EXPECT_EQ(detail.arrivals[1].verdict, Verdict::kDuplicate);
  EXPECT_FALSE(detail.arrivals[1].same_body);
  EXPECT_EQ(list().size(), 1u);
}

TEST_P(StoreContract, KeysOfTwoSourcesAreApart) {
  accept(NewEventBuilder().key("k").build());
  EXPECT_EQ(accept(NewEventBuilder().source("other").key("k").build()).verdict, Verdict::kAccepted);
}

TEST_P(StoreContract, EventsWithoutAKeyAreNeverDuplicates) {
  for (int i = 0; i < 3; ++i) EXPECT_EQ(accept(NewEventBuilder().build()).verdict, Verdict::kAccepted);
}

TEST_P(StoreContract, EqualKeysInOneBatchCountInItsOrder) {
  std::vector<NewEvent> events;
  for (int i = 0; i < 5; ++i) events.push_back(NewEventBuilder().key("k").build());
  const EventId first = events[0].id;
  const auto facts = store_->commit(events, {}, now_);
  ASSERT_OK(facts);
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(facts.value().accepts[i].verdict, i == 0 ? Verdict::kAccepted : Verdict::kDuplicate);
    EXPECT_EQ(facts.value().accepts[i].id, first);
  }
}

TEST_P(StoreContract, TheWindowRunsFromTheFirstArrivalAndDuplicatesDoNotProlongIt) {
  const EventId first = accept(NewEventBuilder().key("k").window(seconds(10)).build()).id;
  pass(seconds(10) - Duration(1));
  EXPECT_EQ(accept(NewEventBuilder().key("k").window(seconds(10)).build()).id, first);
  pass(Duration(1));
  const AcceptFacts again = accept(NewEventBuilder().key("k").window(seconds(10)).build());
  EXPECT_EQ(again.verdict, Verdict::kAccepted);
  EXPECT_EQ(accept(NewEventBuilder().key("k").build()).id, again.id);
}

TEST_P(StoreContract, AnExpiredKeyHasExactlyOneNewWinnerInABatch) {
  accept(NewEventBuilder().key("k").window(seconds(1)).build());
  pass(seconds(2));
  std::vector<NewEvent> events;
  for (int i = 0; i < 4; ++i) events.push_back(NewEventBuilder().key("k").build());
  const auto facts = store_->commit(events, {}, now_);
  ASSERT_OK(facts);
  EXPECT_EQ(facts.value().accepts[0].verdict, Verdict::kAccepted);
  for (std::size_t i = 1; i < 4; ++i) EXPECT_EQ(facts.value().accepts[i].id, events[0].id);
}

TEST_P(StoreContract, AHitOnAnyKeyIsADuplicateAndTheMissingKeysJoinTheOldest) {
  const EventId first = accept(NewEventBuilder().key("a").also("x").build()).id;
  const AcceptFacts hit = accept(NewEventBuilder().key("b").also("x").build());
  EXPECT_EQ(hit.verdict, Verdict::kDuplicate);
  EXPECT_EQ(hit.id, first);
  EXPECT_EQ(accept(NewEventBuilder().key("b").build()).id, first);
}

TEST_P(StoreContract, AddedKeysEndWithTheWindowOfTheEventTheyJoined) {
  accept(NewEventBuilder().key("a").also("x").window(seconds(10)).build());
  pass(seconds(9));
  accept(NewEventBuilder().key("b").also("x").window(hours(1)).build());
  pass(seconds(1));
  EXPECT_EQ(accept(NewEventBuilder().key("b").build()).verdict, Verdict::kAccepted);
}

TEST_P(StoreContract, AmongSeveralHitsTheOldestCounts) {
  const EventId oldest = accept(NewEventBuilder().key("a").build()).id;
  accept(NewEventBuilder().also("x").build());
  EXPECT_EQ(accept(NewEventBuilder().also("x").key("a").build()).id, oldest);
}

TEST_P(StoreContract, EachKeyRuleAcceptsWhileOneKeyIsNew) {
  const EventId first = accept(NewEventBuilder().also("1").also("2").rule(KeyRule::kEach).build()).id;
  const AcceptFacts mixed = accept(NewEventBuilder().also("2").also("3").rule(KeyRule::kEach).build());
  EXPECT_EQ(mixed.verdict, Verdict::kAccepted);
  EXPECT_EQ(accept(NewEventBuilder().also("2").rule(KeyRule::kEach).build()).id, first);
  EXPECT_EQ(accept(NewEventBuilder().also("3").rule(KeyRule::kEach).build()).id, mixed.id);
}

TEST_P(StoreContract, AKeyThatOneBodyRepeatsDoesNotMeetItself) {
  EXPECT_EQ(accept(NewEventBuilder().also("1").also("1").build()).verdict, Verdict::kAccepted);
}

TEST_P(StoreContract, ArrivalsBeyondTheLimitAreCountedOnly) {
  const EventId id = accept(NewEventBuilder().key("k").build()).id;
  std::vector<NewEvent> events;
  for (int i = 0; i < kArrivalsMax + 20; ++i) events.push_back(NewEventBuilder().key("k").build());
  ASSERT_OK(store_->commit(events, {}, now_));
  EXPECT_EQ(get(id).summary.duplicates, kArrivalsMax + 20);
  EXPECT_EQ(get(id).arrivals.size(), static_cast<std::size_t>(kArrivalsMax));
}

TEST_P(StoreContract, AnEventWithoutDestinationsCountsAsDelivered) {
  const AcceptFacts facts = accept(NewEventBuilder().to({}).build());
  EXPECT_FALSE(facts.new_delivery);
  EXPECT_EQ(get(facts.id).summary.state, EventState::kDelivered);
}

TEST_P(StoreContract, ABatchThatCannotBeStoredLeavesNothingBehind) {
  NewEvent first = NewEventBuilder().key("a").build();
  const EventId taken = first.id;
  accept(std::move(first));
  std::vector<NewEvent> events;
  events.push_back(NewEventBuilder().source("new").key("b").to({"new"}).build());
  events.push_back(NewEventBuilder().id(taken).key("c").build());
  EXPECT_EQ(store_->commit(events, {}, now_).code(), Code::kInternal);
  EXPECT_OK(store_->health());
  EXPECT_EQ(list(), std::vector<EventId>{taken});
  EXPECT_EQ(accept(NewEventBuilder().source("new").key("b").to({"new"}).build()).verdict, Verdict::kAccepted);
  EXPECT_EQ(claim(10, "new").leases.size(), 1u);
}

// --- claim and settle

TEST_P(StoreContract, ALeaseCarriesWhatTheSenderNeeds) {
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

TEST_P(StoreContract, WhatIsLeasedIsNotLeasedAgain) {
  accept(NewEventBuilder().build());
  EXPECT_EQ(claim().leases.size(), 1u);
  EXPECT_EQ(claim().leases.size(), 0u);
}

TEST_P(StoreContract, TheLongestDueGoFirstAndNeverMoreThanTheSlots) {
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

TEST_P(StoreContract, UnknownDestinationsAreLeftAlone) {
  accept(NewEventBuilder().to({"gone"}).build());
  EXPECT_TRUE(claim().leases.empty());
  EXPECT_EQ(store_->next_due({"backend"}, now_).value(), std::nullopt);
  EXPECT_EQ(store_->stats(now_)->pending_by_destination,
            (std::vector<std::pair<std::string, std::int64_t>>{{"gone", 1}}));
  EXPECT_EQ(claim(1, "gone").leases.size(), 1u);
}

TEST_P(StoreContract, TwoDestinationsHaveTwoDeliveries) {
  const EventId id = accept(NewEventBuilder().to({"b", "a"}).build()).id;
  settle(success(lease("a")));
  EXPECT_EQ(get(id).summary.state, EventState::kPending);
  EXPECT_EQ(settle(success(lease("b"))).event_state, EventState::kDelivered);
  ASSERT_EQ(get(id).deliveries.size(), 2u);
  EXPECT_EQ(get(id).deliveries[0].destination, "a");
}

TEST_P(StoreContract, ASuccessIsFinal) {
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

TEST_P(StoreContract, ARetryIsDueAfterItsDelayWithTheNextNumber) {
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

TEST_P(StoreContract, ARetryWaitsBehindNobodyElse) {  // a poison event must not hold up those behind it
  accept(NewEventBuilder().build());
  const EventId healthy = accept(NewEventBuilder().build()).id;
  settle(failure(lease(), seconds(7)));
  EXPECT_EQ(lease().event, healthy);
}

TEST_P(StoreContract, AReleasedAttemptKeepsItsNumberAndIsNotCounted) {
  const EventId id = accept(NewEventBuilder().build()).id;
  settle(release(lease()));
  const Lease again = lease();
  EXPECT_EQ(again.attempt, 2);
  EXPECT_EQ(again.counted, 1);
  EXPECT_EQ(get(id).deliveries[0].attempts[0].outcome, Outcome::kReleased);
}

TEST_P(StoreContract, ADeadDeliveryMakesItsEventDead) {
  const EventId id = accept(NewEventBuilder().build()).id;
  EXPECT_EQ(settle(death(lease())).event_state, EventState::kDead);
  EXPECT_EQ(store_->stats(now_)->dead, 1);
  EXPECT_TRUE(claim().leases.empty());
  EXPECT_EQ(get(id).deliveries[0].state, DeliveryState::kDead);
}

TEST_P(StoreContract, ALeaseThatRanOutIsTakenAnewAndShownAsUnknown) {
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

TEST_P(StoreContract, ALateOutcomeOfTheNewestAttemptIsTaken) {
  accept(NewEventBuilder().build());
  const Lease late = lease();
  pass(kLease * 2);
  EXPECT_TRUE(settle(success(late)).taken);
  EXPECT_TRUE(claim().leases.empty());
}

TEST_P(StoreContract, AnOutcomeOfAReplacedAttemptIsShownAndChangesNothing) {
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

TEST_P(StoreContract, AnOutcomeIsTakenOnce) {
  const EventId id = accept(NewEventBuilder().build()).id;
  const Lease only = lease();
  EXPECT_TRUE(settle(success(only)).taken);
  EXPECT_FALSE(settle(death(only)).taken);
  EXPECT_EQ(get(id).summary.state, EventState::kDelivered);
  EXPECT_EQ(get(id).deliveries[0].attempts[0].outcome, Outcome::kSuccess);
}

TEST_P(StoreContract, TheOutcomeOfAForeignEventIsNotTaken) {
  Lease nobody;
  nobody.event = EventId::make(now_);
  nobody.destination = "backend";
  nobody.attempt = 1;
  EXPECT_FALSE(settle(success(nobody)).taken);
}

TEST_P(StoreContract, ADeliveryThatKillsItsSenderEndsAsDead) {
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

TEST_P(StoreContract, ALateSuccessEndsEvenABuriedDelivery) {
  attempts_ = 1;
  const EventId id = accept(NewEventBuilder().build()).id;
  const Lease late = lease();
  pass(kLease);
  ASSERT_EQ(claim().dead.size(), 1u);
  EXPECT_TRUE(settle(success(late)).taken);
  EXPECT_EQ(get(id).summary.state, EventState::kDelivered);
}

TEST_P(StoreContract, ALateFailureDoesNotUndoAReplay) {
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

TEST_P(StoreContract, BuryingOneLeavesItsSlotToOthers) {
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

TEST_P(StoreContract, OnlyTheNewestAttemptsAreKept) {
  const EventId id = accept(NewEventBuilder().build()).id;
  for (int i = 0; i < kAttemptsShown + 5; ++i) settle(failure(lease(), Duration::zero()));
  const std::vector<Attempt> attempts = get(id).deliveries[0].attempts;
  ASSERT_EQ(attempts.size(), static_cast<std::size_t>(kAttemptsShown));
  EXPECT_EQ(attempts.front().number, 6);
  EXPECT_EQ(attempts.back().number, kAttemptsShown + 5);
}

TEST_P(StoreContract, AnErrorPageIsNotKeptWhole) {
  const EventId id = accept(NewEventBuilder().build()).id;
  Settlement huge = failure(lease(), Duration::zero());
  huge.result.response = std::string(1 << 20, 'x');
  huge.result.error = std::string(1 << 20, 'y');
  EXPECT_TRUE(settle(huge).taken);
  EXPECT_EQ(get(id).deliveries[0].attempts[0].response.size(), kResponseKept);
  EXPECT_EQ(get(id).deliveries[0].attempts[0].error.size(), kResponseKept);
}

TEST_P(StoreContract, NextDueIsNowForThePastAndNothingWhereNothingWaits) {
  EXPECT_EQ(store_->next_due({"backend"}, now_).value(), std::nullopt);
  accept(NewEventBuilder().build());
  pass(hours(1));
  EXPECT_EQ(store_->next_due({"backend", "other"}, now_).value(), now_);
}

// --- rearm and replay

TEST_P(StoreContract, AResendRearmsADeadDeliveryOnce) {
  const EventId id = accept(NewEventBuilder().key("k").build()).id;
  settle(death(lease()));
  pass(seconds(9));
  std::vector<NewEvent> events;
  for (int i = 0; i < 3; ++i) events.push_back(NewEventBuilder().key("k").build());
  const auto facts = store_->commit(events, {}, now_);
  ASSERT_OK(facts);
  EXPECT_EQ(facts.value().accepts[0].verdict, Verdict::kRearmed);
  EXPECT_TRUE(facts.value().accepts[0].new_delivery);
  EXPECT_EQ(facts.value().accepts[1].verdict, Verdict::kDuplicate);
  EXPECT_EQ(get(id).arrivals[1].verdict, Verdict::kRearmed);
  const Lease again = lease();
  EXPECT_EQ(again.attempt, 2);
  EXPECT_EQ(again.counted, 1);
  EXPECT_EQ(again.armed_at, now_);
  EXPECT_FALSE(again.replay);
}

TEST_P(StoreContract, RearmCanBeOff) {
  accept(NewEventBuilder().key("k").build());
  settle(death(lease()));
  EXPECT_EQ(accept(NewEventBuilder().key("k").rearm(false).build()).verdict, Verdict::kDuplicate);
  EXPECT_TRUE(claim().leases.empty());
}

TEST_P(StoreContract, WhatEverSucceededIsNeverRearmed) {
  const EventId id = accept(NewEventBuilder().key("k").build()).id;
  settle(success(lease()));
  replay({.ids = {id}});
  settle(death(lease()));
  EXPECT_EQ(accept(NewEventBuilder().key("k").build()).verdict, Verdict::kDuplicate);
  EXPECT_TRUE(claim().leases.empty());
}

TEST_P(StoreContract, ReplayPutsBackDeliveredAndDeadWithAFreshPolicy) {
  const EventId id = accept(NewEventBuilder().build()).id;
  settle(success(lease()));
  pass(seconds(3));
  const Replayed replayed = replay({.ids = {id}});
  ASSERT_EQ(replayed.deliveries.size(), 1u);
  EXPECT_EQ(replayed.deliveries[0].before, DeliveryState::kDelivered);
  EXPECT_EQ(get(id).summary.state, EventState::kPending);
  const Lease again = lease();
  EXPECT_EQ(again.attempt, 2);
  EXPECT_EQ(again.counted, 1);
  EXPECT_EQ(again.armed_at, now_);
  EXPECT_TRUE(again.replay);
  EXPECT_EQ(again.new_key, 0);
}

TEST_P(StoreContract, ReplayOfAPendingDeliveryMakesItDueNow) {
  const EventId id = accept(NewEventBuilder().build()).id;
  settle(failure(lease(), hours(1)));
  EXPECT_EQ(replay({.ids = {id}}).deliveries[0].before, DeliveryState::kPending);
  EXPECT_EQ(lease().counted, 1);
}

TEST_P(StoreContract, ReplayOfWhatIsInFlightChangesNothingAndIsListed) {
  const EventId id = accept(NewEventBuilder().build()).id;
  const Lease running = lease();
  const Replayed replayed = replay({.ids = {id}, .new_key = true});
  ASSERT_EQ(replayed.deliveries.size(), 1u);
  EXPECT_EQ(replayed.deliveries[0].before, DeliveryState::kInFlight);
  EXPECT_TRUE(claim().leases.empty());
  EXPECT_TRUE(settle(failure(running, Duration::zero())).taken);
  EXPECT_FALSE(lease().replay);
}

TEST_P(StoreContract, NewKeysCountUpPerDeliveryAndAPlainReplayGoesBackToTheEventId) {
  const EventId id = accept(NewEventBuilder().build()).id;
  for (int n : {1, 2}) {
    replay({.ids = {id}, .new_key = true});
    const Lease again = lease();
    EXPECT_EQ(again.new_key, n);
    EXPECT_EQ(again.idempotency_key(), id.text() + "." + std::to_string(n));
    settle(success(again));
  }
  replay({.ids = {id}});
  settle(success(lease()));
  replay({.ids = {id}, .new_key = true});
  EXPECT_EQ(lease().new_key, 3);
}

TEST_P(StoreContract, ReplayOfAnUnknownIdDoesNothingAtAll) {
  const EventId id = accept(NewEventBuilder().build()).id;
  settle(success(lease()));
  EXPECT_EQ(store_->replay({.ids = {id, EventId::make(now_)}}, now_).code(), Code::kNotFound);
  EXPECT_TRUE(claim().leases.empty());
}

TEST_P(StoreContract, ReplayNarrowsToOneDestinationAndToDeadDeliveries) {
  const EventId id = accept(NewEventBuilder().to({"a", "b"}).build()).id;
  settle(success(lease("a")));
  settle(death(lease("b")));
  EXPECT_EQ(replay({.ids = {id}, .destination = "none"}).deliveries.size(), 0u);
  const Replayed dead = replay({.dead_only = true});
  ASSERT_EQ(dead.deliveries.size(), 1u);
  EXPECT_EQ(dead.deliveries[0].destination, "b");
  EXPECT_TRUE(claim(1, "a").leases.empty());
  settle(death(lease("b")));
  EXPECT_EQ(replay({.ids = {id}, .destination = "a"}).deliveries.size(), 1u);
  EXPECT_TRUE(claim(1, "b").leases.empty());
  EXPECT_EQ(claim(1, "a").leases.size(), 1u);
}

TEST_P(StoreContract, DeadDeliveriesOfAPendingEventAreFoundForReplay) {
  accept(NewEventBuilder().to({"a", "b"}).build());
  settle(death(lease("a")));
  EXPECT_EQ(replay({.dead_only = true, .dry_run = true}).deliveries.size(), 1u);
}

TEST_P(StoreContract, ADryRunCountsAndChangesNothing) {
  const EventId id = accept(NewEventBuilder().build()).id;
  settle(death(lease()));
  EXPECT_EQ(replay({.dead_only = true, .dry_run = true}).deliveries.size(), 1u);
  EXPECT_EQ(replay({.ids = {id}, .destination = "new", .create_missing = true, .dry_run = true}).deliveries.size(), 1u);
  EXPECT_EQ(get(id).deliveries.size(), 1u);
  EXPECT_TRUE(claim().leases.empty());
}

TEST_P(StoreContract, ReplayMakesADeliveryToANewDestination) {
  const EventId id = accept(NewEventBuilder().build()).id;
  EXPECT_EQ(replay({.ids = {id}, .destination = "late"}).deliveries.size(), 0u);
  EXPECT_EQ(replay({.ids = {id}, .destination = "late", .create_missing = true}).deliveries.size(), 1u);
  const Lease first = lease("late");
  EXPECT_EQ(first.attempt, 1);
  EXPECT_TRUE(first.replay);
}

TEST_P(StoreContract, ReplayByFilterGoesOnWithItsCursor) {
  std::vector<NewEvent> events;
  for (int i = 0; i < kListMax + 3; ++i)
    events.push_back(NewEventBuilder().type(i % 100 == 0 ? "rare" : "usual").build());
  ASSERT_OK(store_->commit(events, {}, now_));
  ReplayRequest request;
  request.filter.source = "shop";
  const Replayed first = replay(request);
  EXPECT_EQ(first.deliveries.size(), static_cast<std::size_t>(kListMax));
  EXPECT_EQ(first.deliveries[0].event, events.back().id);
  ASSERT_TRUE(first.next.has_value());
  request.cursor = first.next;
  const Replayed rest = replay(request);
  EXPECT_EQ(rest.deliveries.size(), 3u);
  EXPECT_FALSE(rest.next.has_value());
  EXPECT_EQ(replay({.filter = {.type = "rare"}, .dry_run = true}).deliveries.size(), 6u);
}

// --- list and stats

TEST_P(StoreContract, ListsAreNewestFirstAndPageWithoutGapsUnderInserts) {
  std::vector<EventId> ids;
  for (int i = 0; i < 10; ++i) ids.push_back(accept(NewEventBuilder().build()).id);  // all of one instant
  std::reverse(ids.begin(), ids.end());
  std::vector<EventId> seen;
  std::optional<std::string> cursor;
  do {
    const auto page = store_->list({}, 3, cursor);
    ASSERT_OK(page);
    for (const EventSummary& item : page.value().items) seen.push_back(item.id);
    cursor = page.value().next;
    accept(NewEventBuilder().build());
  } while (cursor);
  EXPECT_EQ(seen, ids);
}

TEST_P(StoreContract, TheLastPageHasNoCursor) {
  for (int i = 0; i < 4; ++i) accept(NewEventBuilder().build());
  const auto first = store_->list({}, 2, std::nullopt);
  ASSERT_TRUE(first.value().next.has_value());
  EXPECT_FALSE(store_->list({}, 2, first.value().next).value().next.has_value());
}

TEST_P(StoreContract, AForeignCursorIsInvalid) {
  for (const char* text : {"x", "-1", "", "1 "}) EXPECT_EQ(store_->list({}, 1, text).code(), Code::kInvalid) << text;
}

TEST_P(StoreContract, FiltersNarrowByFieldsAndTime) {
  const EventId a = accept(NewEventBuilder().key("k1").build()).id;
  pass(seconds(1));
  const EventId b = accept(NewEventBuilder().source("other").type("t2").key("k2").build()).id;
  EXPECT_EQ(list({.source = "other"}), std::vector<EventId>{b});
  EXPECT_EQ(list({.type = "order.paid"}), std::vector<EventId>{a});
  EXPECT_EQ(list({.type = "order"}), std::vector<EventId>{});
  EXPECT_EQ(list({.source = "nobody"}), std::vector<EventId>{});
  EXPECT_EQ(list({.since = now_}), std::vector<EventId>{b});
  EXPECT_EQ(list({.until = now_}), std::vector<EventId>{a});
  EXPECT_EQ(list({.source = "shop", .type = "t2"}), std::vector<EventId>{});
}

TEST_P(StoreContract, StatesFilterTheList) {
  const EventId done = accept(NewEventBuilder().build()).id;
  settle(success(lease()));
  const EventId dead = accept(NewEventBuilder().build()).id;
  settle(death(lease()));
  const EventId mixed = accept(NewEventBuilder().to({"a", "b"}).build()).id;
  settle(death(lease("a")));
  const EventId nowhere = accept(NewEventBuilder().to({}).build()).id;
  EXPECT_EQ(list({.state = EventState::kPending}), std::vector<EventId>{mixed});
  EXPECT_EQ(list({.state = EventState::kDead}), std::vector<EventId>{dead});
  EXPECT_EQ(list({.state = EventState::kDelivered}), (std::vector<EventId>{nowhere, done}));
}

TEST_P(StoreContract, AKeyFindsEveryEventThatIsShownWithIt) {
  std::vector<EventId> ids;
  for (int i = 0; i < 3; ++i) {  // the window ends in between, so each is an event of its own
    ids.push_back(accept(NewEventBuilder().key("k").window(seconds(1)).build()).id);
    pass(seconds(1));
  }
  ids.push_back(accept(NewEventBuilder().source("other").key("k").build()).id);
  accept(NewEventBuilder().key("K").build());
  std::reverse(ids.begin(), ids.end());
  EXPECT_EQ(list({.key = "k"}), ids);
  EXPECT_EQ(list({.source = "other", .key = "k"}), std::vector<EventId>{ids[0]});
  EXPECT_EQ(list({.key = "none"}), std::vector<EventId>{});
  std::vector<EventId> paged;
  std::optional<std::string> cursor;
  do {
    const auto page = store_->list({.key = "k"}, 1, cursor);
    ASSERT_OK(page);
    for (const EventSummary& item : page.value().items) paged.push_back(item.id);
    cursor = page.value().next;
  } while (cursor);
  EXPECT_EQ(paged, ids);
}

TEST_P(StoreContract, AKeyOfTwoSourcesPagesThroughBoth) {
  std::vector<EventId> ids;
  for (int i = 0; i < 3; ++i) {
    for (const char* source : {"shop", "other"}) {
      ids.insert(ids.begin(), accept(NewEventBuilder().source(source).key("k").window(seconds(1)).build()).id);
    }
    pass(seconds(1));
  }
  std::vector<EventId> paged;
  std::optional<std::string> cursor;
  do {
    const auto page = store_->list({.key = "k"}, 1, cursor);
    ASSERT_OK(page);
    for (const EventSummary& item : page.value().items) paged.push_back(item.id);
    cursor = page.value().next;
  } while (cursor);
  EXPECT_EQ(paged, ids);
}

TEST_P(StoreContract, TheQueryIsDataAndIgnoresLetterCase) {
  const EventId a = accept(NewEventBuilder().key("evt_100%").body("Hello World").build()).id;
  const EventId b = accept(NewEventBuilder().key("evt_1000").body(std::string("nul\0Needle", 10)).build()).id;
  EXPECT_EQ(list({.query = "hello w"}), std::vector<EventId>{a});
  EXPECT_EQ(list({.query = "100%"}), std::vector<EventId>{a});
  EXPECT_EQ(list({.query = "t_1_0"}), std::vector<EventId>{});
  EXPECT_EQ(list({.query = "needle"}), std::vector<EventId>{b});
  EXPECT_EQ(list({.query = "' OR 1=1 --"}), std::vector<EventId>{});
  EXPECT_EQ(list({.query = "ORDER.paid"}), (std::vector<EventId>{b, a}));
  EXPECT_EQ(list({.query = a.text().substr(20)}), std::vector<EventId>{a});
}

TEST_P(StoreContract, StatsCountDeliveriesByState) {
  accept(NewEventBuilder().to({"a", "b"}).build());
  pass(seconds(5));
  accept(NewEventBuilder().to({"a"}).build());
  lease("a");
  settle(death(lease("b")));
  const auto stats = store_->stats(now_);
  ASSERT_OK(stats);
  EXPECT_EQ(stats.value().events, 2);
  EXPECT_EQ(stats.value().pending, 1);
  EXPECT_EQ(stats.value().in_flight, 1);
  EXPECT_EQ(stats.value().dead, 1);
  EXPECT_EQ(stats.value().oldest_pending, now_);
  EXPECT_EQ(stats.value().pending_by_destination, (std::vector<std::pair<std::string, std::int64_t>>{{"a", 2}}));
}

// --- retention

TEST_P(StoreContract, RetentionCountsFromTheEndOfTheLastDelivery) {
  const EventId id = accept(NewEventBuilder().to({"a", "b"}).window(seconds(1)).build()).id;
  settle(success(lease("a")));
  pass(hours(2));
  ASSERT_OK(store_->prune({.events_before = now_, .keys_now = now_}));
  ASSERT_EQ(list(), std::vector<EventId>{id}) << "a pending event is never pruned";
  settle(death(lease("b")));
  ASSERT_OK(store_->prune({.events_before = now_, .keys_now = now_}));
  EXPECT_EQ(list(), std::vector<EventId>{id});
  pass(Duration(1));
  ASSERT_OK(store_->prune({.events_before = now_, .keys_now = now_}));
  EXPECT_EQ(list(), std::vector<EventId>{});
  EXPECT_FALSE(store_->get(id).value().has_value());
  EXPECT_EQ(store_->stats(now_)->dead, 0);
}

TEST_P(StoreContract, PruningAnEventDoesNotFreeItsKey) {
  const EventId id = accept(NewEventBuilder().key("k").also("x").window(hours(10)).build()).id;
  settle(success(lease()));
  pass(hours(1));
  ASSERT_OK(store_->prune({.events_before = now_, .keys_now = now_}));
  EXPECT_EQ(list(), std::vector<EventId>{});
  const AcceptFacts facts = accept(NewEventBuilder().key("k").also("y").build());
  EXPECT_EQ(facts.verdict, Verdict::kDuplicate);
  EXPECT_EQ(facts.id, id);
  EXPECT_EQ(facts.first_at, kTestStart);
  EXPECT_TRUE(facts.same_body);
  EXPECT_EQ(accept(NewEventBuilder().also("y").build()).id, id) << "a missing key joins a pruned event too";
  pass(hours(9));
  EXPECT_EQ(accept(NewEventBuilder().key("k").build()).verdict, Verdict::kAccepted);
}

TEST_P(StoreContract, PruningKeysDecidesNothing) {
  accept(NewEventBuilder().key("k").window(hours(1)).build());
  settle(success(lease()));
  pass(hours(1));
  ASSERT_OK(store_->prune({.events_before = now_, .keys_now = now_}));
  ASSERT_OK(store_->prune({.events_before = now_, .keys_now = now_}));
  const EventId second = accept(NewEventBuilder().key("k").window(hours(1)).build()).id;
  EXPECT_EQ(list({.key = "k"}), std::vector<EventId>{second});
}

TEST_P(StoreContract, AKeyStillFindsAnOlderEventWhenItsNewerHolderIsPruned) {
  const EventId pending = accept(NewEventBuilder().key("k").to({"paused"}).window(seconds(1)).build()).id;
  std::vector<EventId> kept{pending};
  for (int i = 0; i < 3; ++i) {
    pass(seconds(1));
    const EventId id =
        accept(NewEventBuilder().key("k").to({i == 1 ? "paused" : "backend"}).window(seconds(1)).build()).id;
    if (i == 1) kept.insert(kept.begin(), id);
    if (i != 1) settle(success(lease()));
  }
  pass(seconds(2));
  ASSERT_OK(store_->prune({.events_before = now_, .keys_now = now_}));
  EXPECT_EQ(list({.key = "k"}), kept);
  const EventId newest = accept(NewEventBuilder().key("k").to({"paused"}).build()).id;
  kept.insert(kept.begin(), newest);
  EXPECT_EQ(list({.key = "k"}), kept);
}

TEST_P(StoreContract, OnePruneRemovesNoMoreThanItsLimitAndTheNextGoesOn) {
  std::vector<NewEvent> events;
  for (int i = 0; i < 30; ++i) events.push_back(NewEventBuilder().to({}).build());
  ASSERT_OK(store_->commit(events, {}, now_));
  pass(hours(1));
  for (std::size_t left : {20u, 10u, 0u}) {
    EXPECT_EQ(store_->prune({.events_before = now_, .keys_now = now_, .limit = 10}).value(), 10);
    EXPECT_EQ(list().size(), left);
  }
  EXPECT_EQ(store_->prune({.events_before = now_, .keys_now = now_, .limit = 10}).value(), 0);
}

// --- threads

TEST_P(StoreContract, OfConcurrentEqualArrivalsOneIsTheEvent) {
  constexpr int kThreads = 4;
  constexpr int kKeys = 40;
  std::atomic<int> accepted{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < kKeys; ++i) {
        const auto facts = store_->commit(events_of(NewEventBuilder().key(std::to_string(i)).build()), {}, now_);
        if (facts.ok() && facts.value().accepts[0].verdict == Verdict::kAccepted) ++accepted;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(accepted, kKeys);
  EXPECT_EQ(list().size(), static_cast<std::size_t>(kKeys));
}

TEST_P(StoreContract, ConcurrentClaimsNeverShareADelivery) {
  std::vector<NewEvent> events;
  for (int i = 0; i < 60; ++i) events.push_back(NewEventBuilder().build());
  ASSERT_OK(store_->commit(events, {}, now_));
  std::vector<std::vector<EventId>> taken(4);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < taken.size(); ++t) {
    threads.emplace_back([&, t] {
      while (true) {
        const auto claimed = store_->claim({{{"backend", 2, kLease, 20, hours(72)}}}, now_);
        if (!claimed.ok() || claimed.value().leases.empty()) return;
        for (const Lease& lease : claimed.value().leases) taken[t].push_back(lease.event);
        if (!store_->list({}, 10, std::nullopt).ok()) return;  // readers beside it
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::set<EventId> all;
  std::size_t count = 0;
  for (const auto& part : taken) {
    count += part.size();
    all.insert(part.begin(), part.end());
  }
  EXPECT_EQ(count, 60u);
  EXPECT_EQ(all.size(), 60u);
}

}  // namespace
}  // namespace hookonce
