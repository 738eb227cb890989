// Senders that wait for the reply to an event whose attempt is not theirs: an earlier arrival's, a later one's, another
// gateway's. One thread, which sleeps while nobody waits.
//
// A reply that is settled here wakes them at once; the store is asked for those of other gateways.
#pragma once

#include <map>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/sync.h"
#include "core/sync_delivery.h"
#include "store/store.h"

namespace hookonce {

class ReplyWaiters {
 public:
  using Done = SyncDelivery::Done;

  // REQUIRES: both outlive start() to stop().
  ReplyWaiters(Store& store, const Clock& clock) : store_(store), clock_(clock) {}
  ~ReplyWaiters() { stop(); }

  void start();
  // Those that wait are done without a reply, and later ones at once.
  void stop();

  // Any thread. `done` is called once: with the reply, or without one when `deadline` is over, where none can come any
  // more or too many wait, or when this stops.
  void add(const EventId& event, Time deadline, Done done);
  // Any thread: the event has this reply, and it is durable.
  void settled(const EventId& event, const Reply& reply);

 private:
  struct Waiter {
    Time deadline{};
    Done done;
    bool asked = false;  // since it waits, the store has been asked, or is being asked
  };
  struct Waited {
    std::vector<Waiter> waiters;
    Duration ask_at{};  // by steady_now()
  };

  void run();
  // Asks the store about the event, and ends the wait of those that can have an answer now.
  void ask(const EventId& event) LOCKS_EXCLUDED(mutex_);
  // No reply will come to those who waited when the store was asked. Who came later may have armed the event again.
  void give_up(const EventId& event, const char* reason) LOCKS_EXCLUDED(mutex_);
  // Takes out those whose deadline is over.
  std::vector<Done> take_over(Time now) LOCKS_REQUIRED(mutex_);
  // The events whose turn it is; the next turn of each is set.
  std::vector<EventId> take_turns(Duration now) LOCKS_REQUIRED(mutex_);
  // How long until the next turn. REQUIRES: somebody waits.
  Duration next_turn(Duration now) LOCKS_REQUIRED(mutex_);

  Store& store_;
  const Clock& clock_;
  Mutex mutex_;
  CondVar changed_;
  std::map<EventId, Waited> waited_ GUARDED_BY(mutex_);
  std::size_t count_ GUARDED_BY(mutex_) = 0;  // of waiters
  bool stopping_ GUARDED_BY(mutex_) = false;
  std::thread thread_;  // of the thread that starts and stops
};

}  // namespace hookonce
