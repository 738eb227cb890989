// How every store backend holds a destination.
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "test/contract/store_fixture.h"

namespace hookonce {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

class StorePause : public StoreFixture {
 protected:
  bool set_paused(const std::string& destination, bool paused) {
    const auto changed = store_->set_paused(destination, paused);
    EXPECT_OK(changed);
    return changed.ok() && *changed;
  }
  std::vector<std::string> paused() { return store_->stats(now_)->paused; }
  std::optional<Time> next_due(const std::vector<std::string>& names) { return store_->next_due(names, now_).value(); }
};
INSTANTIATE_TEST_SUITE_P(Backends, StorePause, testing::ValuesIn(store_schemes()), scheme_name);

TEST_P(StorePause, APausedDestinationIsLeftAloneAndOthersAreNot) {
  const EventId id = accept(NewEventBuilder().to({"backend", "other"}).build()).id;
  EXPECT_TRUE(set_paused("backend", true));
  EXPECT_TRUE(claim(1, "backend").leases.empty());
  EXPECT_EQ(claim(1, "other").leases.size(), 1u);
  EXPECT_EQ(get(id).deliveries[0].state, DeliveryState::kPending);
  pass(hours(1000));
  EXPECT_TRUE(claim(1, "backend").leases.empty());
  EXPECT_TRUE(set_paused("backend", false));
  EXPECT_EQ(lease("backend").attempt, 1);
}

TEST_P(StorePause, OneClaimOfSeveralDestinationsPassesOverThePausedOnes) {
  accept(NewEventBuilder().to({"a", "b", "c"}).build());
  set_paused("b", true);
  ClaimRequest request;
  for (const char* name : {"a", "b", "c"}) request.destinations.push_back({name, 10, kLease, 20, hours(72)});
  const auto claimed = store_->claim(request, now_);
  ASSERT_OK(claimed);
  ASSERT_EQ(claimed->leases.size(), 2u);
  EXPECT_EQ(claimed->leases[0].destination, "a");
  EXPECT_EQ(claimed->leases[1].destination, "c");
}

TEST_P(StorePause, NothingIsDueAtAPausedDestination) {
  accept(NewEventBuilder().build());
  set_paused("backend", true);
  EXPECT_EQ(next_due({"backend"}), std::nullopt);
  accept(NewEventBuilder().to({"other"}).build());
  EXPECT_EQ(next_due({"backend", "other"}), now_);
  set_paused("backend", false);
  EXPECT_EQ(next_due({"backend"}), now_);
}

TEST_P(StorePause, WhatIsInFlightEndsAsEver) {
  const EventId first = accept(NewEventBuilder().build()).id;
  const EventId second = accept(NewEventBuilder().build()).id;
  Claimed claimed = claim(2);
  ASSERT_EQ(claimed.leases.size(), 2u);
  set_paused("backend", true);
  EXPECT_TRUE(settle(success(claimed.leases[0])).taken);
  EXPECT_TRUE(settle(failure(claimed.leases[1], seconds(1))).taken);
  EXPECT_EQ(get(first).summary.state, EventState::kDelivered);
  EXPECT_EQ(get(second).deliveries[0].state, DeliveryState::kPending);
}

TEST_P(StorePause, ALeaseThatRunsOutMeanwhileIsNeitherTakenNorBuried) {
  attempts_ = 1;
  const EventId id = accept(NewEventBuilder().build()).id;
  const Lease late = lease();
  set_paused("backend", true);
  pass(kLease * 2);
  EXPECT_EQ(next_due({"backend"}), std::nullopt);
  EXPECT_TRUE(claim().dead.empty());
  EXPECT_EQ(get(id).deliveries[0].state, DeliveryState::kInFlight);
  EXPECT_TRUE(settle(success(late)).taken);
}

TEST_P(StorePause, ASynchronousEventIsAcceptedWithoutALease) {
  set_paused("backend", true);
  const AcceptFacts held = accept(NewEventBuilder().first_lease(seconds(10)).build());
  EXPECT_EQ(held.verdict, Verdict::kAccepted);
  EXPECT_EQ(held.lease, nullptr);
  EXPECT_TRUE(held.new_delivery);
  EXPECT_EQ(get(held.id).deliveries[0].state, DeliveryState::kPending);
  EXPECT_NE(accept(NewEventBuilder().to({"other"}).first_lease(seconds(10)).build()).lease, nullptr);
  set_paused("backend", false);
  EXPECT_NE(accept(NewEventBuilder().first_lease(seconds(10)).build()).lease, nullptr);
  EXPECT_EQ(lease().event, held.id);
}

TEST_P(StorePause, AReplayedAndARearmedDeliveryWaitToo) {
  const EventId replayed = accept(NewEventBuilder().build()).id;
  settle(success(lease()));
  accept(NewEventBuilder().key("k").build());
  settle(death(lease()));
  set_paused("backend", true);
  replay({.ids = {replayed}});
  EXPECT_EQ(accept(NewEventBuilder().key("k").build()).verdict, Verdict::kRearmed);
  EXPECT_TRUE(claim().leases.empty());
  set_paused("backend", false);
  EXPECT_EQ(claim().leases.size(), 2u);
}

TEST_P(StorePause, ALineStandsStillAndKeepsItsOrder) {
  const auto next = [this] { return accept(NewEventBuilder().ordering_key("o").ordered({"backend"}).build()).id; };
  const EventId first = next();
  const Lease head = lease();
  set_paused("backend", true);
  const EventId second = next();
  EXPECT_TRUE(settle(success(head)).freed);
  EXPECT_TRUE(claim().leases.empty());
  set_paused("backend", false);
  EXPECT_EQ(head.event, first);
  EXPECT_EQ(lease().event, second);
}

TEST_P(StorePause, PausedOnesAreListedAndANameThatNobodyUsesToo) {
  EXPECT_EQ(paused(), std::vector<std::string>());
  EXPECT_TRUE(set_paused("b", true));
  EXPECT_TRUE(set_paused("a\"\\ \xc3\xa4", true));
  EXPECT_FALSE(set_paused("b", true));
  EXPECT_EQ(paused(), (std::vector<std::string>{"a\"\\ \xc3\xa4", "b"}));
  EXPECT_TRUE(set_paused("b", false));
  EXPECT_FALSE(set_paused("b", false));
  EXPECT_FALSE(set_paused("never", false));
  EXPECT_EQ(paused(), std::vector<std::string>{"a\"\\ \xc3\xa4"});
}

TEST_P(StorePause, APauseOutlastsTheProcess) {
  if (GetParam() == "memory") return;  // it keeps nothing
  set_paused("backend", true);
  accept(NewEventBuilder().build());
  store_.reset();
  auto opened = backend_->open(now_);
  ASSERT_OK(opened);
  store_ = *std::move(opened);
  EXPECT_EQ(paused(), std::vector<std::string>{"backend"});
  EXPECT_TRUE(claim().leases.empty());
}

// While others claim and accept as fast as they can: each lease was given out before the pause returned.
TEST_P(StorePause, NoLeaseIsGivenOutOnceAPauseHasReturned) {
  constexpr int kRounds = 8;
  std::atomic<bool> stop{false};
  std::atomic<int> leases{0};
  std::vector<std::thread> others;
  for (int i = 0; i < 3; ++i) {
    others.emplace_back([&, i] {
      while (!stop) {
        NewEventBuilder builder;
        if (i == 0) builder.first_lease(seconds(10));
        const auto facts = store_->commit(events_of(builder.build()), {}, now_);
        if (facts.ok() && facts->accepts[0].lease) ++leases;
        const auto claimed = store_->claim({{{"backend", 100, kLease, 20, hours(72)}}}, now_);
        if (claimed.ok()) leases += static_cast<int>(claimed->leases.size());
      }
    });
  }
  for (int round = 0; round < kRounds; ++round) {
    const int before = leases;
    while (leases == before) std::this_thread::yield();
    ASSERT_OK(store_->set_paused("backend", true));
    // What had been given out by then may be counted a moment later, so the store is asked and not the counter.
    const std::int64_t given = store_->stats(now_)->in_flight;
    for (int i = 0; i < 5; ++i) {
      ASSERT_OK(store_->commit(events_of(NewEventBuilder().first_lease(seconds(10)).build()), {}, now_));
      ASSERT_OK(store_->claim({{{"backend", 100, kLease, 20, hours(72)}}}, now_));
    }
    EXPECT_EQ(store_->stats(now_)->in_flight, given) << "round " << round;
    ASSERT_OK(store_->set_paused("backend", false));
  }
  stop = true;
  for (std::thread& other : others) other.join();
}

}  // namespace
}  // namespace hookonce
