#include "app/rejected_keeper.h"

#include <gtest/gtest.h>

#include "store/memory_rejected.h"
#include "test/support/asserts.h"
#include "test/support/manual_clock.h"
#include "test/support/signal.h"

namespace hookonce {
namespace {

class RejectedKeeperTest : public testing::Test {
 protected:
  RejectedKeeperTest() {
    config_.sources["shop"].name = "shop";
    config_.sources["other"].name = "other";
  }
  RejectedRequest request(const std::string& body, const std::string& source = "shop") {
    RejectedRequest made;
    made.id = EventId::make(clock_.wall());
    made.source = source;
    made.body = body;
    return made;
  }
  std::size_t kept(const std::string& source) {
    const auto page = store_->list(source, 500, std::nullopt);
    EXPECT_OK(page);
    return page.ok() ? page.value().items.size() : 0;
  }

  ManualClock clock_;
  Config config_;
  std::unique_ptr<RejectedStore> store_ = make_memory_rejected();
};

TEST_F(RejectedKeeperTest, WritesTenOfASourceASecondAndLetsABurstWaitForItsTurn) {
  RejectedKeeper keeper(*store_, clock_, config_);
  for (int i = 0; i < 20; ++i) keeper.put(request(std::to_string(i)));
  for (int i = 0; i < 3; ++i) keeper.put(request(std::to_string(i), "other"));
  keeper.flush();
  EXPECT_EQ(kept("shop"), 10u);
  EXPECT_EQ(kept("other"), 3u);
  clock_.advance(std::chrono::milliseconds(500));
  keeper.flush();
  EXPECT_EQ(kept("shop"), 15u);
  clock_.advance(std::chrono::seconds(60));
  keeper.flush();
  EXPECT_EQ(kept("shop"), 20u);
}

TEST_F(RejectedKeeperTest, AFloodOfOneSourceTakesBoundedMemoryAndNoOtherSourcesPlace) {
  RejectedKeeper keeper(*store_, clock_, config_);
  for (int i = 0; i < 10'000; ++i) keeper.put(request(std::to_string(i)));
  keeper.put(request("one", "other"));
  keeper.flush();
  EXPECT_EQ(kept("other"), 1u);
  for (int second = 0; second < 60; ++second) {
    clock_.advance(std::chrono::seconds(1));
    keeper.flush();
  }
  EXPECT_GE(kept("shop"), kWaitingOfSource);
  EXPECT_LE(kept("shop"), kWaitingOfSource + 10);
}

TEST_F(RejectedKeeperTest, EachSourceHasAnEqualShare) {
  config_.store.rejected_limit = 9;
  config_.store.rejected_bytes = 2000;
  RejectedKeeper keeper(*store_, clock_, config_);
  for (int i = 0; i < 10; ++i) keeper.put(request(std::to_string(i)));
  keeper.put(request(std::string(1001, 'x'), "other"));
  keeper.flush();
  EXPECT_EQ(kept("shop"), 4u);
  EXPECT_EQ(kept("other"), 0u) << "larger than the share of its source";
  config_.store.rejected_limit = 0;
  keeper.configure(config_);
  clock_.advance(std::chrono::seconds(1));
  keeper.put(request("none"));
  keeper.flush();
  EXPECT_EQ(kept("shop"), 4u);
}

TEST_F(RejectedKeeperTest, KeepsTheReasonThatLookingAtARequestFinds) {
  const auto diagnose = [](const RejectedRequest& request) {
    return request.body == "known" ? std::optional<std::string>("better") : std::nullopt;
  };
  RejectedKeeper keeper(*store_, clock_, config_, diagnose);
  for (const std::string body : {"known", "unknown"}) {
    RejectedRequest made = request(body);
    made.reason = "as told";
    keeper.put(std::move(made));
  }
  keeper.flush();
  for (const RejectedRequest& item : store_->list("shop", 500, std::nullopt).value().items)
    EXPECT_EQ(item.reason, item.body == "known" ? "better" : "as told");
}

TEST_F(RejectedKeeperTest, LooksAtRequestsForAPartOfTheTimeAndKeepsTheOthersAsTheyAre) {
  int looked = 0;
  const auto diagnose = [&](const RejectedRequest&) {
    ++looked;
    clock_.advance(std::chrono::milliseconds(400));
    return std::optional<std::string>("better");
  };
  {
    RejectedKeeper keeper(*store_, clock_, config_, diagnose);
    for (int i = 0; i < 10; ++i) keeper.put(request(std::to_string(i)));
    keeper.flush();
    EXPECT_EQ(kept("shop"), 10u) << "what is not looked at is kept all the same";
  }
  // A burst of one second, and a tenth of what passes: four times 400 ms, less than a whole one comes back meanwhile.
  EXPECT_GE(looked, 3);
  EXPECT_LE(looked, 4);
}

// A store that stands still until it may go on.
class StandingStore final : public RejectedStore {
 public:
  Status keep(std::span<const RejectedRequest> requests, const RejectedLimits&) override {
    entered.set();
    go_on.wait();
    kept += requests.size();
    return {};
  }
  Result<RejectedPage> list(const std::optional<std::string>&, int, const std::optional<std::string>&) override {
    return RejectedPage();
  }
  Result<std::optional<RejectedRequest>> get(const EventId&) override { return std::optional<RejectedRequest>(); }
  Result<bool> remove(const EventId&) override { return false; }

  Signal entered;
  Signal go_on;
  std::size_t kept = 0;
};

TEST_F(RejectedKeeperTest, AStoreThatStandsStillHoldsNobodyUpAndWhatWaitsIsWrittenAtTheEnd) {
  StandingStore store;
  {
    RejectedKeeper keeper(store, clock_, config_);
    keeper.put(request("first"));
    store.entered.wait();
    for (int i = 0; i < 3 * static_cast<int>(kWaitingOfSource); ++i) keeper.put(request("more"));
    store.go_on.set();
  }
  EXPECT_EQ(store.kept, 1 + kWaitingOfSource);
}

}  // namespace
}  // namespace hookonce
