// Synchronous sources' first attempts and those who wait for them, on the memory store, with time that only the test
// moves.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <string>
#include <vector>

#include "dispatch/pool.h"
#include "store/memory_store.h"
#include "test/support/asserts.h"
#include "test/support/destination_builder.h"
#include "test/support/event_builder.h"
#include "test/support/manual_clock.h"
#include "test/support/scripted_sender.h"

namespace hookonce {
namespace {

using std::chrono::seconds;

const Reply kReply{201, "application/json", "{}"};

// What a sender that waits has heard.
class Heard {
 public:
  SyncDelivery::Done done() {
    return [this](SyncAnswer answer) {
      MutexLock lock(mutex_);
      answers_.push_back(std::move(answer));
      changed_.notify_all();
    };
  }
  SyncAnswer next() {
    MutexLock lock(mutex_);
    while (answers_.empty()) changed_.wait(mutex_);
    SyncAnswer answer = std::move(answers_.front());
    answers_.pop_front();
    return answer;
  }
  std::size_t waiting() {
    MutexLock lock(mutex_);
    return answers_.size();
  }

 private:
  Mutex mutex_;
  CondVar changed_;
  std::deque<SyncAnswer> answers_ GUARDED_BY(mutex_);
};

class SyncPoolTest : public ::testing::Test {
 protected:
  SyncPoolTest() {
    Committer::Options committer_options;
    committer_options.deliveries_pending = [this] { pool_->nudge(); };
    committer_ = std::make_unique<Committer>(*store_, clock_, committer_options);
    pool_ = std::make_unique<DeliveryPool>(*store_, *committer_, sender_, clock_, DeliveryPool::Options{});
    committer_->start();
  }
  ~SyncPoolTest() override {
    pool_->stop(Duration::zero());
    committer_->stop();
  }

  void start(const DestinationConfig& destination = destination_config()) {
    lease_ = destination.lease;
    pool_->start(config_of({destination}));
  }
  Lease accept(const std::string& key = "k") {
    std::vector<NewEvent> events;
    events.push_back(NewEventBuilder().key(key).first_lease(lease_).build());
    const auto facts = store_->commit(events, {}, clock_.now());
    EXPECT_OK(facts);
    EXPECT_NE(facts->accepts.at(0).lease, nullptr);
    return *facts->accepts.at(0).lease;
  }
  void deliver(const Lease& lease) { pool_->deliver(lease, clock_.now(), heard_.done()); }
  Delivery delivery(const EventId& id) {
    auto event = store_->get(id);
    EXPECT_OK(event);
    return (*event)->deliveries.at(0);
  }
  static AttemptResult replied(const std::string& url = "") {
    AttemptResult result = succeeded();
    result.reply = kReply;
    result.reply_url = url;
    return result;
  }

  ManualClock clock_;
  std::unique_ptr<Store> store_ = make_memory_store();
  ScriptedSender sender_;
  Heard heard_;
  Duration lease_{};
  std::unique_ptr<Committer> committer_;
  std::unique_ptr<DeliveryPool> pool_;
};

TEST_F(SyncPoolTest, TheReplyIsDurableBeforeTheSenderHearsOfIt) {
  start();
  const Lease lease = accept();
  deliver(lease);
  sender_.next().end(replied());
  EXPECT_EQ(heard_.next().reply, kReply);
  EXPECT_EQ(store_->reply(lease.event).value()->reply, kReply);
  EXPECT_EQ(delivery(lease.event).state, DeliveryState::kDelivered);
}

TEST_F(SyncPoolTest, AFailureIsHeardAndTriedAgain) {
  start();
  const Lease lease = accept();
  deliver(lease);
  sender_.next().end(failed(500));
  const SyncAnswer answer = heard_.next();
  EXPECT_EQ(answer.reply, std::nullopt);
  EXPECT_EQ(answer.reason, "the attempt failed: " + failed(500).error);
  clock_.advance(seconds(10));
  pool_->nudge();
  const auto second = sender_.next();
  EXPECT_EQ(second.lease.attempt, 2);
  second.end(replied("https://late.test/"));
  const LateReply late = sender_.next_late();
  EXPECT_EQ(late.event, lease.event);
  EXPECT_EQ(late.url, "https://late.test/");
  EXPECT_EQ(late.reply, kReply);
}

TEST_F(SyncPoolTest, AReplyThatIsHeardIsLateOnlyWhereTheSenderSaysSo) {
  start();
  deliver(accept());
  sender_.next().end(replied("https://late.test/"));
  const SyncAnswer answer = heard_.next();
  EXPECT_EQ(sender_.late_waiting(), 0u);
  answer.late();
  EXPECT_EQ(sender_.next_late().reply, kReply);
}

TEST_F(SyncPoolTest, ALateReplyWithoutAnAddressReachesTheSenderWhichSaysSo) {
  Config config = *config_of({destination_config()});
  lease_ = destination_config().lease;
  const Lease lease = accept();
  SourceConfig& source = config.sources[lease.source];
  source.name = lease.source;
  source.late_reply = LateReplyConfig{};
  pool_->start(std::make_shared<const Config>(std::move(config)));
  deliver(lease);
  sender_.next().end(failed(500));
  EXPECT_EQ(heard_.next().reply, std::nullopt);
  clock_.advance(seconds(10));
  pool_->nudge();
  sender_.next().end(replied());
  EXPECT_EQ(sender_.next_late().url, "");
}

TEST_F(SyncPoolTest, AReplaysReplyIsPostedNowhere) {
  start();
  const Lease lease = accept();
  deliver(lease);
  sender_.next().end(failed(410));
  heard_.next();
  ReplayRequest request;
  request.ids = {lease.event};
  ASSERT_OK(store_->replay(request, clock_.now()));
  pool_->nudge();
  Heard copy;
  pool_->await_reply(lease.event, Time::max(), copy.done());
  sender_.next().end(replied("https://late.test/"));
  EXPECT_EQ(copy.next().reply, kReply) << "but a duplicate that waits gets it";
  EXPECT_EQ(sender_.late_waiting(), 0u);
}

TEST_F(SyncPoolTest, AttemptsAreBesideTheSlots) {
  DestinationConfig backend = destination_config();
  backend.concurrency = 1;
  start(backend);
  for (int i = 0; i < 5; ++i) deliver(accept(std::to_string(i)));
  std::vector<ScriptedSender::Attempt> open;
  for (int i = 0; i < 5; ++i) open.push_back(sender_.next());
  for (const auto& attempt : open) attempt.end(replied());
  for (int i = 0; i < 5; ++i) EXPECT_EQ(heard_.next().reply, kReply);
}

TEST_F(SyncPoolTest, MoreThanTheirLimitGoTheUsualWay) {
  DestinationConfig backend = destination_config();
  backend.concurrency = 1;
  start(backend);
  std::vector<ScriptedSender::Attempt> open;
  for (int i = 0; i < 256; ++i) {
    deliver(accept(std::to_string(i)));
    open.push_back(sender_.next());
  }
  EXPECT_EQ(heard_.waiting(), 0u);
  const Lease over = accept("over");
  deliver(over);
  EXPECT_EQ(heard_.next().reply, std::nullopt);
  const auto usual = sender_.next();
  EXPECT_EQ(usual.lease.event, over.event);
  EXPECT_EQ(usual.lease.attempt, 2);
  EXPECT_EQ(usual.lease.counted, 1) << "what was given back does not count";
  usual.end(replied());
  for (const auto& attempt : open) attempt.end(replied());
  for (int i = 0; i < 256; ++i) EXPECT_EQ(heard_.next().reply, kReply);
}

TEST_F(SyncPoolTest, TheirFailuresOpenTheBreakerAndThenTheyWait) {
  DestinationConfig backend = destination_config();
  backend.breaker.attempts = 3;
  backend.breaker.after = Duration::zero();
  backend.breaker.open = seconds(20);
  start(backend);
  for (int i = 0; i < 3; ++i) {
    deliver(accept(std::to_string(i)));
    sender_.next().end(failed(503));
    heard_.next();
  }
  // The pool's thread opens it; until then attempts start, and fail.
  for (int i = 3;; ++i) {
    const Lease lease = accept(std::to_string(i));
    deliver(lease);
    if (delivery(lease.event).state == DeliveryState::kInFlight && sender_.waiting() > 0) {
      sender_.next().end(failed(503));
      heard_.next();
      continue;
    }
    EXPECT_EQ(heard_.next().reason, "not sent: the breaker is not closed");
    EXPECT_EQ(sender_.waiting(), 0u);
    break;
  }
  clock_.advance(seconds(20));
  pool_->nudge();
  const auto probe = sender_.next();
  probe.end(replied());
}

TEST_F(SyncPoolTest, ALeaseForAnUnknownDestinationIsGivenBack) {
  start();
  pool_->configure(config_of({destination_config("other")}));
  const Lease lease = accept();
  deliver(lease);
  EXPECT_EQ(heard_.next().reply, std::nullopt);
  pool_->configure(config_of({destination_config()}));
  EXPECT_EQ(sender_.next().lease.attempt, 2);
}

TEST_F(SyncPoolTest, ALeaseBeforeTheStartAndAfterTheStopIsGivenBack) {
  lease_ = destination_config().lease;
  const Lease early = accept("early");
  deliver(early);
  EXPECT_EQ(heard_.next().reply, std::nullopt);
  start();
  const auto attempt = sender_.next();
  EXPECT_EQ(attempt.lease.event, early.event);
  attempt.end(replied());
  const Lease open = accept("open");
  deliver(open);
  sender_.next();
  Heard copy;
  pool_->await_reply(open.event, Time::max(), copy.done());
  pool_->stop(Duration::zero());
  EXPECT_EQ(heard_.next().reply, std::nullopt);
  EXPECT_EQ(copy.next().reply, std::nullopt) << "who waits is answered when the gateway ends";
  deliver(accept("late"));
  EXPECT_EQ(heard_.next().reply, std::nullopt);
  pool_->await_reply(open.event, Time::max(), copy.done());
  EXPECT_EQ(copy.next().reply, std::nullopt);
}

TEST_F(SyncPoolTest, DuplicatesHearOfTheReplyOfAnAttemptHere) {
  start();
  const Lease lease = accept();
  deliver(lease);
  std::vector<Heard> copies(4);
  for (Heard& copy : copies) pool_->await_reply(lease.event, Time::max(), copy.done());
  sender_.next().end(replied());
  for (Heard& copy : copies) EXPECT_EQ(copy.next().reply, kReply);
}

TEST_F(SyncPoolTest, DuplicatesHearOfAReplyThatAnotherGatewayStored) {
  start();
  const Lease lease = accept();
  Heard copy;
  pool_->await_reply(lease.event, Time::max(), copy.done());
  Settlement elsewhere = decide(lease, replied(), destination_config().retry, 0);
  const std::vector<Settlement> settlements = {elsewhere};
  ASSERT_OK(store_->commit({}, settlements, clock_.now()));
  EXPECT_EQ(copy.next().reply, kReply);
}

TEST_F(SyncPoolTest, ADuplicateWaitsNoLongerThanItsDeadline) {
  start();
  const Lease lease = accept();
  Heard impatient;
  Heard patient;
  pool_->await_reply(lease.event, clock_.now() + seconds(2), impatient.done());
  pool_->await_reply(lease.event, clock_.now() + seconds(3), patient.done());
  clock_.advance(seconds(2));
  EXPECT_EQ(impatient.next().reply, std::nullopt);
  EXPECT_EQ(patient.waiting(), 0u);
  deliver(lease);
  sender_.next().end(replied());
  EXPECT_EQ(patient.next().reply, kReply);
}

TEST_F(SyncPoolTest, NobodyWaitsForTheReplyOfAPrunedEvent) {
  start();
  const Lease lease = accept();
  deliver(lease);
  sender_.next().end(replied());
  heard_.next();
  clock_.advance(seconds(10));
  ASSERT_OK(store_->prune({clock_.now(), clock_.now()}));
  Heard copy;
  pool_->await_reply(lease.event, Time::max(), copy.done());
  EXPECT_EQ(copy.next().reason, "the event has been pruned, and its reply with it");
}

TEST_F(SyncPoolTest, NobodyWaitsForAReplyThatCannotCome) {
  start();
  Lease lease = accept("dead");
  deliver(lease);
  Heard early;
  pool_->await_reply(lease.event, Time::max(), early.done());
  sender_.next().end(failed(410));
  heard_.next();
  EXPECT_EQ(early.next().reason, "the event is dead") << "also who waited already";
  Heard copy;
  pool_->await_reply(lease.event, Time::max(), copy.done());
  EXPECT_EQ(copy.next().reason, "the event is dead");
  lease = accept("delivered");
  deliver(lease);
  sender_.next().end(succeeded());
  heard_.next();
  pool_->await_reply(lease.event, Time::max(), copy.done());
  EXPECT_EQ(copy.next().reason, "the event was delivered without a reply to keep");
}

TEST_F(SyncPoolTest, MoreDuplicatesThanTheirLimitAreTurnedAwayAtOnce) {
  start();
  const Lease lease = accept();
  Heard waiting;
  for (int i = 0; i < 1024; ++i) pool_->await_reply(lease.event, Time::max(), waiting.done());
  Heard over;
  pool_->await_reply(lease.event, Time::max(), over.done());
  EXPECT_EQ(over.next().reason, "too many senders wait for a reply already");
  deliver(lease);
  sender_.next().end(replied());
  for (int i = 0; i < 1024; ++i) EXPECT_EQ(waiting.next().reply, kReply);
}

}  // namespace
}  // namespace hookonce
