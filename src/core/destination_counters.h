// What is known per destination since the process started: dispatch sets it, the admin API shows it, /metrics exports
// it.
//
//   destination_counters("backend").set_breaker(open_until);
//
// Thread-safe. A DestinationCounters lives for the process, so that a reload loses nothing.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/metrics.h"

namespace hookonce {

class DestinationCounters {
 public:
  explicit DestinationCounters(const std::string& destination);

  // Counts where it was closed before. nullopt: closed.
  void set_breaker(const std::optional<Time>& open_until);
  // nullopt: closed. In the past: half-open.
  std::optional<Time> breaker_open_until() const;
  std::uint64_t breaker_openings() const { return openings_.value(); }

 private:
  Gauge& open_;
  Counter& openings_;
  std::atomic<std::int64_t> open_until_{0};  // microseconds of the epoch; 0: closed
};

DestinationCounters& destination_counters(const std::string& destination);

}  // namespace hookonce
