// Something that one thread waits for and another one says.
#pragma once

#include "base/sync.h"

namespace hookonce {

class Signal {
 public:
  void set() {
    MutexLock lock(mutex_);
    set_ = true;
    changed_.notify_all();
  }
  void wait() {
    MutexLock lock(mutex_);
    while (!set_) changed_.wait(mutex_);
  }

 private:
  Mutex mutex_;
  CondVar changed_;
  bool set_ GUARDED_BY(mutex_) = false;
};

}  // namespace hookonce
