// A clock that stands still until a test moves it.
#pragma once

#include <atomic>

#include "base/clock.h"

namespace hookonce {

class ManualClock final : public Clock {
 public:
  explicit ManualClock(Time start = Time(std::chrono::seconds(1790000000))) : now_(start), wall_(start) {}
  Time now() const override { return now_.load(); }
  Time wall() const override { return wall_.load(); }
  void advance(Duration by) {
    now_ = now_.load() + by;
    wall_ = wall_.load() + by;
  }
  void step_wall(Duration by) { wall_ = wall_.load() + by; }

 private:
  std::atomic<Time> now_;
  std::atomic<Time> wall_;
};

}  // namespace hookonce
