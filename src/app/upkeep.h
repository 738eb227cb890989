// What the gateway does beside its work: removes what retention allows, frees what a changed configuration no longer
// holds up, says when a source's requests begin to be rejected, and measures the inbox for /metrics.
//
// run() is Committer::Options::upkeep, between two batches, so each call is short: pruning goes in parts of a few
// hundred rows until a time budget is used up, and the next call goes on. measure() counts the inbox, which takes a
// second where a million deliveries wait: it is for whoever reads /metrics to wait for, never for a commit.
//
// Pruning trusts the clock: a jump of months would make everything look old. While wall and steady time have parted by
// more than an hour, nothing is pruned, and the log and `hookonce_prune_stopped` say so.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/metrics.h"
#include "base/sync.h"
#include "core/config.h"
#include "store/store.h"

namespace hookonce {

inline constexpr Duration kClocksApartMax = std::chrono::hours(1);

class Upkeep {
 public:
  // REQUIRES: store and clock outlive this.
  // `deliveries_pending` is called on run()'s thread; must not block.
  Upkeep(Store& store, const Clock& clock, std::shared_ptr<const Config> config,
         std::function<void()> deliveries_pending);

  void configure(std::shared_ptr<const Config> config);  // any thread
  void run(Time now);                                    // always the same thread, about once a second
  void measure(Time now);                                // always the same thread, perhaps another than run()'s

 private:
  void judge_alarms(Time now);
  bool may_prune(Time now);
  void prune(Time now);
  void apply_line_rules(Time now);
  void measure_destinations(const StoreStats& stats);
  void measure_clock_skew();
  std::shared_ptr<const Config> config() const;

  Store& store_;
  const Clock& clock_;

  mutable Mutex mutex_;
  std::shared_ptr<const Config> config_ GUARDED_BY(mutex_);
  const std::function<void()> deliveries_pending_;

  // Only run() touches these.
  std::shared_ptr<const Config> lines_of_;  // the configuration whose rules `rules_` were
  Time rules_since_{};
  std::vector<LineRule> rules_;        // still to be applied
  std::optional<Time> complained_at_;  // valid while pruning is stopped: when the log last said so
  bool prune_failing_ = false;

  // Only measure() touches these.
  std::optional<Time> measured_at_;
  std::set<std::string> measured_;  // destinations that are shown
};

}  // namespace hookonce
