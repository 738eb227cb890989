// What the store suites share: every backend that open_store() knows, opened fresh, and short words for what a gateway
// does with it.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "store/open.h"
#include "test/support/asserts.h"
#include "test/support/event_builder.h"
#include "test/support/temp_folder.h"

namespace hookonce {

// A new backend is one line here.
inline std::vector<std::string> store_schemes() {
  return {"memory", "sqlite"};
}

inline std::string store_url(const std::string& scheme, const TempFolder& folder) {
  return scheme == "sqlite" ? "sqlite:" + folder.file("inbox.db") : scheme + ":";
}

class StoreFixture : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    auto opened = open_store(store_url(GetParam(), folder_), now_);
    ASSERT_OK(opened);
    store_ = *std::move(opened);
  }

  AcceptFacts accept(NewEvent event) {
    const auto facts = store_->commit(events_of(std::move(event)), {}, now_);
    EXPECT_OK(facts);
    return facts.ok() ? facts.value().accepts.at(0) : AcceptFacts();
  }
  SettleFacts settle(const Settlement& settlement) {
    const std::vector<Settlement> settlements{settlement};
    const auto facts = store_->commit({}, settlements, now_);
    EXPECT_OK(facts);
    return facts.ok() ? facts.value().settles.at(0) : SettleFacts();
  }
  Claimed claim(int slots = 100, const std::string& destination = "backend") {
    auto claimed = store_->claim({{{destination, slots, kLease, attempts_, std::chrono::hours(72), skip_dead_}}}, now_);
    EXPECT_OK(claimed);
    return claimed.ok() ? *std::move(claimed) : Claimed();
  }
  // REQUIRES: something is due.
  Lease lease(const std::string& destination = "backend") {
    Claimed claimed = claim(1, destination);
    EXPECT_EQ(claimed.leases.size(), 1u);
    return claimed.leases.empty() ? Lease() : std::move(claimed.leases[0]);
  }
  EventDetail get(const EventId& id) {
    const auto detail = store_->get(id);
    EXPECT_OK(detail);
    EXPECT_TRUE(detail.ok() && detail.value().has_value());
    return detail.ok() ? detail.value().value_or(EventDetail()) : EventDetail();
  }
  std::vector<EventId> list(const EventFilter& filter = {}) {
    std::vector<EventId> ids;
    const auto page = store_->list(filter, kListMax, std::nullopt);
    EXPECT_OK(page);
    if (!page.ok()) return ids;
    for (const EventSummary& item : page.value().items) ids.push_back(item.id);
    return ids;
  }
  Replayed replay(const ReplayRequest& request) {
    auto replayed = store_->replay(request, now_);
    EXPECT_OK(replayed);
    return replayed.ok() ? *std::move(replayed) : Replayed();
  }
  void pass(Duration time) { now_ += time; }

  static constexpr Duration kLease = std::chrono::seconds(30);

  TempFolder folder_;
  Time now_ = kTestStart;
  int attempts_ = 20;
  bool skip_dead_ = false;
  std::unique_ptr<Store> store_;
};

inline std::string scheme_name(const testing::TestParamInfo<std::string>& info) {
  return info.param;
}

}  // namespace hookonce
