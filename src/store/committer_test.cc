#include "store/committer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <future>
#include <map>

#include "base/sync.h"
#include "store/memory_store.h"
#include "test/support/asserts.h"
#include "test/support/event_builder.h"
#include "test/support/forwarding_store.h"
#include "test/support/manual_clock.h"

namespace hookonce {
namespace {

// Passes everything on to a memory store. Fault model: a commit waits at a gate while it is closed; the next commits
// answer the scripted errors; a commit holding an event of type "poison" is kInternal; one with an event of type
// "held", or with a settlement of the destination "held", is kExhausted until release(); the store is ill after
// kUnknown until recover() has been answered ok.
class FaultStore final : public ForwardingStore {
 public:
  FaultStore() : ForwardingStore(make_memory_store()) {}

  Result<CommitFacts> commit(std::span<const NewEvent> events, std::span<const Settlement> settlements,
                             Time now) override {
    {
      MutexLock lock(mutex_);
      batches_.push_back(events.size() + settlements.size());
      changed_.notify_all();
      while (closed_) changed_.wait(mutex_);
      if (!ill_.ok()) return unavailable(ill_.message());
      if (!commits_.empty()) {
        const Status status = commits_.front();
        commits_.pop_front();
        if (status.code() == Code::kUnknown) ill_ = status;
        return status;
      }
      const bool meets_held =
          std::any_of(events.begin(), events.end(), [](const NewEvent& event) { return event.type == "held"; }) ||
          std::any_of(settlements.begin(), settlements.end(),
                      [](const Settlement& settlement) { return settlement.destination == "held"; });
      if (held_ && meets_held) return exhausted("a lock is held");
    }
    for (const NewEvent& event : events) {
      if (event.type == "poison") return internal("cannot be stored");
    }
    return inner().commit(events, settlements, now);
  }
  bool claims_with_commit() const override { return true; }
  // The claim is of the transaction that this commit() is.
  Result<CommitAndClaimFacts> commit_and_claim(std::span<const NewEvent> events,
                                               std::span<const Settlement> settlements, const ClaimRequest& request,
                                               Time now) override {
    CommitAndClaimFacts facts;
    HK_ASSIGN(facts.commit, commit(events, settlements, now));
    ++claims;
    HK_ASSIGN(facts.claimed, inner().claim(request, now));
    return facts;
  }
  Status health() override {
    MutexLock lock(mutex_);
    return ill_;
  }
  Status recover(Time) override {
    MutexLock lock(mutex_);
    if (!recovers_.empty()) {
      const Status status = recovers_.front();
      recovers_.pop_front();
      if (!status.ok()) return status;
    }
    ill_ = {};
    return {};
  }

  void script_commit(Status status) {
    MutexLock lock(mutex_);
    commits_.push_back(std::move(status));
  }
  void script_recover(Status status) {
    MutexLock lock(mutex_);
    recovers_.push_back(std::move(status));
  }
  void close_gate() {
    MutexLock lock(mutex_);
    closed_ = true;
  }
  void open_gate() {
    MutexLock lock(mutex_);
    closed_ = false;
    changed_.notify_all();
  }
  void release() {
    MutexLock lock(mutex_);
    held_ = false;
  }
  void await_commits(std::size_t n) {
    MutexLock lock(mutex_);
    while (batches_.size() < n) changed_.wait(mutex_);
  }
  std::vector<std::size_t> batches() {
    MutexLock lock(mutex_);
    return batches_;
  }

  std::atomic<int> claims{0};  // made with a commit

 private:
  Mutex mutex_;
  CondVar changed_;
  bool closed_ GUARDED_BY(mutex_) = false;
  bool held_ GUARDED_BY(mutex_) = true;
  Status ill_ GUARDED_BY(mutex_);
  std::deque<Status> commits_ GUARDED_BY(mutex_);
  std::deque<Status> recovers_ GUARDED_BY(mutex_);
  std::vector<std::size_t> batches_ GUARDED_BY(mutex_);
};

// Collects answers and lets a test wait for them.
class Answers {
 public:
  Committer::AcceptDone accept(int index) {
    return [this, index](Result<AcceptFacts> result) { note(index, result.status()); };
  }
  Committer::SettleDone settle(int index) {
    return [this, index](Result<SettleFacts> result) {
      note(index, result.status());
      MutexLock lock(mutex_);
      if (result.ok() && result->taken) ++taken_;
    };
  }
  Code await(int index) {
    MutexLock lock(mutex_);
    while (!answers_.contains(index)) changed_.wait(mutex_);
    return answers_.at(index).code();
  }
  std::size_t count() {
    MutexLock lock(mutex_);
    return answers_.size();
  }
  int taken() {
    MutexLock lock(mutex_);
    return taken_;
  }

 private:
  void note(int index, Status status) {
    MutexLock lock(mutex_);
    EXPECT_FALSE(answers_.contains(index)) << "answered twice: " << index;
    answers_[index] = std::move(status);
    changed_.notify_all();
  }
  Mutex mutex_;
  CondVar changed_;
  std::map<int, Status> answers_ GUARDED_BY(mutex_);
  int taken_ GUARDED_BY(mutex_) = 0;
};

// Runs tasks at once on the poster's thread and counts the wake-ups.
class CountingExecutor final : public Executor {
 public:
  void post(std::vector<Task> tasks) override {
    ++posts;
    sizes.push_back(tasks.size());
    for (Task& task : tasks) task();
  }
  std::atomic<int> posts{0};
  std::vector<std::size_t> sizes;
};

struct CommitterTest : testing::Test {
  std::unique_ptr<Committer> make(Committer::Options options = {}) {
    auto committer = std::make_unique<Committer>(store, clock, std::move(options));
    committer->start();
    return committer;
  }
  Time later() const { return clock.now() + std::chrono::seconds(2); }

  ManualClock clock;
  FaultStore store;
  Answers answers;
};

TEST_F(CommitterTest, WhatGathersDuringOneCommitIsTheNextBatch) {
  store.close_gate();
  const auto committer = make();
  committer->submit(NewEventBuilder().build(), later(), nullptr, answers.accept(0));
  store.await_commits(1);
  for (int i = 1; i <= 10; ++i) committer->submit(NewEventBuilder().build(), later(), nullptr, answers.accept(i));
  store.open_gate();
  for (int i = 0; i <= 10; ++i) EXPECT_EQ(answers.await(i), Code::kOk);
  EXPECT_EQ(store.batches(), (std::vector<std::size_t>{1, 10}));
}

TEST_F(CommitterTest, ABatchKeepsItsLimits) {
  store.close_gate();
  Committer::Options options;
  options.batch_max = 4;
  const auto committer = make(options);
  for (int i = 0; i < 9; ++i) committer->submit(NewEventBuilder().build(), later(), nullptr, answers.accept(i));
  store.open_gate();
  for (int i = 0; i < 9; ++i) EXPECT_EQ(answers.await(i), Code::kOk);
  for (std::size_t size : store.batches()) EXPECT_LE(size, 4u);
}

TEST_F(CommitterTest, ATransactionHasRoomForSoManyKeysOrOneEvent) {
  store.close_gate();
  Committer::Options options;
  options.batch_keys_max = 3;
  const auto committer = make(options);
  for (int i = 0; i < 8; ++i) {
    NewEventBuilder builder;
    for (int key = 0; key < (i == 4 ? 9 : 2); ++key) builder.item(std::to_string(i) + "." + std::to_string(key));
    committer->submit(builder.build(), later(), nullptr, answers.accept(i));
  }
  store.open_gate();
  for (int i = 0; i < 8; ++i) EXPECT_EQ(answers.await(i), Code::kOk);
  EXPECT_EQ(store.batches(), std::vector<std::size_t>(8, 1));
}

TEST_F(CommitterTest, OneWakeUpPerBatchAndExecutor) {
  CountingExecutor first, second;
  store.close_gate();
  const auto committer = make();
  committer->submit(NewEventBuilder().build(), later(), nullptr, answers.accept(0));
  store.await_commits(1);
  for (int i = 1; i <= 6; ++i) {
    committer->submit(NewEventBuilder().build(), later(), i % 2 == 0 ? &first : &second, answers.accept(i));
  }
  store.open_gate();
  for (int i = 0; i <= 6; ++i) EXPECT_EQ(answers.await(i), Code::kOk);
  committer->stop();
  EXPECT_EQ(first.posts, 1);
  EXPECT_EQ(second.posts, 1);
  EXPECT_EQ(first.sizes, std::vector<std::size_t>{3});
}

TEST_F(CommitterTest, OnlyThePoisonRowFails) {
  store.close_gate();
  const auto committer = make();
  committer->submit(NewEventBuilder().build(), later(), nullptr, answers.accept(100));
  store.await_commits(1);
  for (int i = 0; i < 17; ++i) {
    committer->submit(NewEventBuilder().type(i == 11 ? "poison" : "fine").build(), later(), nullptr, answers.accept(i));
  }
  store.open_gate();
  for (int i = 0; i < 17; ++i) EXPECT_EQ(answers.await(i), i == 11 ? Code::kInternal : Code::kOk) << i;
  EXPECT_EQ(store.stats(clock.now())->events, 17);
}

TEST_F(CommitterTest, OnlyWhatOthersHoldWaitsAndIsRefusedWithItsDeadline) {
  store.close_gate();
  const auto committer = make();
  committer->submit(NewEventBuilder().build(), later(), nullptr, answers.accept(100));
  store.await_commits(1);
  for (int i = 0; i < 17; ++i) {
    committer->submit(NewEventBuilder().type(i == 5 ? "held" : "fine").build(), later(), nullptr, answers.accept(i));
  }
  store.open_gate();
  for (int i = 0; i < 17; ++i) {
    if (i != 5) EXPECT_EQ(answers.await(i), Code::kOk) << i;
  }
  // Those that come meanwhile are not in one batch with it.
  committer->submit(NewEventBuilder().build(), later(), nullptr, answers.accept(17));
  EXPECT_EQ(answers.await(17), Code::kOk);
  EXPECT_EQ(answers.count(), 18u);
  clock.advance(std::chrono::seconds(3));
  EXPECT_EQ(answers.await(5), Code::kUnavailable);
  EXPECT_EQ(store.stats(clock.now())->events, 18);
}

TEST_F(CommitterTest, WhatOthersHeldIsStoredWhenTheyLetGo) {
  store.close_gate();
  const auto committer = make();
  committer->submit(NewEventBuilder().build(), later(), nullptr, answers.accept(100));
  store.await_commits(1);
  for (int i = 0; i < 3; ++i)
    committer->submit(NewEventBuilder().type("held").build(), later(), nullptr, answers.accept(i));
  Settlement settlement;
  settlement.destination = "held";
  committer->submit(settlement, nullptr, answers.settle(3));
  committer->submit(NewEventBuilder().build(), later(), nullptr, answers.accept(4));
  store.open_gate();
  EXPECT_EQ(answers.await(4), Code::kOk);
  EXPECT_EQ(answers.count(), 2u);
  store.release();
  for (int i = 0; i < 4; ++i) EXPECT_EQ(answers.await(i), Code::kOk);
}

TEST_F(CommitterTest, StopLeavesNobodyWaitingBehindALock) {
  const auto committer = make();
  committer->submit(NewEventBuilder().type("held").build(), later(), nullptr, answers.accept(0));
  store.await_commits(2);
  clock.advance(std::chrono::seconds(3));
  committer->stop();
  EXPECT_EQ(answers.await(0), Code::kUnavailable);
}

TEST_F(CommitterTest, AnEventWhoseDeadlinePassedIsNeverStored) {
  const auto committer = make();
  committer->submit(NewEventBuilder().build(), clock.now() - Duration(1), nullptr, answers.accept(0));
  EXPECT_EQ(answers.await(0), Code::kUnavailable);
  EXPECT_EQ(store.stats(clock.now())->events, 0);
}

TEST_F(CommitterTest, AStoreThatCannotServeForAMomentGetsTheSameBatchAgain) {
  store.script_commit(unavailable("a lock is held"));
  const auto committer = make();
  committer->submit(NewEventBuilder().build(), later(), nullptr, answers.accept(0));
  EXPECT_EQ(answers.await(0), Code::kOk);
  EXPECT_EQ(store.batches(), (std::vector<std::size_t>{1, 1}));
}

TEST_F(CommitterTest, AFailedCommitIsUnknownAndTheStoreComesBack) {
  store.script_commit(unknown_outcome("commit failed"));
  store.script_recover(unavailable("no space"));
  const auto committer = make();
  committer->submit(NewEventBuilder().build(), later(), nullptr, answers.accept(0));
  EXPECT_EQ(answers.await(0), Code::kUnknown);
  for (int i = 1;; ++i) {  // until recovered; every try is answered
    committer->submit(NewEventBuilder().build(), later(), nullptr, answers.accept(i));
    const Code code = answers.await(i);
    if (code == Code::kOk) break;
    ASSERT_EQ(code, Code::kUnavailable);
  }
  EXPECT_OK(store.health());
}

TEST_F(CommitterTest, ADuplicateIsAnsweredThoughItsRecordCannotBeWritten) {
  const auto committer = make();
  committer->submit(NewEventBuilder().key("evt_1").build(), later(), nullptr, answers.accept(0));
  EXPECT_EQ(answers.await(0), Code::kOk);
  store.script_commit(unavailable("database is locked"));
  committer->submit(NewEventBuilder().key("evt_1").build(), later(), nullptr, answers.accept(1));
  EXPECT_EQ(answers.await(1), Code::kOk);
  store.script_recover(unavailable("no space"));
  store.script_commit(unknown_outcome("disk I/O error"));
  committer->submit(NewEventBuilder().key("evt_1").build(), later(), nullptr, answers.accept(2));
  EXPECT_EQ(answers.await(2), Code::kOk);
  store.script_commit(unknown_outcome("disk I/O error"));
  committer->submit(NewEventBuilder().key("evt_2").build(), later(), nullptr, answers.accept(3));
  EXPECT_NE(answers.await(3), Code::kOk);
}

TEST_F(CommitterTest, ASettlementIsKeptUntilTheStoreTakesIt) {
  const auto committer = make();
  committer->submit(NewEventBuilder().build(), later(), nullptr, answers.accept(0));
  ASSERT_EQ(answers.await(0), Code::kOk);
  const auto claimed =
      store.claim({{{"backend", 1, std::chrono::seconds(30), 20, std::chrono::hours(1)}}}, clock.now());
  ASSERT_OK(claimed);
  ASSERT_EQ(claimed->leases.size(), 1u);
  store.script_commit(unknown_outcome("commit failed"));
  store.script_recover(unavailable("no space"));
  committer->submit(success(claimed->leases[0]), nullptr, answers.settle(1));
  EXPECT_EQ(answers.await(1), Code::kOk);
  EXPECT_EQ(answers.taken(), 1);
}

ClaimRequest one_slot(Time) {
  return {{{"backend", 1, std::chrono::seconds(30), 20, std::chrono::hours(1)}}};
}

TEST_F(CommitterTest, AClaimGoesWithWhatIsCommitted) {
  store.close_gate();
  const auto committer = make();
  committer->submit(NewEventBuilder().build(), later(), nullptr, answers.accept(0));
  store.await_commits(1);
  auto claimed = std::async(std::launch::async, [&] { return committer->claim(one_slot); });
  committer->submit(NewEventBuilder().build(), later(), nullptr, answers.accept(1));
  store.open_gate();
  const Result<Claimed> result = claimed.get();
  ASSERT_OK(result);
  EXPECT_EQ(result->leases.size(), 1u);
  EXPECT_EQ(answers.await(1), Code::kOk);
  EXPECT_EQ(store.claims, 1);
  EXPECT_LE(store.batches().size(), 3u);
}

TEST_F(CommitterTest, AClaimAsksWhatIsWantedWhenItsTransactionBegins) {
  store.close_gate();
  const auto committer = make();
  committer->submit(NewEventBuilder().build(), later(), nullptr, answers.accept(0));
  store.await_commits(1);
  committer->submit(NewEventBuilder().build(), later(), nullptr, answers.accept(1));
  std::atomic<int> slots{0};
  auto claimed = std::async(std::launch::async, [&] {
    return committer->claim([&](Time now) {
      ClaimRequest request = one_slot(now);
      request.destinations[0].slots = slots;
      return request;
    });
  });
  slots = 2;
  store.open_gate();
  const Result<Claimed> result = claimed.get();
  ASSERT_OK(result);
  EXPECT_EQ(result->leases.size(), 2u);
}

TEST_F(CommitterTest, AClaimIsMadeThoughAnotherOfItsBatchCannotBeStored) {
  store.close_gate();
  const auto committer = make();
  committer->submit(NewEventBuilder().build(), later(), nullptr, answers.accept(0));
  store.await_commits(1);
  committer->submit(NewEventBuilder().type("poison").build(), later(), nullptr, answers.accept(1));
  committer->submit(NewEventBuilder().type("held").build(), later(), nullptr, answers.accept(2));
  auto claimed = std::async(std::launch::async, [&] { return committer->claim(one_slot); });
  store.open_gate();
  const Result<Claimed> result = claimed.get();
  ASSERT_OK(result);
  EXPECT_EQ(result->leases.size(), 1u);
  EXPECT_EQ(answers.await(1), Code::kInternal);
  store.release();
  EXPECT_EQ(answers.await(2), Code::kOk);
}

TEST_F(CommitterTest, AClaimIsRefusedAtOnceWhileTheStoreIsIllAndAfterTheStop) {
  const auto committer = make();
  store.script_commit(unknown_outcome("commit failed"));
  store.script_recover(precondition("not a database"));
  EXPECT_EQ(committer->claim(one_slot).code(), Code::kUnknown);
  const Result<Claimed> refused = committer->claim(one_slot);
  EXPECT_EQ(refused.code(), Code::kUnavailable);
  EXPECT_EQ(refused.status().message(), "commit failed");
  committer->stop();
  EXPECT_EQ(committer->claim(one_slot).code(), Code::kUnavailable);
}

TEST_F(CommitterTest, StopAnswersAClaimThatWaits) {
  store.close_gate();
  const auto committer = make();
  committer->submit(NewEventBuilder().build(), later(), nullptr, answers.accept(0));
  store.await_commits(1);
  auto claimed = std::async(std::launch::async, [&] { return committer->claim(one_slot); });
  auto stopped = std::async(std::launch::async, [&] { committer->stop(); });
  store.open_gate();
  stopped.get();
  const Result<Claimed> result = claimed.get();
  EXPECT_TRUE(result.ok() || result.code() == Code::kUnavailable) << result.status().message();
}

TEST_F(CommitterTest, AStoreThatOnlyAPersonCanMendIsGivenUpOnce) {
  Mutex mutex;
  CondVar changed;
  int given_up = 0;
  store.script_commit(unknown_outcome("commit failed"));
  for (int i = 0; i < 3; ++i) store.script_recover(precondition("not a database"));
  Committer::Options options;
  options.given_up = [&](const Status& status) {
    EXPECT_EQ(status.code(), Code::kPrecondition);
    MutexLock lock(mutex);
    ++given_up;
    changed.notify_all();
  };
  const auto committer = make(options);
  committer->submit(NewEventBuilder().build(), later(), nullptr, answers.accept(0));
  EXPECT_EQ(answers.await(0), Code::kUnknown);
  {
    MutexLock lock(mutex);
    while (given_up == 0) changed.wait(mutex);
  }
  committer->submit(NewEventBuilder().build(), later(), nullptr, answers.accept(1));
  EXPECT_EQ(answers.await(1), Code::kUnavailable);
  committer->stop();
  EXPECT_EQ(given_up, 1);
}

TEST_F(CommitterTest, AFullQueueAnswersAtOnce) {
  Committer::Options options;
  options.queue_max = 2;
  const auto committer = std::make_unique<Committer>(store, clock, options);  // not started: nothing drains
  for (int i = 0; i < 3; ++i) committer->submit(NewEventBuilder().build(), later(), nullptr, answers.accept(i));
  EXPECT_EQ(answers.await(2), Code::kExhausted);
  EXPECT_EQ(answers.count(), 1u);
  EXPECT_EQ(committer->queued(), 2u);
}

TEST_F(CommitterTest, StopCommitsWhatWasSubmittedAndThenRefuses) {
  store.close_gate();
  const auto committer = make();
  for (int i = 0; i < 5; ++i) committer->submit(NewEventBuilder().build(), later(), nullptr, answers.accept(i));
  store.await_commits(1);
  store.open_gate();
  committer->stop();
  EXPECT_EQ(answers.count(), 5u);
  EXPECT_EQ(store.stats(clock.now())->events, 5);
  committer->submit(NewEventBuilder().build(), later(), nullptr, answers.accept(5));
  EXPECT_EQ(answers.await(5), Code::kUnavailable);
  committer->stop();
}

TEST_F(CommitterTest, TheDispatcherHearsOfNewDeliveriesOnly) {
  std::atomic<int> nudges{0};
  Committer::Options options;
  options.deliveries_pending = [&] { ++nudges; };
  const auto committer = make(options);
  committer->submit(NewEventBuilder().key("k").build(), later(), nullptr, answers.accept(0));
  ASSERT_EQ(answers.await(0), Code::kOk);
  committer->submit(NewEventBuilder().key("k").build(), later(), nullptr, answers.accept(1));  // a duplicate
  ASSERT_EQ(answers.await(1), Code::kOk);
  committer->submit(NewEventBuilder().to({}).build(), later(), nullptr, answers.accept(2));
  ASSERT_EQ(answers.await(2), Code::kOk);
  committer->stop();
  EXPECT_EQ(nudges, 1);
}

TEST_F(CommitterTest, TheDispatcherHearsOfATransactionThatMayHaveTakenEffect) {
  std::atomic<int> nudges{0};
  Committer::Options options;
  options.deliveries_pending = [&] { ++nudges; };
  store.script_commit(unknown_outcome("commit failed"));
  const auto committer = make(options);
  committer->submit(NewEventBuilder().build(), later(), nullptr, answers.accept(0));
  ASSERT_EQ(answers.await(0), Code::kUnknown);
  committer->stop();
  EXPECT_EQ(nudges, 1);
}

TEST_F(CommitterTest, WhatABodyTakesOfTheBudgetIsFreeBeforeTheAnswer) {
  Budget budget(1000);
  NewEvent event = NewEventBuilder().build();
  ASSERT_TRUE(event.charge.grow(budget, 600));
  std::atomic<std::size_t> used{1};
  const auto committer = make();
  committer->submit(std::move(event), later(), nullptr, [&](Result<AcceptFacts>) { used = budget.used(); });
  committer->stop();
  EXPECT_EQ(used, 0u);
}

}  // namespace
}  // namespace hookonce
