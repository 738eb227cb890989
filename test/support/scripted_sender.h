// A sender that keeps every attempt until the test says how it ends.
//
//   ScriptedSender sender;
//   auto attempt = sender.next();            // waits for the pool to start one
//   attempt.end(failed(500));
//
// Fault model: an attempt may end in any way, late, or never; stop() ends what is left as released, as every sender
// must.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/sync.h"
#include "dispatch/sender.h"

namespace hookonce {

inline AttemptResult succeeded() {
  AttemptResult result;
  result.outcome = Outcome::kSuccess;
  result.status = 200;
  return result;
}

inline AttemptResult failed(int status) {
  AttemptResult result;
  result.outcome = Outcome::kFailed;
  result.status = status;
  result.error = "answered " + std::to_string(status);
  return result;
}

class ScriptedSender final : public Sender {
 public:
  struct Attempt {
    Lease lease;
    std::shared_ptr<Sender::Done> done;  // empty once it has ended

    // Ends it, unless stop() has; true where this was the one that did.
    bool end(AttemptResult result) const {
      auto call = std::exchange(*done, nullptr);
      if (!call) return false;
      call(std::move(result));
      return true;
    }
  };

  void send(Lease lease, std::shared_ptr<const Config> config, Done done) override {
    HK_CHECK(config->destinations.count(lease.destination) == 1);
    bool stopped = false;
    {
      MutexLock lock(mutex_);
      stopped = stopped_;
      if (!stopped) {
        Attempt attempt{std::move(lease), std::make_shared<Done>(std::move(done))};
        open_.push_back(attempt);
        started_.push_back(std::move(attempt));
        changed_.notify_all();
      }
    }
    if (stopped) done(released());
  }

  void send_late(LateReply late, std::shared_ptr<const Config>) override {
    MutexLock lock(mutex_);
    late_.push_back(std::move(late));
    changed_.notify_all();
  }
  // The oldest late reply that no next_late() has returned yet; waits for it.
  LateReply next_late() {
    MutexLock lock(mutex_);
    while (late_.empty()) changed_.wait(mutex_);
    LateReply late = std::move(late_.front());
    late_.pop_front();
    return late;
  }
  // Late replies that no next_late() has returned.
  std::size_t late_waiting() {
    MutexLock lock(mutex_);
    return late_.size();
  }

  void stop() override {
    std::vector<Attempt> open;
    {
      MutexLock lock(mutex_);
      stopped_ = true;
      open.swap(open_);
    }
    for (const Attempt& attempt : open) attempt.end(released());
  }

  // The oldest attempt that no next() has returned yet; waits for it.
  Attempt next() {
    MutexLock lock(mutex_);
    while (started_.empty()) changed_.wait(mutex_);
    Attempt attempt = std::move(started_.front());
    started_.pop_front();
    return attempt;
  }
  // Attempts that no next() has returned.
  std::size_t waiting() {
    MutexLock lock(mutex_);
    return started_.size();
  }

 private:
  static AttemptResult released() {
    AttemptResult result;
    result.outcome = Outcome::kReleased;
    result.error = "the sender has stopped";
    return result;
  }

  Mutex mutex_;
  CondVar changed_;
  bool stopped_ GUARDED_BY(mutex_) = false;
  std::deque<Attempt> started_ GUARDED_BY(mutex_);
  std::vector<Attempt> open_ GUARDED_BY(mutex_);
  std::deque<LateReply> late_ GUARDED_BY(mutex_);
};

}  // namespace hookonce
