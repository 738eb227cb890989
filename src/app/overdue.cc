#include "app/overdue.h"

#include <utility>

namespace hookonce {

Overdue::Overdue(Duration limit, std::function<void()> tell) : tell_(std::move(tell)) {
  if (tell_) thread_ = std::thread([this, end = steady_now() + limit] { run(end); });
}

Overdue::~Overdue() {
  {
    MutexLock lock(mutex_);
    done_ = true;
    changed_.notify_one();
  }
  if (thread_.joinable()) thread_.join();
}

void Overdue::run(Duration end) {
  {
    MutexLock lock(mutex_);
    for (Duration left = end - steady_now(); !done_ && left > Duration::zero(); left = end - steady_now()) {
      changed_.wait_for(mutex_, left);
    }
    if (done_) return;
  }
  tell_();
}

}  // namespace hookonce
