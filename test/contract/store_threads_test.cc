// What holds in every store backend when several threads call it at once.
#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "test/contract/store_fixture.h"

namespace hookonce {
namespace {

using std::chrono::hours;

class StoreThreads : public StoreFixture {};
INSTANTIATE_TEST_SUITE_P(Backends, StoreThreads, testing::ValuesIn(store_schemes()), scheme_name);

TEST_P(StoreThreads, OfConcurrentEqualArrivalsOneIsTheEvent) {
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

TEST_P(StoreThreads, ConcurrentClaimsNeverShareADelivery) {
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
