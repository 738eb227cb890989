// The delivering half on the memory store, with time that only the test moves and attempts that end as the test says.
#include "dispatch/pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <set>
#include <thread>

#include "base/metrics.h"
#include "core/destination_counters.h"
#include "store/memory_store.h"
#include "test/support/asserts.h"
#include "test/support/destination_builder.h"
#include "test/support/event_builder.h"
#include "test/support/forwarding_store.h"
#include "test/support/manual_clock.h"
#include "test/support/scripted_sender.h"
#include "test/support/signal.h"

namespace hookonce {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;

// Lets a test wait for what has been settled.
class RecordingObserver final : public DeliveryPool::Observer {
 public:
  struct Seen {
    Lease lease;
    Settlement settlement;
    SettleFacts facts;
  };
  void settled(const Lease& lease, const Settlement& settlement, const SettleFacts& facts) override {
    MutexLock lock(mutex_);
    seen_.push_back({lease, settlement, facts});
    changed_.notify_all();
  }
  Seen next() {
    MutexLock lock(mutex_);
    while (seen_.empty()) changed_.wait(mutex_);
    Seen seen = std::move(seen_.front());
    seen_.pop_front();
    return seen;
  }

 private:
  Mutex mutex_;
  CondVar changed_;
  std::deque<Seen> seen_ GUARDED_BY(mutex_);
};

// The memory store, and claims that fail on demand: apart from the commits, or with them.
class UnwillingStore final : public ForwardingStore {
 public:
  explicit UnwillingStore(bool with_commits) : ForwardingStore(make_memory_store()), with_commits_(with_commits) {}

  Result<Claimed> claim(const ClaimRequest& request, Time now) override {
    HK_TRY(note_claim());
    return inner().claim(request, now);
  }
  bool claims_with_commit() const override { return with_commits_; }
  Result<CommitAndClaimFacts> commit_and_claim(std::span<const NewEvent> events,
                                               std::span<const Settlement> settlements, const ClaimRequest& request,
                                               Time now) override {
    HK_TRY(note_claim());
    return inner().commit_and_claim(events, settlements, request, now);
  }

  void refuse(bool refuses) {
    MutexLock lock(mutex_);
    refuses_ = refuses;
  }
  int claims() {
    MutexLock lock(mutex_);
    return claims_;
  }
  void await_claims(int count) {
    MutexLock lock(mutex_);
    while (claims_ < count) changed_.wait(mutex_);
  }

 private:
  Status note_claim() {
    MutexLock lock(mutex_);
    ++claims_;
    changed_.notify_all();
    return refuses_ ? unavailable("the disk is full") : Status();
  }

  const bool with_commits_;
  Mutex mutex_;
  CondVar changed_;
  bool refuses_ GUARDED_BY(mutex_) = false;
  int claims_ GUARDED_BY(mutex_) = 0;
};

class DeliveryPoolTest : public ::testing::TestWithParam<bool> {
 protected:
  DeliveryPoolTest() {
    Committer::Options committer_options;
    committer_options.deliveries_pending = [this] { pool_->nudge(); };
    committer_ = std::make_unique<Committer>(store_, clock_, committer_options);
    DeliveryPool::Options options;
    options.observer = &observer_;
    pool_ = std::make_unique<DeliveryPool>(store_, *committer_, sender_, clock_, options);
    committer_->start();
  }
  ~DeliveryPoolTest() override {
    pool_->stop(Duration::zero());
    committer_->stop();
  }

  EventId accept(const std::string& destination = "backend") {
    NewEvent event = NewEventBuilder().to({destination}).build();
    const EventId id = event.id;
    Signal committed;
    committer_->submit(std::move(event), clock_.now() + seconds(10), nullptr, [&committed](Result<AcceptFacts> facts) {
      EXPECT_OK(facts);
      committed.set();
    });
    committed.wait();  // or a test that moves the clock would have moved it past the deadline
    return id;
  }
  void advance(Duration by) {
    clock_.advance(by);
    pool_->nudge();
  }
  Delivery delivery(const EventId& id) {
    auto event = store_.get(id);
    EXPECT_OK(event);
    return (*event)->deliveries.at(0);
  }

  ManualClock clock_;
  UnwillingStore store_{GetParam()};
  RecordingObserver observer_;
  ScriptedSender sender_;
  std::unique_ptr<Committer> committer_;
  std::unique_ptr<DeliveryPool> pool_;
};

INSTANTIATE_TEST_SUITE_P(Claims, DeliveryPoolTest, ::testing::Bool(),
                         [](const auto& with) { return with.param ? "WithCommits" : "Apart"; });

TEST_P(DeliveryPoolTest, DeliversWhatIsAcceptedWithoutWaitingForAPoll) {
  pool_->start(config_of({destination_config()}));
  const EventId id = accept();
  const auto attempt = sender_.next();
  EXPECT_EQ(attempt.lease.event, id);
  EXPECT_EQ(attempt.lease.attempt, 1);
  attempt.end(succeeded());
  const auto seen = observer_.next();
  EXPECT_TRUE(seen.facts.taken);
  EXPECT_EQ(seen.facts.event_state, EventState::kDelivered);
  EXPECT_EQ(delivery(id).state, DeliveryState::kDelivered);
}

TEST_P(DeliveryPoolTest, DeliversWhatWasPendingBeforeTheStart) {
  accept();
  pool_->start(config_of({destination_config()}));
  sender_.next().end(succeeded());
  EXPECT_TRUE(observer_.next().facts.taken);
}

TEST_P(DeliveryPoolTest, RetriesFollowThePolicyUntilItIsUsedUp) {
  DestinationConfig backend = destination_config();
  backend.retry.first = seconds(1);
  backend.retry.factor = 3;
  backend.retry.max = seconds(5);
  backend.retry.attempts = 4;
  pool_->start(config_of({backend}));
  const EventId id = accept();
  const Duration delays[] = {seconds(1), seconds(3), seconds(5)};
  for (int i = 0; i < 3; ++i) {
    const auto attempt = sender_.next();
    EXPECT_EQ(attempt.lease.attempt, i + 1);
    attempt.end(failed(500));
    const auto seen = observer_.next();
    EXPECT_EQ(seen.settlement.next, Next::kRetry);
    EXPECT_EQ(seen.settlement.delay, delays[i]);
    EXPECT_EQ(delivery(id).next_attempt_at, clock_.now() + delays[i]);
    advance(delays[i] - Duration(1));
    EXPECT_EQ(sender_.waiting(), 0u);
    advance(Duration(1));
  }
  sender_.next().end(failed(500));
  EXPECT_EQ(observer_.next().settlement.next, Next::kDead);
  EXPECT_EQ(delivery(id).state, DeliveryState::kDead);
  EXPECT_EQ(delivery(id).attempts.size(), 4u);
}

TEST_P(DeliveryPoolTest, RetryAfterIsHonoured) {
  pool_->start(config_of({destination_config()}));
  accept();
  AttemptResult busy = failed(429);
  busy.retry_after = seconds(90);
  sender_.next().end(busy);
  EXPECT_EQ(observer_.next().settlement.delay, seconds(90));
  advance(seconds(90));
  EXPECT_EQ(sender_.next().lease.attempt, 2);
}

TEST_P(DeliveryPoolTest, A410EndsTheDeliveryAsDeadAtOnce) {
  pool_->start(config_of({destination_config()}));
  const EventId id = accept();
  sender_.next().end(failed(410));
  EXPECT_EQ(observer_.next().settlement.next, Next::kDead);
  EXPECT_EQ(delivery(id).state, DeliveryState::kDead);
}

TEST_P(DeliveryPoolTest, ABreakerOpensOnFailuresShowsItselfAndClosesOnTheFirstSuccess) {
  // The counters are the process's: a destination of this run's own.
  const std::string name = GetParam() ? "breaking-with-commits" : "breaking-apart";
  DestinationConfig backend = destination_config(name);
  backend.breaker.attempts = 3;
  backend.breaker.after = Duration::zero();
  backend.breaker.open = seconds(20);
  const DestinationCounters& counters = destination_counters(name);
  const auto openings = counters.breaker_openings();
  pool_->start(config_of({backend}));
  for (int i = 0; i < 3; ++i) accept(name);
  for (int i = 0; i < 3; ++i) {
    sender_.next().end(failed(503));
    observer_.next();
  }
  const EventId waiting = accept(name);
  while (counters.breaker_openings() == openings) std::this_thread::yield();
  EXPECT_EQ(counters.breaker_open_until(), clock_.now() + seconds(20));
  EXPECT_NE(metrics().render().find("hookonce_breaker_open{destination=\"" + name + "\"} 1"), std::string::npos);
  advance(seconds(20) - Duration(1));
  EXPECT_EQ(sender_.waiting(), 0u);
  advance(Duration(1));
  const auto probe = sender_.next();
  EXPECT_EQ(probe.lease.event, waiting) << "it was due before the three that had failed";
  EXPECT_EQ(probe.lease.attempt, 1) << "waiting used no attempt";
  EXPECT_EQ(sender_.waiting(), 0u) << "one probe at a time";
  probe.end(succeeded());
  sender_.next().end(succeeded());
  sender_.next().end(succeeded());
  sender_.next().end(succeeded());
  EXPECT_FALSE(counters.breaker_open_until());
}

TEST_P(DeliveryPoolTest, ALeaseThatRunsOutIsUnknownAndItsLateOutcomeChangesNothing) {
  const DestinationConfig backend = destination_config();
  pool_->start(config_of({backend}));
  const EventId id = accept();
  const auto first = sender_.next();
  advance(backend.lease);
  const auto second = sender_.next();
  EXPECT_EQ(second.lease.event, id);
  EXPECT_EQ(second.lease.attempt, 2);
  EXPECT_EQ(delivery(id).attempts.at(0).outcome, Outcome::kUnknown);
  first.end(failed(500));
  const auto late = observer_.next();
  EXPECT_EQ(late.lease.attempt, 1);
  EXPECT_FALSE(late.facts.taken);
  EXPECT_EQ(delivery(id).state, DeliveryState::kInFlight) << "the second attempt goes on";
  second.end(succeeded());
  EXPECT_TRUE(observer_.next().facts.taken);
  EXPECT_EQ(delivery(id).state, DeliveryState::kDelivered);
}

TEST_P(DeliveryPoolTest, AnOutcomeAfterTheLeaseIsTakenWhileNoLaterAttemptReplacedIt) {
  DestinationConfig backend = destination_config();
  backend.concurrency = 1;  // the only slot is held, so nothing claims it again
  pool_->start(config_of({backend}));
  const EventId id = accept();
  const auto attempt = sender_.next();
  advance(backend.lease * 2);
  attempt.end(succeeded());
  EXPECT_TRUE(observer_.next().facts.taken);
  EXPECT_EQ(delivery(id).state, DeliveryState::kDelivered);
}

TEST_P(DeliveryPoolTest, SlotsAreNeverExceededAndAFreedOneIsUsedAtOnce) {
  DestinationConfig backend = destination_config();
  backend.concurrency = 2;
  pool_->start(config_of({backend}));
  for (int i = 0; i < 6; ++i) accept();
  std::vector<ScriptedSender::Attempt> open = {sender_.next(), sender_.next()};
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(sender_.waiting(), 0u);
    open.front().end(succeeded());
    open.erase(open.begin());
    open.push_back(sender_.next());
  }
  for (const auto& attempt : open) attempt.end(succeeded());
  for (int i = 0; i < 6; ++i) EXPECT_TRUE(observer_.next().facts.taken);
}

TEST_P(DeliveryPoolTest, AHangingDestinationTakesNoSlotOfAnother) {
  DestinationConfig hung = destination_config("hung");
  hung.concurrency = 1;
  pool_->start(config_of({hung, destination_config("well")}));
  accept("hung");
  const auto hanging = sender_.next();
  accept("hung");
  for (int i = 0; i < 20; ++i) {
    accept("well");
    const auto attempt = sender_.next();
    EXPECT_EQ(attempt.lease.destination, "well");
    attempt.end(succeeded());
    observer_.next();
  }
  EXPECT_EQ(sender_.waiting(), 0u);
}

TEST_P(DeliveryPoolTest, OrphanedDeliveriesWaitForTheirDestination) {
  pool_->start(config_of({destination_config()}));
  const EventId id = accept("gone");
  accept();
  sender_.next().end(succeeded());
  observer_.next();
  advance(std::chrono::hours(24 * 10));
  EXPECT_EQ(delivery(id).state, DeliveryState::kPending);
  EXPECT_TRUE(delivery(id).attempts.empty());
  pool_->configure(config_of({destination_config("gone")}));
  const auto attempt = sender_.next();
  EXPECT_EQ(attempt.lease.event, id);
  EXPECT_EQ(attempt.lease.attempt, 1);
}

TEST_P(DeliveryPoolTest, StopReleasesWhatIsInFlightUncounted) {
  pool_->start(config_of({destination_config()}));
  const EventId id = accept();
  const auto attempt = sender_.next();
  pool_->stop(Duration::zero());
  EXPECT_EQ(observer_.next().settlement.next, Next::kRelease);
  EXPECT_EQ(delivery(id).state, DeliveryState::kPending);
  EXPECT_EQ(delivery(id).next_attempt_at, clock_.now());
  EXPECT_EQ(delivery(id).attempts.at(0).outcome, Outcome::kReleased);

  ScriptedSender later;
  DeliveryPool next(store_, *committer_, later, clock_, {});
  next.start(config_of({destination_config()}));
  const auto again = later.next();
  EXPECT_EQ(again.lease.attempt, 2) << "the number is not used again";
  EXPECT_EQ(again.lease.counted, 1) << "and the release did not count";
}

TEST_P(DeliveryPoolTest, StopLetsAttemptsEndWithinItsLimit) {
  pool_->start(config_of({destination_config()}));
  const EventId id = accept();
  const auto attempt = sender_.next();
  std::thread stopper([this] { pool_->stop(std::chrono::hours(1)); });
  attempt.end(succeeded());
  stopper.join();
  EXPECT_EQ(delivery(id).state, DeliveryState::kDelivered);
}

TEST_P(DeliveryPoolTest, StoppingUnstartedOrTwiceIsHarmless) {
  pool_->stop(Duration::zero());
  pool_->stop(std::chrono::hours(1));
  accept();
  EXPECT_EQ(sender_.waiting(), 0u);
}

TEST_P(DeliveryPoolTest, ALeaseWithTooLittleLeftIsReleasedUncounted) {
  DestinationConfig backend = destination_config();
  backend.lease = backend.timeout - Duration(1);  // as if the claim had taken the rest
  backend.concurrency = 1;
  accept();
  pool_->start(config_of({backend}));
  const auto seen = observer_.next();
  EXPECT_EQ(seen.settlement.next, Next::kRelease);
  EXPECT_THAT(seen.settlement.result.error, HasSubstr("lease"));
  backend.lease = backend.timeout;
  pool_->configure(config_of({backend}));
  const auto attempt = sender_.next();
  EXPECT_GT(attempt.lease.attempt, 1);
  EXPECT_EQ(attempt.lease.counted, 1);
}

TEST_P(DeliveryPoolTest, ARefusedClaimIsRepeatedAfterAPauseAndNotBefore) {
  store_.refuse(true);
  pool_->start(config_of({destination_config()}));
  store_.await_claims(1);
  accept();
  for (int i = 0; i < 100; ++i) pool_->nudge();
  store_.refuse(false);
  EXPECT_EQ(store_.claims(), 1) << "nudges do not shorten the pause";
  clock_.advance(seconds(10));
  pool_->nudge();
  sender_.next().end(succeeded());
  EXPECT_TRUE(observer_.next().facts.taken);
}

TEST_P(DeliveryPoolTest, AnIdlePoolDoesNotAskTheStoreOverAndOver) {
  pool_->start(config_of({destination_config()}));
  accept();
  const auto attempt = sender_.next();
  attempt.end(succeeded());
  observer_.next();
  // Whatever the first events caused is bounded; a loop that spins would have claimed thousands of times by the time a
  // hundred transactions have been committed.
  for (int i = 0; i < 100; ++i) accept("elsewhere");
  accept();
  sender_.next().end(succeeded());
  observer_.next();
  EXPECT_LT(store_.claims(), 120);
}

TEST_P(DeliveryPoolTest, ManyEventsAreDeliveredOnceEach) {
  DestinationConfig backend = destination_config();
  backend.concurrency = 7;
  pool_->start(config_of({backend}));
  constexpr int kEvents = 300;
  std::set<EventId> accepted;
  for (int i = 0; i < kEvents; ++i) accepted.insert(accept());
  std::map<EventId, int> delivered;
  for (int i = 0; i < kEvents; ++i) {
    const auto attempt = sender_.next();
    ++delivered[attempt.lease.event];
    attempt.end(succeeded());
  }
  for (int i = 0; i < kEvents; ++i) EXPECT_TRUE(observer_.next().facts.taken);
  EXPECT_EQ(delivered.size(), accepted.size());
  EXPECT_EQ(sender_.waiting(), 0u);
}

}  // namespace
}  // namespace hookonce
