// How every backend keeps rejected requests.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "store/memory_rejected.h"
#include "store/postgres_rejected.h"
#include "store/redis_rejected.h"
#include "store/rejected_store.h"
#include "store/sqlite_rejected.h"
#include "test/contract/store_fixture.h"

namespace hookonce {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class RejectedContract : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (skip_without(postgres_.missing()) || skip_without(redis_.missing())) GTEST_SKIP();
    open();
  }
  void open() {
    kept_.reset();
    const std::string& scheme = GetParam();
    if (scheme == "memory") {
      kept_ = make_memory_rejected();
    } else if (scheme == "sqlite") {
      auto opened = open_sqlite_rejected(folder_.file("inbox.db"));
      ASSERT_OK(opened);
      kept_ = *std::move(opened);
    } else if (scheme == "postgres") {
      ASSERT_OK(open_postgres_store(postgres_.url(), PostgresClock::kCaller));  // which makes the table
      auto opened = open_postgres_rejected(postgres_.url());
      ASSERT_OK(opened);
      kept_ = *std::move(opened);
    } else {
      auto opened = open_redis_rejected(redis_.url());
      ASSERT_OK(opened);
      kept_ = *std::move(opened);
    }
  }

  RejectedRequest request(const std::string& name, const std::string& source = "shop") {
    RejectedRequest made;
    made.id = EventId::make(now_);
    made.source = source;
    made.code = "signature_mismatch";
    made.reason = "no active secret made this signature";
    made.first_at = made.last_at = now_;
    made.remote = "203.0.113.7";
    made.peer = "127.0.0.1";
    made.tls = true;
    made.path = "/in/shop/";
    made.query = "a=%20";
    made.headers = {{"X-Name", name}, {"Empty", ""}, {"x-name", "again \xff"}};
    made.body = std::string("bytes \0 \xff of ", 12) + name;
    return made;
  }
  void keep(const std::vector<RejectedRequest>& requests, RejectedLimits limits = {1000, 1 << 20}) {
    ASSERT_OK(kept_->keep(requests, limits));
  }
  std::vector<std::string> names(const std::optional<std::string>& source = std::nullopt) {
    std::vector<std::string> found;
    const auto page = kept_->list(source, 500, std::nullopt);
    EXPECT_OK(page);
    if (!page.ok()) return found;
    for (const RejectedRequest& item : page.value().items) found.emplace_back(*item.headers.first("X-Name"));
    return found;
  }

  TempFolder folder_;
  PostgresTestSchema postgres_{PostgresTestServer::kDirect};
  RedisTestInbox redis_;
  Time now_ = kTestStart;
  std::unique_ptr<RejectedStore> kept_;
};
INSTANTIATE_TEST_SUITE_P(Backends, RejectedContract, testing::Values("memory", "sqlite", "postgres", "redis"),
                         scheme_name);

TEST_P(RejectedContract, ARequestComesBackByteForByte) {
  const RejectedRequest made = request("a");
  keep({made});
  const auto got = kept_->get(made.id);
  ASSERT_OK(got);
  ASSERT_TRUE(got.value().has_value());
  EXPECT_EQ(*got.value(), made);
  const auto page = kept_->list(std::nullopt, 1, std::nullopt);
  ASSERT_OK(page);
  EXPECT_THAT(page.value().items, ElementsAre(made));
  EXPECT_FALSE(page.value().next.has_value());
  const auto other = kept_->get(EventId::make(now_));
  ASSERT_OK(other);
  EXPECT_FALSE(other.value().has_value());
}

TEST_P(RejectedContract, EqualOnesAreKeptOnceAndCounted) {
  const RejectedRequest first = request("a");
  keep({first, request("b")});
  now_ += seconds(90);
  RejectedRequest again = request("a");
  keep({again});
  now_ += seconds(5);
  keep({request("a"), request("a")});
  again.last_at -= seconds(60);  // one that waited longer than others
  keep({again});
  EXPECT_THAT(names(), ElementsAre("b", "a")) << "its place is that of the first";
  const auto got = kept_->get(first.id);
  ASSERT_OK(got);
  ASSERT_TRUE(got.value().has_value());
  EXPECT_EQ(got.value()->count, 5);
  EXPECT_EQ(got.value()->first_at, kTestStart);
  EXPECT_EQ(got.value()->last_at, now_);
}

TEST_P(RejectedContract, OneHeaderOrOneCodeMakesAnother) {
  RejectedRequest other_code = request("a");
  other_code.code = "timestamp_out_of_tolerance";
  RejectedRequest other_header = request("a");
  other_header.headers.add("X-GitHub-Delivery", "2");
  keep({request("a"), other_code, other_header, request("a", "other")});
  EXPECT_EQ(names().size(), 4u);
}

TEST_P(RejectedContract, TheOldestOfASourceGivesWayToItsNewest) {
  keep({request("a"), request("b"), request("x", "other"), request("c")}, {2, 1 << 20});
  EXPECT_THAT(names("shop"), ElementsAre("c", "b"));
  EXPECT_THAT(names("other"), ElementsAre("x"));
  RejectedRequest large = request("large");
  large.body.assign(1000, 'x');
  keep({request("d"), large}, {100, large.size() + request("d").size()});
  EXPECT_THAT(names("shop"), ElementsAre("large", "d"));
  keep({request("e")}, {0, 0});
  EXPECT_THAT(names("shop"), IsEmpty());
  EXPECT_THAT(names("other"), ElementsAre("x"));
  keep({request("a")});
  EXPECT_THAT(names("shop"), ElementsAre("a")) << "what gave way may come again";
}

TEST_P(RejectedContract, PagesGoOnBehindEachOtherUnderInserts) {
  std::vector<RejectedRequest> requests;
  for (int i = 0; i < 10; ++i) requests.push_back(request("r" + std::to_string(i), i % 2 == 0 ? "shop" : "other"));
  keep(requests);
  std::vector<std::string> seen;
  std::optional<std::string> cursor;
  do {
    const auto page = kept_->list("shop", 2, cursor);
    ASSERT_OK(page);
    for (const RejectedRequest& item : page.value().items) seen.emplace_back(*item.headers.first("X-Name"));
    cursor = page.value().next;
    keep({request("new" + std::to_string(seen.size()))});
  } while (cursor);
  EXPECT_THAT(seen, ElementsAre("r8", "r6", "r4", "r2", "r0"));
  EXPECT_EQ(kept_->list(std::nullopt, 2, "nonsense").code(), Code::kInvalid);
}

TEST_P(RejectedContract, APageOfLargeOnesIsShorterAndGoesOn) {
  std::vector<RejectedRequest> requests;
  for (int i = 0; i < 3; ++i) {
    requests.push_back(request("r" + std::to_string(i)));
    requests.back().body.assign(kRejectedPageBytes - 1000, 'x');
  }
  keep(requests, {1000, 1 << 30});
  std::vector<std::string> seen;
  std::optional<std::string> cursor;
  int pages = 0;
  do {
    const auto page = kept_->list(std::nullopt, 50, cursor);
    ASSERT_OK(page);
    ++pages;
    for (const RejectedRequest& item : page.value().items) seen.emplace_back(*item.headers.first("X-Name"));
    cursor = page.value().next;
  } while (cursor);
  EXPECT_THAT(seen, ElementsAre("r2", "r1", "r0"));
  EXPECT_EQ(pages, 3);
}

TEST_P(RejectedContract, WhatIsRemovedIsGoneAndMayComeAgain) {
  const RejectedRequest made = request("a");
  keep({made, request("b")});
  EXPECT_EQ(kept_->remove(made.id).value(), true);
  EXPECT_EQ(kept_->remove(made.id).value(), false);
  EXPECT_FALSE(kept_->get(made.id).value().has_value());
  EXPECT_THAT(names(), ElementsAre("b"));
  keep({request("a")});
  EXPECT_THAT(names("shop"), ElementsAre("a", "b"));
}

TEST_P(RejectedContract, OpenedAgainItHoldsTheSame) {
  if (GetParam() == "memory") return;
  keep({request("a")});
  open();
  EXPECT_THAT(names(), ElementsAre("a"));
}

TEST(SqliteRejected, AFileThatIsNoneIsReplaced) {
  const TempFolder folder;
  const std::string path = folder.file("inbox.db");
  std::ofstream(path + "-rejected") << std::string(10000, 'x');
  const auto opened = open_sqlite_rejected(path);
  ASSERT_OK(opened);
  EXPECT_TRUE(opened.value()->list(std::nullopt, 1, std::nullopt).value().items.empty());
}

}  // namespace
}  // namespace hookonce
