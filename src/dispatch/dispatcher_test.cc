#include "dispatch/dispatcher.h"

#include <gtest/gtest.h>

#include "store/memory_store.h"
#include "test/support/asserts.h"
#include "test/support/destination_builder.h"
#include "test/support/event_builder.h"
#include "test/support/forwarding_store.h"
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
  void settle(const Settlement& settlement, const Config& config = {}) {
    ASSERT_OK(store_->commit({}, {&settlement, 1}, clock_.now()));
    const AttemptResult& result = settlement.result;
    dispatcher_.ended({settlement.destination, settlement.event, settlement.attempt, result.started_at, sign_of(result),
                       result.error},
                      config, clock_.now());
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

TEST_F(DispatcherTest, APausedDestinationWakesNobody) {  // or the loop would spin until it is resumed
  const auto config = config_of({destination_config("held"), destination_config("well")});
  accept(3, "held");
  accept(1, "well");
  ASSERT_OK(store_->set_paused("held", true));
  const auto first = tick(config);
  ASSERT_EQ(first.leases.size(), 1u);
  EXPECT_EQ(first.leases[0].destination, "well");
  settle(success(first.leases[0]));
  EXPECT_FALSE(tick(config).wake_at);
  ASSERT_OK(store_->set_paused("held", false));
  EXPECT_EQ(tick(config).leases.size(), 3u);
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

// Each commit nudges the dispatcher; what a used-up rate keeps waiting is not looked up each time.
TEST_F(DispatcherTest, ARateThatIsUsedUpAsksTheStoreOnceForWhatWaits) {
  struct CountingStore final : ForwardingStore {
    using ForwardingStore::ForwardingStore;
    Result<std::optional<Time>> next_due(const std::vector<std::string>& names, Time now) override {
      ++asked;
      return ForwardingStore::next_due(names, now);
    }
    int asked = 0;
  } store(*store_);
  Dispatcher dispatcher(store);
  DestinationConfig backend = destination_config();
  backend.rate = 1;
  const auto config = config_of({backend});
  accept(3);
  ASSERT_EQ(dispatcher.tick(clock_.now(), *config)->leases.size(), 1u);
  const auto wake_at = dispatcher.tick(clock_.now(), *config)->wake_at;
  const int asked = store.asked;
  for (int i = 0; i < 5; ++i) EXPECT_EQ(dispatcher.tick(clock_.now(), *config)->wake_at, wake_at);
  EXPECT_EQ(store.asked, asked);
  ASSERT_TRUE(wake_at);
  clock_.advance(*wake_at - clock_.now());
  EXPECT_EQ(dispatcher.tick(clock_.now(), *config)->leases.size(), 1u);
}

// Or the loop would turn at full speed for as long as the slowest attempt takes.
TEST_F(DispatcherTest, ARateWithEverySlotBusyWakesNobodyBeforeASlotFrees) {
  DestinationConfig backend = destination_config();
  backend.rate = 100;
  backend.concurrency = 1;
  const auto config = config_of({backend});
  accept(2);
  ASSERT_EQ(tick(config).leases.size(), 1u);
  EXPECT_FALSE(tick(config).wake_at);
}

// Two attempts that failed within a moment open it, for 10 s.
DestinationConfig quick_to_open(const std::string& name = "backend") {
  DestinationConfig destination = destination_config(name);
  destination.breaker.attempts = 2;
  destination.breaker.after = Duration::zero();
  destination.breaker.open = seconds(10);
  return destination;
}

class DispatcherBreakerTest : public DispatcherTest {
 protected:
  // Every lease of one tick fails and is due again at once.
  void fail_all(const std::shared_ptr<const Config>& config) {
    for (const Lease& lease : tick(config).leases) settle(failure(lease, Duration::zero()), *config);
  }
  std::vector<EventId> pending_order(const std::shared_ptr<const Config>& config) {
    std::vector<EventId> order;
    for (auto now = tick(config); !now.leases.empty(); now = tick(config)) {
      for (const Lease& lease : now.leases) {
        order.push_back(lease.event);
        settle(success(lease), *config);
      }
    }
    return order;
  }
};

TEST_F(DispatcherBreakerTest, AnOpenOneClaimsNothingAndUsesNoAttempts) {
  const auto config = config_of({quick_to_open()});
  accept(5);
  fail_all(config);
  const auto changes = dispatcher_.take_breaker_changes();
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_EQ(changes[0].destination, "backend");
  EXPECT_EQ(changes[0].open_until, clock_.now() + seconds(10));
  const auto open = tick(config);
  EXPECT_TRUE(open.leases.empty());
  EXPECT_EQ(open.wake_at, clock_.now() + seconds(10));
  clock_.advance(seconds(10) - Duration(1));
  EXPECT_TRUE(tick(config).leases.empty());
  clock_.advance(Duration(1));
  const auto probe = tick(config);
  ASSERT_EQ(probe.leases.size(), 1u);
  EXPECT_EQ(probe.leases[0].attempt, 2);
  EXPECT_EQ(probe.wake_at, clock_.now() + seconds(30));
  EXPECT_TRUE(tick(config).leases.empty()) << "one probe at a time";
  clock_.advance(seconds(30));
  EXPECT_EQ(tick(config).leases.size(), 1u) << "a probe that hangs does not hold the others for ever";
}

TEST_F(DispatcherBreakerTest, AnOpenOneWithNothingWaitingWakesNobody) {
  const auto config = config_of({quick_to_open()});
  accept(2);
  const auto leases = tick(config).leases;
  for (const Lease& lease : leases) settle(failure(lease, std::chrono::hours(1)), *config);
  EXPECT_EQ(tick(config).wake_at, clock_.now() + std::chrono::hours(1));
}

TEST_F(DispatcherBreakerTest, AnOtherDestinationGoesOn) {
  const auto config = config_of({quick_to_open(), destination_config("well")});
  accept(5);
  fail_all(config);
  accept(3, "well");
  const auto leases = tick(config).leases;
  ASSERT_EQ(leases.size(), 3u);
  for (const Lease& lease : leases) EXPECT_EQ(lease.destination, "well");
}

TEST_F(DispatcherBreakerTest, TheProbesSuccessClosesItAndWhatWaitedGoesOutTheLongestDueFirst) {
  const auto config = config_of({quick_to_open()});
  accept(2);
  fail_all(config);
  std::vector<EventId> waiting;
  for (int i = 0; i < 20; ++i) {
    NewEvent event = NewEventBuilder().to({"backend"}).build();
    waiting.push_back(event.id);
    clock_.advance(std::chrono::milliseconds(10));
    ASSERT_OK(store_->commit(events_of(std::move(event)), {}, clock_.now()));
  }
  clock_.advance(seconds(10));
  std::vector<EventId> order = pending_order(config);
  ASSERT_EQ(order.size(), 22u) << "nothing is lost";
  order.erase(order.begin(), order.begin() + 2);  // the two that had opened it were due first
  EXPECT_EQ(order, waiting);
  const auto changes = dispatcher_.take_breaker_changes();
  ASSERT_EQ(changes.size(), 2u);
  EXPECT_FALSE(changes[1].open_until);
}

TEST_F(DispatcherBreakerTest, AfterAnOutageTheAttemptsAtOnceGrowFromTwo) {
  DestinationConfig backend = quick_to_open();
  backend.concurrency = 100;
  const auto config = config_of({backend});
  accept(100);
  fail_all(config);
  clock_.advance(seconds(10));
  settle(success(tick(config).leases.at(0)), *config);
  std::vector<std::size_t> rounds;
  for (auto now = tick(config); !now.leases.empty(); now = tick(config)) {
    rounds.push_back(now.leases.size());
    for (const Lease& lease : now.leases) settle(success(lease), *config);
  }
  EXPECT_EQ(rounds, (std::vector<std::size_t>{2, 4, 8, 16, 32, 37}));
}

TEST_F(DispatcherBreakerTest, AttemptsThatHangSinceTheOutageNeitherHoldBackWhatFollowsNorOpenItAgain) {
  DestinationConfig backend = quick_to_open();
  backend.concurrency = 8;
  const auto config = config_of({backend});
  accept(60);
  auto hung = tick(config).leases;
  ASSERT_EQ(hung.size(), 8u);
  for (int i = 0; i < 2; ++i) {
    settle(failure(hung.back(), Duration::zero()), *config);
    hung.pop_back();
  }
  clock_.advance(seconds(10));
  const auto probe = tick(config).leases;
  ASSERT_EQ(probe.size(), 1u);
  clock_.advance(seconds(1));
  settle(success(probe[0]), *config);
  dispatcher_.take_breaker_changes();
  EXPECT_EQ(tick(config).leases.size(), 2u) << "both free slots, and two is where it begins";
  clock_.advance(seconds(1));
  for (const Lease& lease : hung) settle(failure(lease, std::chrono::hours(1)), *config);
  EXPECT_TRUE(dispatcher_.take_breaker_changes().empty());
  EXPECT_TRUE(tick(config).leases.empty()) << "the slots that they free are no room of its own";
}

TEST_F(DispatcherBreakerTest, TheBacklogOfAnOutageGoesOutAtTheDestinationsRate) {
  DestinationConfig backend = quick_to_open();
  backend.rate = 10;
  backend.concurrency = 1000;
  const auto config = config_of({backend});
  accept(100);
  while (dispatcher_.take_breaker_changes().empty()) {
    fail_all(config);
    clock_.advance(std::chrono::milliseconds(100));
  }
  clock_.advance(seconds(60));
  const Time begin = clock_.now();
  std::size_t delivered = 0;
  while (delivered < 100) {
    const auto now = tick(config);
    delivered += now.leases.size();
    for (const Lease& lease : now.leases) settle(success(lease), *config);
    const double elapsed = std::chrono::duration<double>(clock_.now() - begin).count();
    ASSERT_LE(static_cast<double>(delivered), 10 * elapsed + 2);
    clock_.advance(std::chrono::milliseconds(50));
  }
  EXPECT_LE(clock_.now() - begin, seconds(11));
}

TEST_F(DispatcherBreakerTest, AProbeWhoseLeaseIsGivenBackIsFollowedByAnother) {
  const auto config = config_of({quick_to_open()});
  accept(3);
  fail_all(config);
  clock_.advance(seconds(10));
  const auto probe = tick(config);
  ASSERT_EQ(probe.leases.size(), 1u);
  AttemptResult released;
  released.outcome = Outcome::kReleased;
  settle(decide(probe.leases[0], released, config->destinations.at("backend").retry, 0), *config);
  EXPECT_EQ(tick(config).leases.size(), 1u);
}

TEST_F(DispatcherBreakerTest, AReloadThatSwitchesItOffForgetsIt) {
  const auto config = config_of({quick_to_open()});
  accept(3);
  fail_all(config);
  ASSERT_TRUE(tick(config).leases.empty());
  DestinationConfig off = quick_to_open();
  off.breaker.enabled = false;
  for (const Lease& lease : tick(config_of({off})).leases) settle(failure(lease, Duration::zero()), *config_of({off}));
  EXPECT_EQ(tick(config_of({off})).leases.size(), 3u);
}

TEST_F(DispatcherBreakerTest, AReloadThatMovesTheDestinationForgetsIt) {
  const auto config = config_of({quick_to_open()});
  accept(3);
  fail_all(config);
  ASSERT_TRUE(tick(config).leases.empty());
  DestinationConfig moved = quick_to_open();
  moved.url = "http://127.0.0.1:10/";
  EXPECT_EQ(tick(config_of({moved})).leases.size(), 3u);
  const auto changes = dispatcher_.take_breaker_changes();
  ASSERT_EQ(changes.size(), 2u);
  EXPECT_FALSE(changes[1].open_until);
}

TEST_F(DispatcherBreakerTest, AttemptsToTheFormerUrlDoNotOpenTheNewOnes) {
  accept(20);
  const auto former = tick(config_of({quick_to_open()})).leases;
  ASSERT_GE(former.size(), 3u);
  clock_.advance(seconds(1));
  DestinationConfig moved = quick_to_open();
  moved.url = "http://127.0.0.1:10/";
  const auto config = config_of({moved});
  tick(config);
  clock_.advance(seconds(1));
  for (const Lease& lease : former) settle(failure(lease, Duration::zero()), *config);
  EXPECT_TRUE(dispatcher_.take_breaker_changes().empty());
  fail_all(config);
  EXPECT_EQ(dispatcher_.take_breaker_changes().size(), 1u) << "the new one's own count";
}

}  // namespace
}  // namespace hookonce
