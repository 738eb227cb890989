#include "app/call_worker.h"

#include <utility>

namespace hookonce {

CallWorker::CallWorker() : thread_([this] { run(); }) {}

CallWorker::~CallWorker() {
  stop();
}

void CallWorker::post(std::vector<Task> tasks) {
  MutexLock lock(mutex_);
  if (stopping_) return;
  for (Task& task : tasks) tasks_.push_back(std::move(task));
  changed_.notify_one();
}

void CallWorker::stop() {
  std::deque<Task> dropped;  // outside the lock: a task may own what posts when it goes
  {
    MutexLock lock(mutex_);
    stopping_ = true;
    dropped.swap(tasks_);
    changed_.notify_one();
  }
  if (thread_.joinable()) thread_.join();
}

void CallWorker::run() {
  for (;;) {
    Task task;
    {
      MutexLock lock(mutex_);
      while (tasks_.empty() && !stopping_) changed_.wait(mutex_);
      if (stopping_) return;
      task = std::move(tasks_.front());
      tasks_.pop_front();
    }
    task();
  }
}

}  // namespace hookonce
