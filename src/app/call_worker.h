// One thread that runs tasks in order: the admin API's calls of the store, which may hang where the store does, beside
// the event loop that says so.
#pragma once

#include <deque>
#include <thread>
#include <vector>

#include "base/executor.h"
#include "base/sync.h"

namespace hookonce {

class CallWorker final : public Executor {
 public:
  CallWorker();
  ~CallWorker() override;  // stop()

  void post(std::vector<Task> tasks) override;
  // Waits for the task that runs now; those behind it are dropped.
  void stop() LOCKS_EXCLUDED(mutex_);

 private:
  void run() LOCKS_EXCLUDED(mutex_);

  Mutex mutex_;
  CondVar changed_;
  std::deque<Task> tasks_ GUARDED_BY(mutex_);
  bool stopping_ GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace hookonce
