#include "app/upkeep.h"

#include <gtest/gtest.h>

#include <vector>

#include "core/source_counters.h"
#include "store/open.h"
#include "test/support/asserts.h"
#include "test/support/forwarding_store.h"
#include "test/support/manual_clock.h"

namespace hookonce {
namespace {

class UpkeepTest : public testing::Test {
 protected:
  void SetUp() override {
    auto opened = open_store("memory:", clock_.now());
    ASSERT_OK(opened);
    store_ = std::move(opened).value();
    Config config;
    config.store.retention = std::chrono::hours(24);
    config_ = std::make_shared<const Config>(config);
    upkeep_ = std::make_unique<Upkeep>(*store_, clock_, config_, [this] { ++nudges_; });
  }

  // Events without destinations: their deliveries have ended the moment they are accepted.
  void accept(int count) {
    std::vector<NewEvent> events(static_cast<std::size_t>(count));
    for (NewEvent& event : events) {
      event.id = EventId::make(clock_.now());
      event.source = "shop";
      event.arrival.at = clock_.now();
    }
    ASSERT_OK(store_->commit(events, {}, clock_.now()));
  }
  std::int64_t events() {
    const Result<StoreStats> stats = store_->stats(clock_.now());
    EXPECT_OK(stats);
    return stats->events;
  }
  std::int64_t gauge(const char* name, const Labels& labels = {}) { return metrics().gauge(name, "", labels).value(); }

  ManualClock clock_;
  std::unique_ptr<Store> store_;
  std::shared_ptr<const Config> config_;
  int nudges_ = 0;
  std::unique_ptr<Upkeep> upkeep_;
};

TEST_F(UpkeepTest, RemovesWhatIsOlderThanRetentionAndKeepsTheRest) {
  accept(3);
  clock_.advance(std::chrono::hours(23));
  accept(2);
  upkeep_->run(clock_.now());
  EXPECT_EQ(events(), 5);
  clock_.advance(std::chrono::hours(2));
  upkeep_->run(clock_.now());
  EXPECT_EQ(events(), 2);
}

class FullStore final : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;
  Status health() override { return unavailable("no room"); }
};

TEST_F(UpkeepTest, AStoreThatIsFullGetsRoom) {
  accept(3);
  clock_.advance(std::chrono::hours(25));
  FullStore full(*store_);
  Upkeep(full, clock_, config_, [] {}).run(clock_.now());
  EXPECT_EQ(events(), 0);
}

TEST_F(UpkeepTest, FollowsAReloadedRetention) {
  accept(3);
  clock_.advance(std::chrono::hours(2));
  Config config;
  config.store.retention = std::chrono::hours(1);
  upkeep_->configure(std::make_shared<const Config>(config));
  upkeep_->run(clock_.now());
  EXPECT_EQ(events(), 0);
}

TEST_F(UpkeepTest, ASourcesOwnRetentionGoesBeforeTheStores) {
  accept(3);
  clock_.advance(std::chrono::hours(2));
  Config config;
  config.sources["shop"].retention = std::chrono::hours(3);
  config.store.retention = std::chrono::hours(1);
  upkeep_->configure(std::make_shared<const Config>(config));
  upkeep_->run(clock_.now());
  EXPECT_EQ(events(), 3);
  clock_.advance(std::chrono::hours(1) + Duration(1));
  upkeep_->run(clock_.now());
  EXPECT_EQ(events(), 0);
}

TEST_F(UpkeepTest, PrunesNothingWhileTheClocksHaveParted) {
  accept(3);
  clock_.advance(std::chrono::hours(48));
  for (const Duration step : {Duration(std::chrono::minutes(61)), Duration(-std::chrono::minutes(122))}) {
    clock_.step_wall(step);
    upkeep_->run(clock_.now());
    EXPECT_EQ(events(), 3);
    EXPECT_EQ(gauge("hookonce_prune_stopped"), 1);
  }
  clock_.step_wall(std::chrono::minutes(61));
  upkeep_->run(clock_.now());
  EXPECT_EQ(events(), 0);
  EXPECT_EQ(gauge("hookonce_prune_stopped"), 0);
}

TEST_F(UpkeepTest, AnHourApartIsNotYetParted) {
  accept(1);
  clock_.advance(std::chrono::hours(48));
  clock_.step_wall(kClocksApartMax);
  upkeep_->run(clock_.now());
  EXPECT_EQ(events(), 0);
}

TEST_F(UpkeepTest, MeasuresDestinationsAndForgetsThoseThatAreEmpty) {
  std::vector<NewEvent> waiting(1);
  waiting[0].id = EventId::make(clock_.now());
  waiting[0].source = "shop";
  waiting[0].destinations = {"upkeep-test"};
  ASSERT_OK(store_->commit(waiting, {}, clock_.now()));
  upkeep_->measure(clock_.now());
  EXPECT_EQ(gauge("hookonce_destination_waiting", {{"destination", "upkeep-test"}}), 1);
  EXPECT_EQ(gauge("hookonce_deliveries", {{"state", "pending"}}), 1);

  Settlement settlement;
  settlement.event = waiting[0].id;
  settlement.destination = "upkeep-test";
  ClaimRequest claim;
  claim.destinations.push_back({"upkeep-test", 1, std::chrono::minutes(1), 20, std::chrono::hours(72)});
  const Result<Claimed> claimed = store_->claim(claim, clock_.now());
  ASSERT_OK(claimed);
  ASSERT_EQ(claimed->leases.size(), 1U);
  settlement.attempt = claimed->leases[0].attempt;
  settlement.next = Next::kDelivered;
  settlement.result.outcome = Outcome::kSuccess;
  ASSERT_OK(store_->commit({}, std::vector<Settlement>{settlement}, clock_.now()));
  clock_.advance(std::chrono::minutes(1));
  upkeep_->measure(clock_.now());
  EXPECT_EQ(gauge("hookonce_destination_waiting", {{"destination", "upkeep-test"}}), 0);
  EXPECT_EQ(gauge("hookonce_deliveries", {{"state", "pending"}}), 0);
}

TEST_F(UpkeepTest, CountsNothingWhereACommitWouldWaitBehindIt) {
  metrics().gauge("hookonce_events", "").set(0);
  accept(3);
  upkeep_->run(clock_.now());
  EXPECT_EQ(gauge("hookonce_events"), 0);
  upkeep_->measure(clock_.now());
  EXPECT_EQ(gauge("hookonce_events"), 3);
}

TEST_F(UpkeepTest, RaisesAnAlarmForABurstOfRejectionsAndEndsIt) {
  SourceCounters& counters = source_counters("upkeep-test");
  const Labels labels{{"source", "upkeep-test"}};
  for (int i = 0; i < 20; ++i) counters.refuse(Refusal::kSignatureMismatch, clock_.now());
  testing::internal::CaptureStderr();
  for (int second = 0; second < 5; ++second) {
    upkeep_->run(clock_.now());
    clock_.advance(std::chrono::seconds(1));
  }
  EXPECT_EQ(gauge("hookonce_source_alarm", labels), 1);
  for (int second = 0; second < 90; ++second) {
    upkeep_->run(clock_.now());
    clock_.advance(std::chrono::seconds(1));
  }
  EXPECT_EQ(gauge("hookonce_source_alarm", labels), 0);
  const std::string log = testing::internal::GetCapturedStderr();
  const auto count = [&log](const std::string& text) {
    int found = 0;
    for (auto at = log.find(text); at != std::string::npos; at = log.find(text, at + 1)) ++found;
    return found;
  };
  EXPECT_EQ(count("source.alarm source=upkeep-test rejected_last_minute=20 code=signature_mismatch"), 1) << log;
  EXPECT_EQ(count("source.alarm_ended source=upkeep-test lasted_s=60"), 1) << log;
}

TEST_F(UpkeepTest, MeasuresHowFarTheClockIsAheadOfTheSenders) {
  ClockSkew& skew = source_counters("upkeep-skew").clock_skew;
  for (const int seconds : {-3, 412, 410, 413, 0}) skew.add(std::chrono::seconds(seconds));
  upkeep_->measure(clock_.now());
  EXPECT_EQ(gauge("hookonce_clock_skew_seconds", {{"source", "upkeep-skew"}}), 410);
}

// A rolling deploy: the other instance still puts events into a line that this configuration no longer has.
TEST_F(UpkeepTest, LinesOfADestinationWithoutOrderAreFreedAgainAndAgain) {
  Config config;
  config.destinations["backend"].name = "backend";
  upkeep_->configure(std::make_shared<const Config>(config));
  upkeep_->run(clock_.now());
  const int nudges = nudges_;
  std::vector<NewEvent> events(2);
  for (NewEvent& event : events) {
    event.id = EventId::make(clock_.now());
    event.source = "shop";
    event.ordering_key = "k";
    event.destinations = event.ordered = {"backend"};
  }
  ASSERT_OK(store_->commit(events, {}, clock_.now()));
  const auto due = [&] {
    const ClaimRequest request{{{"backend", 10, std::chrono::seconds(30), 20, std::chrono::hours(72)}}};
    return store_->claim(request, clock_.now())->leases.size();
  };
  EXPECT_EQ(due(), 1u);
  upkeep_->run(clock_.now());
  EXPECT_EQ(due(), 0u);
  clock_.advance(std::chrono::minutes(1));
  upkeep_->run(clock_.now());
  EXPECT_EQ(due(), 2u) << "the second one, and the first whose lease ran out";
  EXPECT_GE(nudges_, nudges);
}

}  // namespace
}  // namespace hookonce
