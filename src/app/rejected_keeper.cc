#include "app/rejected_keeper.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/log.h"

namespace hookonce {

RejectedLimits rejected_share(const Config& config) {
  const auto sources = static_cast<std::int64_t>(std::max<std::size_t>(config.sources.size(), 1));
  return {static_cast<std::int64_t>(config.store.rejected_limit) / sources,
          static_cast<std::int64_t>(config.store.rejected_bytes) / sources};
}

RejectedKeeper::RejectedKeeper(RejectedStore& store, const Clock& clock, const Config& config)
    : store_(store),
      clock_(clock),
      not_kept_(
          metrics().counter("hookonce_rejected_not_kept_total",
                            "Rejected requests that were not kept: too many at once, or larger than their share")),
      limits_(rejected_share(config)),
      thread_([this] { run(); }) {}

RejectedKeeper::~RejectedKeeper() {
  {
    MutexLock lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void RejectedKeeper::configure(const Config& config) {
  MutexLock lock(mutex_);
  limits_ = rejected_share(config);
}

void RejectedKeeper::put(RejectedRequest request) {
  {
    MutexLock lock(mutex_);
    if (!admit(request)) {
      not_kept_.add();
      return;
    }
    waiting_bytes_ += request.size();
    waiting_.push_back(std::move(request));
  }
  changed_.notify_all();
}

bool RejectedKeeper::admit(const RejectedRequest& request) {
  if (limits_.requests < 1 || request.size() > limits_.bytes) return false;
  if (waiting_.size() >= kWaitingMax || waiting_bytes_ + request.size() > kWaitingBytesMax) return false;
  // A second's worth may come at once: that is how a wrong secret shows itself.
  Allowance& allowance = allowances_[request.source];
  const Time now = clock_.now();
  const double passed = std::chrono::duration<double>(now - allowance.at).count();
  allowance.left = std::min(kKeptPerSecond, allowance.left + passed * kKeptPerSecond);
  allowance.at = now;
  if (allowance.left < 1) return false;
  allowance.left -= 1;
  return true;
}

void RejectedKeeper::flush() {
  MutexLock lock(mutex_);
  while (writing_ || !waiting_.empty()) changed_.wait(mutex_);
}

void RejectedKeeper::run() {
  for (;;) {
    std::vector<RejectedRequest> batch;
    RejectedLimits limits;
    {
      MutexLock lock(mutex_);
      while (waiting_.empty() && !ending_) changed_.wait(mutex_);
      if (waiting_.empty()) return;
      batch.assign(std::make_move_iterator(waiting_.begin()), std::make_move_iterator(waiting_.end()));
      waiting_.clear();
      waiting_bytes_ = 0;
      limits = limits_;
      writing_ = true;
    }
    write(std::move(batch), limits);
    {
      MutexLock lock(mutex_);
      writing_ = false;
    }
    changed_.notify_all();
  }
}

void RejectedKeeper::write(std::vector<RejectedRequest> batch, const RejectedLimits& limits) {
  const Status status = store_.keep(batch, limits);
  if (!status.ok()) not_kept_.add(batch.size());
  if (status.ok() == !failing_) return;
  failing_ = !status.ok();
  if (failing_) {
    log_warn("rejected.not_kept", {{"reason", status.message()}});
  } else {
    log_info("rejected.kept_again");
  }
}

}  // namespace hookonce
