#include "app/rejected_keeper.h"

#include <algorithm>
#include <utility>

#include "base/log.h"

namespace hookonce {

namespace {

constexpr Duration kLookAgain = std::chrono::milliseconds(100);  // the time in which a source may write one more

}  // namespace

RejectedLimits rejected_share(const Config& config) {
  const auto sources = static_cast<std::int64_t>(std::max<std::size_t>(config.sources.size(), 1));
  const auto limit = static_cast<std::int64_t>(config.store.rejected_limit);
  return {limit == 0 ? 0 : std::max<std::int64_t>(limit / sources, 1),  // one each, however many sources share a few
          static_cast<std::int64_t>(config.store.rejected_bytes) / sources};
}

RejectedKeeper::RejectedKeeper(RejectedStore& store, const Clock& clock, const Config& config, Diagnose diagnose)
    : store_(store),
      clock_(clock),
      diagnose_(std::move(diagnose)),
      not_kept_(
          metrics().counter("hookonce_rejected_not_kept_total",
                            "Rejected requests that were not kept: too many at once, or larger than their share")),
      limits_(rejected_share(config)),
      may_diagnose_(kDiagnosisBurst),
      diagnosed_at_(clock.now()),
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
    if (!has_room(request)) {
      not_kept_.add();
      return;
    }
    waiting_bytes_ += request.size();
    ++sources_[request.source].waiting;
    waiting_.push_back(std::move(request));
  }
  changed_.notify_all();
}

bool RejectedKeeper::has_room(const RejectedRequest& request) {
  if (limits_.requests < 1 || request.size() > limits_.bytes) return false;
  if (sources_[request.source].waiting >= kWaitingOfSource) return false;
  return waiting_.size() < kWaitingMax && waiting_bytes_ + request.size() <= kWaitingBytesMax;
}

double RejectedKeeper::allowance(const std::string& name) {
  Source& source = sources_[name];
  const Time now = clock_.now();
  const double passed = std::chrono::duration<double>(now - source.at).count();
  source.left = std::min(kKeptPerSecond, source.left + passed * kKeptPerSecond);
  source.at = now;
  return source.left;
}

std::vector<RejectedRequest> RejectedKeeper::take(bool all) {
  std::vector<RejectedRequest> taken;
  std::deque<RejectedRequest> left;
  for (RejectedRequest& request : waiting_) {
    if (!all && allowance(request.source) < 1) {
      left.push_back(std::move(request));
      continue;
    }
    Source& source = sources_[request.source];
    source.left -= 1;
    --source.waiting;
    waiting_bytes_ -= request.size();
    taken.push_back(std::move(request));
  }
  waiting_.swap(left);
  return taken;
}

void RejectedKeeper::flush() {
  MutexLock lock(mutex_);
  const auto may_write = [this](const RejectedRequest& request)
                             LOCKS_REQUIRED(mutex_) { return allowance(request.source) >= 1; };
  while (writing_ || std::any_of(waiting_.begin(), waiting_.end(), may_write)) changed_.wait_for(mutex_, kLookAgain);
}

void RejectedKeeper::run() {
  for (;;) {
    std::vector<RejectedRequest> batch;
    RejectedLimits limits;
    {
      MutexLock lock(mutex_);
      while ((batch = take(ending_)).empty()) {
        if (ending_) return;
        if (waiting_.empty()) {
          changed_.wait(mutex_);
        } else {
          changed_.wait_for(mutex_, kLookAgain);
        }
      }
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

void RejectedKeeper::explain(RejectedRequest& request) {
  if (!diagnose_) return;
  const Time before = clock_.now();
  may_diagnose_ = std::min(kDiagnosisBurst, may_diagnose_ + (before - diagnosed_at_) / kDiagnosisShare);
  diagnosed_at_ = before;
  if (may_diagnose_ <= Duration::zero()) return;
  if (auto reason = diagnose_(request)) request.reason = *std::move(reason);
  may_diagnose_ -= clock_.now() - before;
}

void RejectedKeeper::write(std::vector<RejectedRequest> batch, const RejectedLimits& limits) {
  for (RejectedRequest& request : batch) explain(request);
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
