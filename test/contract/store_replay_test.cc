// How every store backend makes deliveries pending again, for a provider's resend or a person's replay.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "test/contract/store_fixture.h"

namespace hookonce {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

class StoreReplay : public StoreFixture {};
INSTANTIATE_TEST_SUITE_P(Backends, StoreReplay, testing::ValuesIn(store_schemes()), scheme_name);

TEST_P(StoreReplay, AResendRearmsADeadDeliveryOnce) {
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

TEST_P(StoreReplay, RearmCanBeOff) {
  accept(NewEventBuilder().key("k").build());
  settle(death(lease()));
  EXPECT_EQ(accept(NewEventBuilder().key("k").rearm(false).build()).verdict, Verdict::kDuplicate);
  EXPECT_TRUE(claim().leases.empty());
}

TEST_P(StoreReplay, WhatEverSucceededIsNeverRearmed) {
  const EventId id = accept(NewEventBuilder().key("k").build()).id;
  settle(success(lease()));
  replay({.ids = {id}});
  settle(death(lease()));
  EXPECT_EQ(accept(NewEventBuilder().key("k").build()).verdict, Verdict::kDuplicate);
  EXPECT_TRUE(claim().leases.empty());
}

TEST_P(StoreReplay, ReplayPutsBackDeliveredAndDeadWithAFreshPolicy) {
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

TEST_P(StoreReplay, ReplayOfAPendingDeliveryMakesItDueNow) {
  const EventId id = accept(NewEventBuilder().build()).id;
  settle(failure(lease(), hours(1)));
  EXPECT_EQ(replay({.ids = {id}}).deliveries[0].before, DeliveryState::kPending);
  EXPECT_EQ(lease().counted, 1);
}

TEST_P(StoreReplay, ReplayOfWhatIsInFlightChangesNothingAndIsListed) {
  const EventId id = accept(NewEventBuilder().build()).id;
  const Lease running = lease();
  const Replayed replayed = replay({.ids = {id}, .new_key = true});
  ASSERT_EQ(replayed.deliveries.size(), 1u);
  EXPECT_EQ(replayed.deliveries[0].before, DeliveryState::kInFlight);
  EXPECT_TRUE(claim().leases.empty());
  EXPECT_TRUE(settle(failure(running, Duration::zero())).taken);
  EXPECT_FALSE(lease().replay);
}

TEST_P(StoreReplay, NewKeysCountUpPerDeliveryAndAPlainReplayGoesBackToTheEventId) {
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

TEST_P(StoreReplay, ReplayOfAnUnknownIdDoesNothingAtAll) {
  const EventId id = accept(NewEventBuilder().build()).id;
  settle(success(lease()));
  EXPECT_EQ(store_->replay({.ids = {id, EventId::make(now_)}}, now_).code(), Code::kNotFound);
  EXPECT_TRUE(claim().leases.empty());
}

TEST_P(StoreReplay, ReplayNarrowsToOneDestinationAndToDeadDeliveries) {
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

TEST_P(StoreReplay, DeadDeliveriesOfAPendingEventAreFoundForReplay) {
  accept(NewEventBuilder().to({"a", "b"}).build());
  settle(death(lease("a")));
  EXPECT_EQ(replay({.dead_only = true, .dry_run = true}).deliveries.size(), 1u);
}

TEST_P(StoreReplay, ADryRunCountsAndChangesNothing) {
  const EventId id = accept(NewEventBuilder().build()).id;
  settle(death(lease()));
  EXPECT_EQ(replay({.dead_only = true, .dry_run = true}).deliveries.size(), 1u);
  EXPECT_EQ(replay({.ids = {id}, .destination = "new", .create_missing = true, .dry_run = true}).deliveries.size(), 1u);
  EXPECT_EQ(get(id).deliveries.size(), 1u);
  EXPECT_TRUE(claim().leases.empty());
}

TEST_P(StoreReplay, ReplayMakesADeliveryToANewDestination) {
  const EventId id = accept(NewEventBuilder().build()).id;
  EXPECT_EQ(replay({.ids = {id}, .destination = "late"}).deliveries.size(), 0u);
  EXPECT_EQ(replay({.ids = {id}, .destination = "late", .create_missing = true}).deliveries.size(), 1u);
  const Lease first = lease("late");
  EXPECT_EQ(first.attempt, 1);
  EXPECT_TRUE(first.replay);
}

TEST_P(StoreReplay, ReplayByFilterGoesOnWithItsCursor) {
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

}  // namespace
}  // namespace hookonce
