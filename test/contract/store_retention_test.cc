// What every store backend may forget, and when.
#include <gtest/gtest.h>

#include <vector>

#include "test/contract/store_fixture.h"

namespace hookonce {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

class StoreRetention : public StoreFixture {};
INSTANTIATE_TEST_SUITE_P(Backends, StoreRetention, testing::ValuesIn(store_schemes()), scheme_name);

TEST_P(StoreRetention, RetentionCountsFromTheEndOfTheLastDelivery) {
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

TEST_P(StoreRetention, PruningAnEventDoesNotFreeItsKey) {
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

TEST_P(StoreRetention, PruningKeysDecidesNothing) {
  accept(NewEventBuilder().key("k").window(hours(1)).build());
  settle(success(lease()));
  pass(hours(1));
  ASSERT_OK(store_->prune({.events_before = now_, .keys_now = now_}));
  ASSERT_OK(store_->prune({.events_before = now_, .keys_now = now_}));
  const EventId second = accept(NewEventBuilder().key("k").window(hours(1)).build()).id;
  EXPECT_EQ(list({.key = "k"}), std::vector<EventId>{second});
}

TEST_P(StoreRetention, AKeyStillFindsAnOlderEventWhenItsNewerHolderIsPruned) {
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

TEST_P(StoreRetention, ASourceMayKeepItsEventsForAnotherTimeThanTheRest) {
  const auto put = [&](const std::string& source) {
    const EventId id = accept(NewEventBuilder().source(source).window(seconds(1)).build()).id;
    settle(success(lease()));
    return id;
  };
  const EventId short_one = put("short");
  const EventId long_one = put("long");
  const EventId plain_one = put("shop");
  pass(hours(2));
  const EventId young = put("short");
  const auto prune = [&] {
    return store_->prune(
        {.events_before = now_ - hours(10),
         .keys_now = now_,
         .events_before_of = {{"long", now_ - hours(100)}, {"never seen", now_}, {"short", now_ - hours(1)}}});
  };
  ASSERT_OK(prune());
  EXPECT_EQ(list(), (std::vector<EventId>{young, plain_one, long_one}));
  EXPECT_FALSE(store_->get(short_one).value().has_value());
  pass(hours(9));
  ASSERT_OK(prune());
  EXPECT_EQ(list(), std::vector<EventId>{long_one}) << "a kept one is in nobody's way";
  pass(hours(90));
  ASSERT_OK(prune());
  EXPECT_EQ(list(), std::vector<EventId>{});
}

TEST_P(StoreRetention, ASourcesOwnTimeCountsFromTheEndOfTheLastDeliveryToo) {
  const EventId id = accept(NewEventBuilder().source("short").to({"a", "b"}).build()).id;
  settle(success(lease("a")));
  pass(hours(5));
  const auto prune = [&] {
    return store_->prune(
        {.events_before = now_ - hours(100), .keys_now = now_, .events_before_of = {{"short", now_ - hours(1)}}});
  };
  ASSERT_OK(prune());
  ASSERT_EQ(list(), std::vector<EventId>{id}) << "a pending event is never pruned";
  settle(death(lease("b")));
  pass(hours(1));
  ASSERT_OK(prune());
  EXPECT_EQ(list(), std::vector<EventId>{id}) << "exactly so long stays";
  pass(Duration(1));
  ASSERT_OK(prune());
  EXPECT_EQ(list(), std::vector<EventId>{});
}

TEST_P(StoreRetention, EventsThatAreKeptLongerStandInNobodysWay) {
  constexpr int kMany = 2500;  // more than one call walks over
  std::vector<NewEvent> events;
  for (int i = 0; i < kMany; ++i) events.push_back(NewEventBuilder().source("long").to({}).build());
  for (int i = 0; i < 3; ++i) events.push_back(NewEventBuilder().source("short").to({}).build());
  ASSERT_OK(store_->commit(events, {}, now_));
  pass(hours(2));
  std::int64_t removed = 0;
  for (int call = 0; call < 3; ++call) {
    const auto part = store_->prune(
        {.events_before = now_ - hours(1), .keys_now = now_, .events_before_of = {{"long", now_ - hours(100)}}});
    ASSERT_OK(part);
    removed += *part;
  }
  EXPECT_EQ(list({.source = "short"}), std::vector<EventId>{});
  EXPECT_GE(removed, 3);
  EXPECT_EQ(store_->stats(now_)->events, kMany);
}

TEST_P(StoreRetention, OnePruneRemovesNoMoreThanItsLimitAndTheNextGoesOn) {
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

}  // namespace
}  // namespace hookonce
