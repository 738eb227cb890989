// Tells when something takes longer than it may.
//
//   const Overdue watch(std::chrono::seconds(29), [] { give_up(); });
//   drain();                      // in time: nothing is told
#pragma once

#include <functional>
#include <thread>

#include "base/clock.h"
#include "base/sync.h"

namespace hookonce {

class Overdue {
 public:
  // `tell` is called once, on a thread of this object's own, unless this goes before `limit` has passed. Empty: nobody
  // is told.
  Overdue(Duration limit, std::function<void()> tell);
  ~Overdue();
  Overdue(const Overdue&) = delete;
  Overdue& operator=(const Overdue&) = delete;

 private:
  void run(Duration end) LOCKS_EXCLUDED(mutex_);

  const std::function<void()> tell_;
  Mutex mutex_;
  CondVar changed_;
  bool done_ GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace hookonce
