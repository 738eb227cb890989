// Bounds how many log lines a kind of fact may write, so that forged traffic cannot flood the log.
#pragma once

#include <cstdint>
#include <optional>

#include "base/clock.h"
#include "base/sync.h"

namespace hookonce {

// A token bucket: kBurst lines at once, then kPerSecond. Thread-safe.
class LineLimit {
 public:
  static constexpr double kBurst = 20;     // enough to see a misconfigured sender's first requests whole
  static constexpr double kPerSecond = 5;  // readable, and 40 MB a day at most

  // The number of lines held back since the last one that was let through, where a line may be written now; else
  // nullopt.
  std::optional<std::uint64_t> admit(Time now);

 private:
  Mutex mutex_;
  double tokens_ GUARDED_BY(mutex_) = kBurst;
  std::optional<Time> filled_at_ GUARDED_BY(mutex_);
  std::uint64_t held_back_ GUARDED_BY(mutex_) = 0;
};

}  // namespace hookonce
