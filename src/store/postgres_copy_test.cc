// What is PostgreSQL's own about a copy: the mark is a table, the pages are transactions, and a store to copy from is
// never made. That a copy answers as its original does is the model test's.
#include "store/postgres_copy.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "store/copy_inbox.h"
#include "store/open.h"
#include "store/postgres_store.h"
#include "test/support/asserts.h"
#include "test/support/event_builder.h"
#include "test/support/manual_clock.h"
#include "test/support/postgres_schema.h"

namespace hookonce {
namespace {

class PostgresCopy : public testing::Test {
 protected:
  void SetUp() override {
    if (skip_without(schema_.missing())) GTEST_SKIP() << schema_.missing();
  }
  Result<std::unique_ptr<Store>> open(OpenFor use) const {
    return open_postgres_store(schema_.url(), PostgresClock::kCaller, use);
  }
  void open_target(OpenFor use = OpenFor::kCopyingInto) {
    auto opened = open(use);
    ASSERT_OK(opened);
    target_ = *std::move(opened);
  }
  void fill(int events) {
    std::vector<NewEvent> batch;
    for (int i = 0; i < events; ++i) batch.push_back(NewEventBuilder().key("k" + std::to_string(i)).build());
    ASSERT_OK(source_->commit(batch, {}, clock_.now()));
  }
  // Stops after `pages` of the copying half.
  Result<CopyReport> copy(int pages = 1'000'000) {
    return copy_inbox({*source_, "there"}, {*target_, "here"}, clock_, [&](const CopyProgress& progress) {
      return progress.stage != CopyProgress::Stage::kCopying || pages-- > 0;
    });
  }

  ManualClock clock_;
  PostgresTestSchema schema_{PostgresTestServer::kDirect};
  std::unique_ptr<Store> source_ = *open_store("memory:", clock_.now());
  std::unique_ptr<Store> target_;
};

TEST_F(PostgresCopy, IsServedOnlyWhenItIsWholeAndGoesOnUntilThen) {
  fill(1200);
  open_target();
  const auto stopped = copy(1);
  ASSERT_OK(stopped);
  EXPECT_TRUE(stopped->stopped);
  target_.reset();
  const auto half = open(OpenFor::kServing);
  ASSERT_EQ(half.code(), Code::kPrecondition);
  EXPECT_NE(half.status().message().find("a copy of there that was not finished"), std::string::npos)
      << half.status().message();

  open_target();
  const auto report = copy();
  ASSERT_OK(report);
  EXPECT_EQ(report->resumed_at, kCopiedRecords);
  EXPECT_TRUE(report->equal()) << report->difference.value_or("");
  EXPECT_EQ(report->target.counts().events, 1200);
  open_target(OpenFor::kServing);
  const auto again = target_->commit(events_of(NewEventBuilder().key("k1199").build()), {}, clock_.now());
  ASSERT_OK(again);
  EXPECT_EQ(again->accepts[0].verdict, Verdict::kDuplicate);
}

TEST_F(PostgresCopy, APageThatIsWrittenTwiceIsThereOnce) {
  fill(30);
  open_target();
  const auto reader = source_->records()->read(0, clock_.now());
  ASSERT_OK(reader);
  const auto page = reader.value()->next();
  ASSERT_OK(page);
  const CopyMark mark{"there", page->back().position, page->back().id, 30};
  ASSERT_OK(target_->records()->write(*page, mark));
  ASSERT_OK(target_->records()->write(*page, mark));
  const auto report = copy();
  ASSERT_OK(report);
  EXPECT_TRUE(report->equal()) << report->difference.value_or("");
  EXPECT_EQ(report->target.counts().events, 30);
}

TEST_F(PostgresCopy, AStoreToCopyFromIsNeverMade) {
  const auto opened = open(OpenFor::kCopyingFrom);
  ASSERT_EQ(opened.code(), Code::kPrecondition);
  EXPECT_NE(opened.status().message().find("no inbox in the schema"), std::string::npos) << opened.status().message();
  EXPECT_EQ(schema_.sql("SELECT to_regnamespace('" + schema_.name() + "') IS NULL"), "t");
}

TEST_F(PostgresCopy, APageOfLargeBodiesHasFewerRecords) {
  open_target(OpenFor::kServing);
  std::vector<NewEvent> batch;
  for (int i = 0; i < 5; ++i) {
    batch.push_back(NewEventBuilder().key("k" + std::to_string(i)).body(std::string(kCopiedBytes / 2, 'x')).build());
  }
  ASSERT_OK(target_->commit(batch, {}, clock_.now()));
  const auto reader = target_->records()->read(0, clock_.now());
  ASSERT_OK(reader);
  for (const std::size_t records : {2u, 2u, 1u, 0u}) {
    const auto page = reader.value()->next();
    ASSERT_OK(page);
    EXPECT_EQ(page->size(), records);
  }
}

TEST_F(PostgresCopy, AnEventWithoutItsContentIsAnErrorAndNotLeftOut) {
  open_target(OpenFor::kServing);
  ASSERT_OK(target_->commit(events_of(NewEventBuilder().build()), {}, clock_.now()));
  schema_.sql("DELETE FROM contents");
  const auto reader = target_->records()->read(0, clock_.now());
  ASSERT_OK(reader);
  EXPECT_EQ(reader.value()->next().code(), Code::kInternal);
}

}  // namespace
}  // namespace hookonce
