// Notices that a commit waits: for a server that is there and says nothing, or a disk that does not answer. Until it
// has failed, which may take many seconds, this is all that tells /readyz.
//
//   const CommitWatch::Running running = watch_.begin();   // in commit(), on the committer's thread
//   HK_TRY(watch_.status());                               // in health(), on any thread
#pragma once

#include <atomic>

#include "base/clock.h"
#include "base/result.h"

namespace hookonce {

// Senders have given up by then: a provider's usual deadline is three seconds, ours for the answer two.
inline constexpr Duration kCommitPatience = std::chrono::seconds(2);

class CommitWatch {
 public:
  class Running {
   public:
    explicit Running(CommitWatch& watch) : watch_(watch) { watch_.began_.store(steady_now().count()); }
    ~Running() { watch_.began_.store(kNone); }
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;

   private:
    CommitWatch& watch_;
  };

  // One at a time.
  Running begin() { return Running(*this); }
  // kUnavailable while one has been running for longer than anybody waits.
  Status status(Duration now = steady_now()) const {
    const auto began = began_.load();
    if (began == kNone || now - Duration(began) < kCommitPatience) return {};
    return unavailable("the store has not answered a commit for two seconds and more");
  }

 private:
  static constexpr Duration::rep kNone = 0;
  std::atomic<Duration::rep> began_{kNone};  // by steady_now()
};

}  // namespace hookonce
