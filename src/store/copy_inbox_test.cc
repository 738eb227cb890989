#include "store/copy_inbox.h"

#include <gtest/gtest.h>

#include "store/inbox_records.h"
#include "store/open.h"
#include "test/support/asserts.h"
#include "test/support/event_builder.h"
#include "test/support/manual_clock.h"
#include "test/support/temp_folder.h"

namespace hookonce {
namespace {

// From memory into a file, which can be closed and opened between two runs.
class CopyInbox : public testing::Test {
 protected:
  void fill(int events) {
    std::vector<NewEvent> batch;
    for (int i = 0; i < events; ++i) batch.push_back(NewEventBuilder().key("k" + std::to_string(i)).build());
    const auto committed = source_->commit(batch, {}, clock_.now());
    ASSERT_OK(committed);
    ids_.clear();
    for (const AcceptFacts& facts : committed.value().accepts) ids_.push_back(facts.id);
  }
  void open_target(OpenFor use = OpenFor::kCopyingInto) {
    target_.reset();
    auto opened = open_store(url_, clock_.now(), use);
    ASSERT_OK(opened);
    target_ = *std::move(opened);
  }
  // Stops after `pages` of the copying half.
  Result<CopyReport> copy(int pages = 1'000'000) {
    return copy_inbox({*source_, "there"}, {*target_, "here"}, clock_, [&](const CopyProgress& progress) {
      EXPECT_LE(progress.done, progress.total);
      return progress.stage != CopyProgress::Stage::kCopying || pages-- > 0;
    });
  }

  ManualClock clock_;
  TempFolder folder_;
  const std::string url_ = "sqlite:" + folder_.file("target.db");
  std::unique_ptr<Store> source_ = *open_store("memory:", clock_.now());
  std::unique_ptr<Store> target_;
  std::vector<EventId> ids_;
};

TEST_F(CopyInbox, BothSidesAreEqualInTheEndAndTheTargetServes) {
  fill(3000);
  open_target();
  const auto report = copy();
  ASSERT_OK(report);
  EXPECT_FALSE(report->stopped);
  EXPECT_TRUE(report->equal());
  EXPECT_EQ(report->source.counts(), (InboxCounts{3000, 0, 3000, 3000, 0, 3000}));
  EXPECT_EQ(report->source.hash(), report->target.hash());
  open_target(OpenFor::kServing);
  const auto again = target_->commit(events_of(NewEventBuilder().key("k2999").build()), {}, clock_.now());
  ASSERT_OK(again);
  EXPECT_EQ(again->accepts[0].verdict, Verdict::kDuplicate);
  EXPECT_EQ(again->accepts[0].id, ids_[2999]);
}

TEST_F(CopyInbox, GoesOnWhereItWasInterrupted) {
  fill(3000);
  open_target();
  const auto stopped = copy(3);
  ASSERT_OK(stopped);
  EXPECT_TRUE(stopped->stopped);
  target_.reset();
  EXPECT_EQ(open_store(url_, clock_.now()).code(), Code::kPrecondition) << "no gateway serves a half copy";

  open_target();
  const auto report = copy();
  ASSERT_OK(report);
  EXPECT_EQ(report->resumed_at, 3 * kCopiedRecords);
  EXPECT_TRUE(report->equal());
  EXPECT_EQ(report->target.counts().events, 3000);
}

TEST_F(CopyInbox, IsResumedWhereOnlyTheComparisonWasInterrupted) {
  fill(1200);
  open_target();
  bool comparing = false;
  const auto stopped =
      copy_inbox({*source_, "there"}, {*target_, "here"}, clock_, [&comparing](const CopyProgress& progress) {
        comparing = progress.stage == CopyProgress::Stage::kComparing;
        return !comparing;
      });
  ASSERT_OK(stopped);
  EXPECT_TRUE(stopped->stopped && comparing);
  open_target();
  const auto report = copy();
  ASSERT_OK(report);
  EXPECT_EQ(report->resumed_at, 1200);
  EXPECT_TRUE(report->equal());
}

TEST_F(CopyInbox, APageThatIsWrittenTwiceIsThereOnce) {
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
  EXPECT_TRUE(report->equal());
  EXPECT_EQ(report->target.counts().events, 30);
}

TEST_F(CopyInbox, ATargetThatIsNotEmptyIsRefused) {
  fill(3);
  open_target();
  ASSERT_OK(target_->commit(events_of(NewEventBuilder().build()), {}, clock_.now()));
  const auto report = copy();
  EXPECT_EQ(report.code(), Code::kPrecondition);
  EXPECT_NE(report.status().message().find("not empty"), std::string::npos) << report.status().message();
}

TEST_F(CopyInbox, APartOfAnotherInboxIsRefused) {
  fill(1000);
  open_target();
  ASSERT_OK(copy(1));
  source_ = *open_store("memory:", clock_.now());
  fill(1000);
  const auto report = copy();
  EXPECT_EQ(report.code(), Code::kPrecondition);
  EXPECT_NE(report.status().message().find("another inbox"), std::string::npos) << report.status().message();
}

TEST_F(CopyInbox, ACopyThatIsNotFinishedIsNoSource) {
  fill(1000);
  open_target();
  ASSERT_OK(copy(1));
  const auto third = open_store("memory:", clock_.now());
  const auto report =
      copy_inbox({*target_, "half"}, {**third, "third"}, clock_, [](const CopyProgress&) { return true; });
  EXPECT_EQ(report.code(), Code::kPrecondition);
}

TEST_F(CopyInbox, ASourceThatWasInUseShowsAndTheTargetIsNotServed) {
  fill(1200);
  open_target();
  const auto report = copy_inbox({*source_, "there"}, {*target_, "here"}, clock_, [&](const CopyProgress& progress) {
    if (progress.stage == CopyProgress::Stage::kCopying && progress.done == 1000) {
      EXPECT_OK(source_->commit(events_of(NewEventBuilder().key("k700").build()), {}, clock_.now()));
    }
    return true;
  });
  ASSERT_OK(report);
  EXPECT_FALSE(report->equal());
  EXPECT_EQ(report->difference, ids_[700].text());
  EXPECT_EQ(report->source.counts().arrivals, 1201);
  target_.reset();
  EXPECT_EQ(open_store(url_, clock_.now()).code(), Code::kPrecondition);
}

TEST_F(CopyInbox, AnEmptyInboxIsCopiedToo) {
  open_target();
  const auto report = copy();
  ASSERT_OK(report);
  EXPECT_TRUE(report->equal());
  open_target(OpenFor::kServing);
}

TEST_F(CopyInbox, TheSourceIsLeftAsItIs) {
  open_target(OpenFor::kServing);
  ASSERT_OK(target_->commit(events_of(NewEventBuilder().key("k").build()), {}, clock_.now()));
  ASSERT_OK(target_->claim({{{"backend", 1, std::chrono::seconds(30), 20, std::chrono::hours(72)}}}, clock_.now()));
  std::vector<std::string> hashes;
  for (int run = 0; run < 2; ++run) {
    open_target(OpenFor::kCopyingFrom);
    const auto third = open_store("memory:", clock_.now());
    const auto report =
        copy_inbox({*target_, "file"}, {**third, "third"}, clock_, [](const CopyProgress&) { return true; });
    ASSERT_OK(report);
    EXPECT_TRUE(report->equal());
    hashes.push_back(report->source.hash());
    clock_.advance(std::chrono::seconds(1));
  }
  EXPECT_EQ(hashes[0], hashes[1]) << "the lease in flight kept its end";
}

TEST_F(CopyInbox, WhatIsNotThereOrKeepsNothingIsNoSource) {
  EXPECT_EQ(open_store(url_, clock_.now(), OpenFor::kCopyingFrom).code(), Code::kPrecondition);
  EXPECT_EQ(open_store("memory:", clock_.now(), OpenFor::kCopyingFrom).code(), Code::kInvalid);
  EXPECT_EQ(open_store("memory:", clock_.now(), OpenFor::kCopyingInto).code(), Code::kInvalid);
}

}  // namespace
}  // namespace hookonce
