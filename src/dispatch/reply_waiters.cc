#include "dispatch/reply_waiters.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace hookonce {
namespace {

// Often enough that a person does not notice, seldom enough for a store that many gateways ask.
constexpr Duration kAskEvery = std::chrono::milliseconds(50);
// Each is an open connection, and each event among them a question every kAskEvery.
constexpr std::size_t kWaitersMax = 1024;

constexpr const char* kStops = "the gateway stops";

}  // namespace

void ReplyWaiters::start() {
  thread_ = std::thread([this] { run(); });
}

void ReplyWaiters::stop() {
  std::map<EventId, Waited> left;
  {
    MutexLock lock(mutex_);
    stopping_ = true;
    left.swap(waited_);
    count_ = 0;
    changed_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
  for (auto& [event, waited] : left) {
    for (Waiter& waiter : waited.waiters) waiter.done({.reason = kStops});
  }
}

void ReplyWaiters::add(const EventId& event, Time deadline, Done done) {
  const char* reason = kStops;
  {
    MutexLock lock(mutex_);
    if (!stopping_ && count_ < kWaitersMax) {
      ++count_;
      // Asked for at once where it is the first of its event: the reply may have come since the sender's own commit.
      waited_[event].waiters.push_back({deadline, std::move(done)});
      changed_.notify_all();
      return;
    }
    if (!stopping_) reason = "too many senders wait for a reply already";
  }
  done({.reason = reason});
}

void ReplyWaiters::settled(const EventId& event, const Reply& reply) {
  std::vector<Waiter> waiters;
  {
    MutexLock lock(mutex_);
    const auto found = waited_.find(event);
    if (found == waited_.end()) return;
    waiters = std::move(found->second.waiters);
    count_ -= waiters.size();
    waited_.erase(found);
  }
  for (Waiter& waiter : waiters) waiter.done({.reply = reply});
}

void ReplyWaiters::give_up(const EventId& event, const char* reason) {
  std::vector<Waiter> hopeless;
  {
    MutexLock lock(mutex_);
    const auto found = waited_.find(event);
    if (found == waited_.end()) return;
    auto& waiters = found->second.waiters;
    const auto first =
        std::stable_partition(waiters.begin(), waiters.end(), [](const Waiter& waiter) { return !waiter.asked; });
    hopeless.assign(std::make_move_iterator(first), std::make_move_iterator(waiters.end()));
    waiters.erase(first, waiters.end());
    count_ -= hopeless.size();
    if (waiters.empty()) waited_.erase(found);
  }
  for (Waiter& waiter : hopeless) waiter.done({.reason = reason});
}

std::vector<ReplyWaiters::Done> ReplyWaiters::take_over(Time now) {
  std::vector<Done> over;
  for (auto it = waited_.begin(); it != waited_.end();) {
    auto& waiters = it->second.waiters;
    const auto first = std::stable_partition(waiters.begin(), waiters.end(),
                                             [now](const Waiter& waiter) { return now < waiter.deadline; });
    for (auto late = first; late != waiters.end(); ++late) over.push_back(std::move(late->done));
    waiters.erase(first, waiters.end());
    it = waiters.empty() ? waited_.erase(it) : std::next(it);
  }
  count_ -= over.size();
  return over;
}

std::vector<EventId> ReplyWaiters::take_turns(Duration now) {
  std::vector<EventId> turns;
  for (auto& [event, waited] : waited_) {
    if (now < waited.ask_at) continue;
    waited.ask_at = now + kAskEvery;
    for (Waiter& waiter : waited.waiters) waiter.asked = true;
    turns.push_back(event);
  }
  return turns;
}

Duration ReplyWaiters::next_turn(Duration now) {
  Duration wait = kAskEvery;
  for (const auto& [event, waited] : waited_) wait = std::min(wait, waited.ask_at - now);
  return std::max(wait, Duration::zero());
}

void ReplyWaiters::run() {
  for (;;) {
    std::vector<Done> over;
    std::vector<EventId> turns;
    {
      MutexLock lock(mutex_);
      for (;;) {
        if (stopping_) return;
        over = take_over(clock_.now());
        turns = take_turns(steady_now());
        if (!over.empty() || !turns.empty()) break;
        if (waited_.empty()) {
          changed_.wait(mutex_);
        } else {
          changed_.wait_for(mutex_, next_turn(steady_now()));
        }
      }
    }
    for (Done& done : over) done({.reason = "no attempt has brought a reply in time"});
    for (const EventId& event : turns) ask(event);
  }
}

void ReplyWaiters::ask(const EventId& event) {
  const auto state = store_.reply(event);
  if (!state.ok()) return;  // it is asked again; the deadline ends that
  // Whoever waits was told of a durable event: where that is not here, it has been pruned.
  if (!*state) return give_up(event, "the event has been pruned, and its reply with it");
  if ((*state)->reply) return settled(event, *(*state)->reply);
  if ((*state)->state == EventState::kDead) return give_up(event, "the event is dead");
  if ((*state)->state == EventState::kDelivered) give_up(event, "the event was delivered without a reply to keep");
}

}  // namespace hookonce
