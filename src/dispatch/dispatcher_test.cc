#include "dispatch/dispatcher.h"

#include <gtest/gtest.h>

#include "store/memory_store.h"
#include "test/support/asserts.h"
#include "test/support/destination_builder.h"
#include "test/support/event_builder.h"
#include "test/support/manual_clock.h"

namespace hookonce {
namespace {

using std::chrono::seconds;

class DispatcherTest : public ::testing::Test {
 protected:
  void accept(int count, const std::string& destination = "backend") {
    for (int i = 0; i < count; ++i) {
      ASSERT_OK(store_->commit(events_of(NewEventBuilder().to({destination}).build()), {}, clock_.now()));
    }
  }
  void settle(const Settlement& settlement) {
    ASSERT_OK(store_->commit({}, {&settlement, 1}, clock_.now()));
    dispatcher_.freed(settlement.destination);
  }
  Dispatcher::Tick tick(const std::shared_ptr<const Config>& config) {
    auto tick = dispatcher_.tick(clock_.now(), *config);
    EXPECT_OK(tick);
    return std::move(tick).value();
  }

  ManualClock clock_;
  std::unique_ptr<Store> store_ = make_memory_store();
  Dispatcher dispatcher_{*store_};
};

TEST_F(DispatcherTest, NeverClaimsMoreThanTheFreeSlots) {
  DestinationConfig backend = destination_config();
  backend.concurrency = 3;
  const auto config = config_of({backend});
  accept(10);
  const auto first = tick(config);
  EXPECT_EQ(first.leases.size(), 3u);
  EXPECT_FALSE(first.wake_at) << "only a free slot changes anything";
  EXPECT_EQ(dispatcher_.in_flight("backend"), 3);
  EXPECT_TRUE(tick(config).leases.empty());
  settle(success(first.leases[0]));
  EXPECT_EQ(tick(config).leases.size(), 1u);
  EXPECT_EQ(dispatcher_.in_flight("backend"), 3);
}

TEST_F(DispatcherTest, AFullDestinationTakesNoSlotOfAnother) {
  DestinationConfig hung = destination_config("hung");
  hung.concurrency = 2;
  const auto config = config_of({hung, destination_config("well")});
  accept(5, "hung");
  EXPECT_EQ(tick(config).leases.size(), 2u);
  accept(5, "well");
  const auto second = tick(config);
  EXPECT_EQ(second.leases.size(), 5u);
  for (const Lease& lease : second.leases) EXPECT_EQ(lease.destination, "well");
}

TEST_F(DispatcherTest, FewerSlotsAfterAReloadClaimNothingUntilEnoughAreFree) {
  accept(10);
  DestinationConfig backend = destination_config();
  backend.concurrency = 4;
  const auto leases = tick(config_of({backend})).leases;
  ASSERT_EQ(leases.size(), 4u);
  backend.concurrency = 2;
  const auto config = config_of({backend});
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(tick(config).leases.empty());
    settle(success(leases[static_cast<std::size_t>(i)]));
  }
  EXPECT_TRUE(tick(config).leases.empty());
  settle(success(leases[2]));
  EXPECT_EQ(tick(config).leases.size(), 1u);
}

TEST_F(DispatcherTest, OrphanedDeliveriesAreLeftAloneUntilTheirDestinationReturns) {
  accept(1, "gone");
  const auto without = tick(config_of({destination_config()}));
  EXPECT_TRUE(without.leases.empty());
  EXPECT_FALSE(without.wake_at);
  const auto with = tick(config_of({destination_config(), destination_config("gone")}));
  ASSERT_EQ(with.leases.size(), 1u);
  EXPECT_EQ(with.leases[0].attempt, 1) << "waiting used no attempt";
}

TEST_F(DispatcherTest, WakesForTheNextRetryAndForTheEndOfALease) {
  const auto config = config_of({destination_config()});
  EXPECT_FALSE(tick(config).wake_at);
  accept(2);
  const auto first = tick(config);
  ASSERT_EQ(first.leases.size(), 2u);
  EXPECT_EQ(first.wake_at, clock_.now() + config->destinations.at("backend").lease);
  settle(failure(first.leases[0], seconds(7)));
  EXPECT_EQ(tick(config).wake_at, clock_.now() + seconds(7));
  clock_.advance(seconds(7));
  EXPECT_EQ(tick(config).leases.size(), 1u);
}

TEST_F(DispatcherTest, ALeaseThatRanOutIsClaimedAgainWithANewNumber) {
  const auto config = config_of({destination_config()});
  accept(1);
  const auto first = tick(config);
  ASSERT_EQ(first.leases.size(), 1u);
  clock_.advance(config->destinations.at("backend").lease);
  const auto second = tick(config);
  ASSERT_EQ(second.leases.size(), 1u);
  EXPECT_EQ(second.leases[0].attempt, 2);
  EXPECT_EQ(second.leases[0].counted, 2);
}

TEST_F(DispatcherTest, ReportsWhatDiedWithItsLastLease) {
  DestinationConfig backend = destination_config();
  backend.retry.attempts = 1;
  const auto config = config_of({backend});
  accept(1);
  const auto first = tick(config);
  clock_.advance(backend.lease);
  const auto second = tick(config);
  EXPECT_TRUE(second.leases.empty());
  ASSERT_EQ(second.dead.size(), 1u);
  EXPECT_EQ(second.dead[0].event, first.leases.at(0).event);
  EXPECT_EQ(second.dead[0].destination, "backend");
}

TEST_F(DispatcherTest, ARateStartsNoMoreThanItAllowsAndWakesForTheNextToken) {
  DestinationConfig backend = destination_config();
  backend.rate = 10;
  backend.concurrency = 1000;
  const auto config = config_of({backend});
  accept(60);
  int started = 0;
  const Time end = clock_.now() + seconds(5);
  while (clock_.now() < end) {
    const auto now = tick(config);
    started += static_cast<int>(now.leases.size());
    ASSERT_TRUE(now.wake_at);
    ASSERT_GT(*now.wake_at, clock_.now());
    clock_.advance(*now.wake_at - clock_.now());
  }
  EXPECT_GE(started, 49);
  EXPECT_LE(started, 51);
}

TEST_F(DispatcherTest, ARateWithNothingDueDoesNotWakeForItsTokens) {
  DestinationConfig backend = destination_config();
  backend.rate = 1;
  const auto config = config_of({backend});
  accept(1);
  const auto first = tick(config);
  ASSERT_EQ(first.leases.size(), 1u);
  EXPECT_EQ(first.wake_at, clock_.now() + backend.lease);
  settle(success(first.leases[0]));
  EXPECT_FALSE(tick(config).wake_at);
}

}  // namespace
}  // namespace hookonce
