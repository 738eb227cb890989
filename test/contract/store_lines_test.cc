// How every store backend keeps the order of an ordered destination's lines.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "test/contract/store_fixture.h"

namespace hookonce {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

class StoreLines : public StoreFixture {
 protected:
  EventId accept_ordered(const std::string& ordering_key, const std::string& source = "shop") {
    return accept(NewEventBuilder().source(source).ordering_key(ordering_key).ordered({"backend"}).build()).id;
  }
  std::vector<EventId> claim_ids() {
    std::vector<EventId> ids;
    leases_ = claim().leases;
    for (const Lease& lease : leases_) ids.push_back(lease.event);
    return ids;
  }
  const Delivery& delivery_of(const EventId& id) {
    detail_ = get(id);
    return detail_.deliveries.at(0);
  }
  Settlement skipped(Settlement settlement) {
    settlement.skip_dead = true;
    return settlement;
  }
  void apply(bool ordered, bool skip_dead) {
    while (true) {
      const auto more = store_->apply_line_rule({"backend", ordered, skip_dead}, now_);
      ASSERT_OK(more);
      if (!more.value()) return;
    }
  }

  std::vector<Lease> leases_;
  EventDetail detail_;
};
INSTANTIATE_TEST_SUITE_P(Backends, StoreLines, testing::ValuesIn(store_schemes()), scheme_name);

TEST_P(StoreLines, OnlyTheFirstOfALineIsDue) {
  const EventId first = accept_ordered("k");
  const EventId second = accept_ordered("k");
  EXPECT_EQ(claim_ids(), std::vector{first});
  EXPECT_TRUE(claim_ids().empty());
  const Delivery held = delivery_of(second);
  EXPECT_EQ(held.state, DeliveryState::kPending);
  EXPECT_EQ(held.next_attempt_at, std::nullopt);
}

TEST_P(StoreLines, OtherKeysOtherSourcesAndEventsWithoutAKeyFlow) {
  const EventId first = accept_ordered("k");
  accept_ordered("k");
  const EventId other_key = accept_ordered("l");
  const EventId other_source = accept_ordered("k", "other");
  const EventId empty_key = accept_ordered("");
  const EventId without = accept(NewEventBuilder().ordered({"backend"}).build()).id;
  const EventId unordered = accept(NewEventBuilder().ordering_key("k").build()).id;
  EXPECT_EQ(claim_ids(), (std::vector{first, other_key, other_source, empty_key, without, unordered}));
}

TEST_P(StoreLines, TheNextIsFreeOnceTheOneBeforeIsDelivered) {
  accept_ordered("k");
  const EventId second = accept_ordered("k");
  const EventId third = accept_ordered("k");
  claim_ids();
  const SettleFacts facts = settle(success(leases_.at(0)));
  EXPECT_TRUE(facts.freed);
  EXPECT_EQ(store_->next_due({"backend"}, now_).value(), now_);
  EXPECT_EQ(claim_ids(), std::vector{second});
  EXPECT_TRUE(settle(success(leases_.at(0))).freed);
  EXPECT_EQ(claim_ids(), std::vector{third});
  EXPECT_FALSE(settle(success(leases_.at(0))).freed);
  EXPECT_EQ(claim_ids().size(), 0u);
}

TEST_P(StoreLines, NothingIsDueWhereAllAreHeld) {
  accept_ordered("k");
  accept_ordered("k");
  claim_ids();
  EXPECT_EQ(store_->next_due({"backend"}, now_).value(), now_ + kLease);
}

TEST_P(StoreLines, AFailedAttemptKeepsTheOthersWaiting) {
  const EventId first = accept_ordered("k");
  accept_ordered("k");
  claim_ids();
  EXPECT_FALSE(settle(failure(leases_.at(0), seconds(10))).freed);
  EXPECT_TRUE(claim_ids().empty());
  EXPECT_EQ(store_->next_due({"backend"}, now_).value(), now_ + seconds(10));
  pass(seconds(10));
  EXPECT_EQ(claim_ids(), std::vector{first});
}

TEST_P(StoreLines, ADeadOneHoldsItsLineUp) {
  const EventId first = accept_ordered("k");
  const EventId second = accept_ordered("k");
  claim_ids();
  EXPECT_FALSE(settle(death(leases_.at(0))).freed);
  pass(hours(100));
  EXPECT_TRUE(claim_ids().empty());
  const EventId other_key = accept_ordered("l");
  EXPECT_EQ(claim_ids(), std::vector{other_key});
  ReplayRequest request;
  request.ids = {first};
  replay(request);
  EXPECT_EQ(claim_ids(), std::vector{first});
  EXPECT_TRUE(settle(success(leases_.at(0))).freed);
  EXPECT_EQ(claim_ids(), std::vector{second});
}

TEST_P(StoreLines, ADeadOneIsSkippedWhereThatIsAsked) {
  accept_ordered("k");
  const EventId second = accept_ordered("k");
  claim_ids();
  EXPECT_TRUE(settle(skipped(death(leases_.at(0)))).freed);
  EXPECT_EQ(claim_ids(), std::vector{second});
}

TEST_P(StoreLines, OneWhoseLastLeaseRanOutIsSkippedOrHoldsUpAsWell) {
  attempts_ = 1;
  accept_ordered("k");
  const EventId second = accept_ordered("k");
  accept_ordered("l");
  claim_ids();
  pass(kLease);
  EXPECT_EQ(claim().dead.size(), 2u);
  EXPECT_TRUE(claim_ids().empty());
  apply(true, true);
  EXPECT_EQ(claim_ids(), std::vector{second});

  accept_ordered("m");
  const EventId behind = accept_ordered("m");
  claim_ids();
  skip_dead_ = true;
  pass(kLease);
  EXPECT_GE(claim().dead.size(), 1u);
  EXPECT_EQ(claim_ids(), std::vector{behind});
}

// It may wait for days behind a poison event; the policy is for its own attempts.
TEST_P(StoreLines, ThePolicyOfAHeldOneCountsFromWhenItIsFree) {
  accept_ordered("k");
  accept_ordered("k");
  claim_ids();
  pass(seconds(20));
  settle(success(leases_.at(0)));
  claim_ids();
  EXPECT_EQ(leases_.at(0).armed_at, now_);
}

TEST_P(StoreLines, AReplayedOneRunsOutsideTheOrder) {
  const EventId first = accept_ordered("k");
  const EventId second = accept_ordered("k");
  const EventId third = accept_ordered("k");
  ReplayRequest request;
  request.ids = {second};
  replay(request);
  EXPECT_EQ(claim_ids(), (std::vector{first, second}));
  EXPECT_FALSE(settle(success(leases_.at(1))).freed);
  EXPECT_TRUE(claim_ids().empty());
  pass(kLease);
  EXPECT_EQ(claim_ids(), std::vector{first});
  EXPECT_TRUE(settle(success(leases_.at(0))).freed);
  EXPECT_EQ(claim_ids(), std::vector{third});
}

TEST_P(StoreLines, ALateSuccessOfADeadOneFreesTheNext) {
  attempts_ = 1;
  accept_ordered("k");
  const EventId second = accept_ordered("k");
  claim_ids();
  const Lease late = leases_.at(0);
  pass(kLease);
  claim();
  EXPECT_TRUE(settle(success(late)).freed);
  EXPECT_EQ(claim_ids(), std::vector{second});
}

TEST_P(StoreLines, LinesEndWithTheirConfiguration) {
  const EventId first = accept_ordered("k");
  const EventId second = accept_ordered("k");
  const EventId third = accept_ordered("k");
  apply(true, false);
  apply(true, true);
  EXPECT_EQ(claim_ids(), std::vector{first});
  apply(false, false);
  EXPECT_EQ(claim_ids(), (std::vector{second, third}));
}

TEST_P(StoreLines, ManyHeldOnesAreFreedInParts) {
  constexpr std::size_t kMany = 1201;
  std::vector<NewEvent> events;
  for (std::size_t i = 0; i < kMany; ++i) {
    events.push_back(NewEventBuilder().ordering_key("k").ordered({"backend"}).build());
  }
  ASSERT_OK(store_->commit(events, {}, now_));
  apply(false, false);
  EXPECT_EQ(claim(5000).leases.size(), kMany);
}

TEST_P(StoreLines, APrunedDeadOneFreesTheNext) {
  accept_ordered("k");
  claim_ids();
  settle(death(leases_.at(0)));
  pass(hours(200));
  const EventId second = accept_ordered("k");
  EXPECT_TRUE(claim_ids().empty());
  ASSERT_OK(store_->prune({now_ - hours(100), now_}));
  EXPECT_EQ(claim_ids(), std::vector{second});
}

TEST_P(StoreLines, OneBatchKeepsItsOrder) {
  std::vector<NewEvent> events;
  std::vector<EventId> ids;
  for (int i = 0; i < 5; ++i) {
    events.push_back(NewEventBuilder().ordering_key("k").ordered({"backend"}).build());
    ids.push_back(events.back().id);
  }
  ASSERT_OK(store_->commit(events, {}, now_));
  for (const EventId& id : ids) {
    ASSERT_EQ(claim_ids(), std::vector{id});
    settle(success(leases_.at(0)));
  }
}

TEST_P(StoreLines, AnOrderingKeyMayBeLong) {
  const std::string key(60'000, 'k');
  // Beyond compression, and different in its last byte alone.
  std::string noise;
  for (std::uint32_t state = 1; noise.size() < 60'000; state = state * 1664525 + 1013904223)
    noise.push_back(static_cast<char>(state >> 24));
  const EventId first = accept_ordered(noise + "1");
  const EventId second = accept_ordered(noise + "1");
  const EventId other = accept_ordered(noise + "2");
  const EventId plain = accept_ordered(key);
  EXPECT_EQ(claim_ids(), (std::vector{first, other, plain}));
  EXPECT_EQ(get(first).ordering_key, noise + "1");
  EXPECT_TRUE(settle(success(leases_.at(0))).freed);
  EXPECT_EQ(claim_ids(), std::vector{second});
}

// One thread accepts, one delivers: nothing is left behind, and the order is that of acceptance.
TEST_P(StoreLines, NothingStaysHeldWhileTwoThreadsAcceptAndSettle) {
  constexpr int kEvents = 200;
  std::vector<EventId> accepted;
  std::thread sender([&] {
    for (int i = 0; i < kEvents; ++i) {
      std::vector<NewEvent> events = events_of(NewEventBuilder().ordering_key("k").ordered({"backend"}).build());
      accepted.push_back(events[0].id);
      EXPECT_OK(store_->commit(events, {}, now_));
    }
  });
  std::vector<EventId> delivered;
  bool last_round = false;
  while (true) {
    const auto claimed = store_->claim({{{"backend", 10, hours(1), 20, hours(72)}}}, now_);
    EXPECT_OK(claimed);
    if (!claimed.ok()) break;
    std::vector<Settlement> settlements;
    for (const Lease& lease : claimed.value().leases) {
      delivered.push_back(lease.event);
      settlements.push_back(success(lease));
    }
    EXPECT_LE(settlements.size(), 1u);
    EXPECT_OK(store_->commit({}, settlements, now_));
    if (delivered.size() == kEvents || last_round) break;
    if (settlements.empty() && sender.joinable() && store_->stats(now_)->events == kEvents) {
      sender.join();
      last_round = store_->stats(now_)->pending == 0;
    }
  }
  if (sender.joinable()) sender.join();
  EXPECT_EQ(delivered, accepted);
}

}  // namespace
}  // namespace hookonce
