// Keeps rejected requests on a thread of its own, so that neither an answer nor a commit ever waits for it.
//
// Anyone on the network can cause rejections: at most kKeptPerSecond of a source are written a second, a short burst
// waits for its turn, and what waits is bounded. What is over a limit is counted (`hookonce_rejected_not_kept_total`)
// and dropped.
//
// What it keeps it looks at first (Diagnose), so that the reason says more than the sender was told. That takes at most
// a tenth of the time; beyond it the reason stays the sender's.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/metrics.h"
#include "base/sync.h"
#include "core/config.h"
#include "core/rejected.h"
#include "store/rejected_store.h"

namespace hookonce {

inline constexpr double kKeptPerSecond = 10;         // of one source; a person reads no more
inline constexpr std::size_t kWaitingOfSource = 50;  // a wrong secret shows itself with fewer
inline constexpr std::size_t kWaitingMax = 1000;     // of all sources
inline constexpr int kDiagnosisShare = 10;           // one part of so many of the time is for looking at requests
inline constexpr Duration kDiagnosisBurst = std::chrono::seconds(1);  // what it may take at once
inline constexpr std::int64_t kWaitingBytesMax = 32 * 1024 * 1024;  // and their bytes: one of the largest body at least

class RejectedKeeper {
 public:
  // A better reason for a request, or nullopt; called on the keeper's thread.
  using Diagnose = std::function<std::optional<std::string>(const RejectedRequest&)>;

  // REQUIRES: store, clock and what `diagnose` uses outlive this. `diagnose` may be empty.
  RejectedKeeper(RejectedStore& store, const Clock& clock, const Config& config, Diagnose diagnose = {});
  ~RejectedKeeper();  // what waits is written

  void configure(const Config& config);  // any thread
  void put(RejectedRequest request);     // any thread; never blocks

  // Blocks until what may be written by now is; for tests.
  void flush();

 private:
  void run();
  bool has_room(const RejectedRequest& request) LOCKS_REQUIRED(mutex_);
  // Takes those whose turn it is; `all`: everything that waits.
  std::vector<RejectedRequest> take(bool all) LOCKS_REQUIRED(mutex_);
  double allowance(const std::string& source) LOCKS_REQUIRED(mutex_);
  void explain(RejectedRequest& request);
  void write(std::vector<RejectedRequest> batch, const RejectedLimits& limits);

  RejectedStore& store_;
  const Clock& clock_;
  const Diagnose diagnose_;
  Counter& not_kept_;

  Mutex mutex_;
  CondVar changed_;
  RejectedLimits limits_ GUARDED_BY(mutex_);
  struct Source {
    std::size_t waiting = 0;
    double left = kKeptPerSecond;  // how many may be written at `at`
    Time at{};
  };
  std::map<std::string, Source, std::less<>> sources_ GUARDED_BY(mutex_);
  std::deque<RejectedRequest> waiting_ GUARDED_BY(mutex_);
  std::int64_t waiting_bytes_ GUARDED_BY(mutex_) = 0;
  bool writing_ GUARDED_BY(mutex_) = false;
  bool ending_ GUARDED_BY(mutex_) = false;
  // run() alone uses these.
  bool failing_ = false;
  Duration may_diagnose_;  // for how long, at `diagnosed_at_`; below zero it has taken more
  Time diagnosed_at_{};
  std::thread thread_;
};

// An equal share of the store's limits for each source.
RejectedLimits rejected_share(const Config& config);

}  // namespace hookonce
