// What is Redis's own about a copy: the marker keeps gateways away, keys of pruned events are found without an index,
// and a page is written whole or not at all. That a copy answers as its original does is the model test's.
#include "store/redis_copy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "store/copy_inbox.h"
#include "store/open.h"
#include "store/redis_store.h"
#include "test/support/asserts.h"
#include "test/support/event_builder.h"
#include "test/support/manual_clock.h"
#include "test/support/missing_server.h"
#include "test/support/redis_inbox.h"

namespace hookonce {
namespace {

class RedisCopy : public testing::Test {
 protected:
  void SetUp() override {
    if (skip_without(inbox_.missing())) GTEST_SKIP() << inbox_.missing();
  }
  Result<std::unique_ptr<Store>> open(OpenFor use) const {
    return open_redis_store(inbox_.url(), RedisClock::kCaller, use);
  }
  void open_target(OpenFor use = OpenFor::kCopyingInto) {
    auto opened = open(use);
    ASSERT_OK(opened);
    target_ = *std::move(opened);
  }
  static std::vector<NewEvent> some_events(int count) {
    std::vector<NewEvent> batch;
    for (int i = 0; i < count; ++i) batch.push_back(NewEventBuilder().key("k" + std::to_string(i)).build());
    return batch;
  }
  void fill(int events) { ASSERT_OK(source_->commit(some_events(events), {}, clock_.now())); }
  // Stops after `pages` of the copying half.
  Result<CopyReport> copy(int pages = 1'000'000) {
    return copy_inbox({*source_, "there"}, {*target_, "here"}, clock_, [&](const CopyProgress& progress) {
      return progress.stage != CopyProgress::Stage::kCopying || pages-- > 0;
    });
  }
  std::vector<InboxRecord> first_page(Store& store) {
    const auto reader = store.records()->read(0, clock_.now());
    EXPECT_OK(reader);
    auto page = reader.value()->next();
    EXPECT_OK(page);
    return page.ok() ? *std::move(page) : std::vector<InboxRecord>();
  }
  std::string marker() const { return inbox_.call({"GET", inbox_.prefix() + ":inbox"}); }

  ManualClock clock_;
  RedisTestInbox inbox_;
  std::unique_ptr<Store> source_ = *open_store("memory:", clock_.now());
  std::unique_ptr<Store> target_;
};

TEST_F(RedisCopy, IsServedOnlyWhenItIsWholeAndGoesOnUntilThen) {
  fill(1200);
  open_target();
  const std::string whole = marker();
  const auto stopped = copy(1);
  ASSERT_OK(stopped);
  EXPECT_TRUE(stopped->stopped);
  EXPECT_NE(marker(), whole) << "an older version must not serve it either";
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
  EXPECT_EQ(marker(), whole);
  open_target(OpenFor::kServing);
  const auto again = target_->commit(events_of(NewEventBuilder().key("k1199").build()), {}, clock_.now());
  ASSERT_OK(again);
  EXPECT_EQ(again->accepts[0].verdict, Verdict::kDuplicate);
}

TEST_F(RedisCopy, AGatewayThatHadOpenedTheTargetWritesNothingIntoTheHalf) {
  fill(1200);
  auto gateway = open(OpenFor::kServing);
  ASSERT_OK(gateway);
  open_target();
  ASSERT_OK(copy(1));
  const auto events = events_of(NewEventBuilder().key("new").build());
  EXPECT_EQ((*gateway)->commit(events, {}, clock_.now()).code(), Code::kUnavailable);
  EXPECT_EQ((*gateway)->recover(clock_.now()).code(), Code::kUnavailable) << "it waits, nothing is lost";
  const auto report = copy();
  ASSERT_OK(report);
  EXPECT_TRUE(report->equal()) << report->difference.value_or("");
  ASSERT_OK((*gateway)->recover(clock_.now()));
  EXPECT_OK((*gateway)->commit(events, {}, clock_.now()));
}

TEST_F(RedisCopy, APageThatIsWrittenTwiceIsThereOnce) {
  fill(30);
  const std::vector<InboxRecord> page = first_page(*source_);
  open_target();
  const CopyMark mark{"there", page.back().position, page.back().id, 30};
  ASSERT_OK(target_->records()->write(page, mark));
  ASSERT_OK(target_->records()->write(page, mark));
  const auto report = copy();
  ASSERT_OK(report);
  EXPECT_TRUE(report->equal()) << report->difference.value_or("");
  EXPECT_EQ(report->target.counts().events, 30);
}

TEST_F(RedisCopy, APageThatCannotBeWrittenWholeIsNotWrittenAtAll) {
  for (const std::string& name : {inbox_.prefix() + ":{shop}:i", inbox_.prefix() + ":{shop}:n",
                                  inbox_.prefix() + ":{shop}:Q", inbox_.prefix() + ":sources"}) {
    source_ = *open_store("memory:", clock_.now());
    ASSERT_OK(source_->commit(events_of(NewEventBuilder().source("shop").key("k").build()), {}, clock_.now()));
    ASSERT_OK(source_->claim({{{"backend", 1, std::chrono::seconds(30), 20, std::chrono::hours(72)}}}, clock_.now()));
    const std::vector<InboxRecord> page = first_page(*source_);
    open_target();
    inbox_.call({"SET", name, "of somebody else"});
    const std::string before = marker();
    const std::size_t names = inbox_.names().size();
    const Status written = target_->records()->write(page, {"there", page.back().position, page.back().id, 1});
    EXPECT_FALSE(written.ok()) << name;
    EXPECT_NE(written.message().find("something else lies under a key"), std::string::npos) << written.message();
    EXPECT_EQ(marker(), before) << name;
    EXPECT_EQ(inbox_.names().size(), names) << name;
    inbox_.call({"DEL", name});
  }
}

TEST_F(RedisCopy, AStoreToCopyFromIsNeverMade) {
  const auto opened = open(OpenFor::kCopyingFrom);
  ASSERT_EQ(opened.code(), Code::kPrecondition);
  EXPECT_NE(opened.status().message().find("no inbox"), std::string::npos) << opened.status().message();
  EXPECT_TRUE(inbox_.names().empty());
}

TEST_F(RedisCopy, APageOfLargeBodiesHasFewerRecords) {
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

TEST_F(RedisCopy, KeysOfPrunedEventsAreFoundThoughNothingElseOfTheirSourceIsHere) {
  open_target(OpenFor::kServing);
  std::vector<NewEvent> batch;
  // More than one step of the scan, and more than one page; none of them is for a destination, so all may go.
  for (int i = 0; i < 1500; ++i) {
    batch.push_back(NewEventBuilder().source("shop").key("k" + std::to_string(i)).to({}).build());
  }
  const auto accepted = target_->commit(batch, {}, clock_.now());
  ASSERT_OK(accepted);
  clock_.advance(std::chrono::hours(1));
  while (*target_->prune({clock_.now(), clock_.now(), 500}) > 0) {
  }
  // Its key ends as a key of the source `x}:w:d:o` would.
  NewEventBuilder odd;
  odd.source("x").key("odd").to({"d"}).ordered({"d"}).ordering_key("o}:k:0123456789abcdef");
  ASSERT_OK(target_->commit(events_of(odd.build()), {}, clock_.now()));

  const auto copied = open_store("memory:", clock_.now());
  const auto report =
      copy_inbox({*target_, "here"}, {**copied, "there"}, clock_, [](const CopyProgress&) { return true; });
  ASSERT_OK(report);
  EXPECT_TRUE(report->equal()) << report->difference.value_or("");
  EXPECT_EQ(report->target.counts(), (InboxCounts{1, 1500, 1501, 1, 0, 1}));
  const auto again =
      (*copied)->commit(events_of(NewEventBuilder().source("shop").key("k1499").build()), {}, clock_.now());
  ASSERT_OK(again);
  EXPECT_EQ(again->accepts[0].id, accepted->accepts[1499].id);
}

TEST_F(RedisCopy, AnEventWithoutItsContentIsAnErrorAndNotLeftOut) {
  open_target(OpenFor::kServing);
  ASSERT_OK(target_->commit(events_of(NewEventBuilder().build()), {}, clock_.now()));
  const auto names = inbox_.names();
  const auto event = std::find_if(names.begin(), names.end(),
                                  [](const std::string& name) { return name.find("}:e:") != std::string::npos; });
  ASSERT_NE(event, names.end());
  inbox_.call({"DEL", *event});
  const auto reader = target_->records()->read(0, clock_.now());
  ASSERT_OK(reader);
  EXPECT_EQ(reader.value()->next().code(), Code::kInternal);
}

}  // namespace
}  // namespace hookonce
