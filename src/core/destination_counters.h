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
#include <vector>

#include "base/clock.h"
#include "base/metrics.h"
#include "core/source_counters.h"

namespace hookonce {

class DestinationCounters {
 public:
  explicit DestinationCounters(const std::string& destination);

  // Counts where it was closed before. nullopt: closed.
  void set_breaker(const std::optional<Time>& open_until);
  // nullopt: closed. In the past: half-open.
  std::optional<Time> breaker_open_until() const;
  std::uint64_t breaker_openings() const { return openings_.value(); }

  // For /metrics; the store is what decides.
  void set_paused(bool paused) { paused_.set(paused ? 1 : 0); }
  void set_waiting(std::int64_t deliveries) { waiting_.set(deliveries); }  // pending or in flight

  Counter& delivered;  // attempts that succeeded
  Counter& failed;     // attempts that failed
  MinuteMeter delivered_rate;

 private:
  Gauge& open_;
  Gauge& paused_;
  Gauge& waiting_;
  Counter& openings_;
  std::atomic<std::int64_t> open_until_{0};  // microseconds of the epoch; 0: closed
};

DestinationCounters& destination_counters(const std::string& destination);
// All that were ever asked for.
std::vector<DestinationCounters*> all_destination_counters();

// Of all destinations together.
struct DeliveryCounters {
  Counter& dead;
  Histogram& seconds;  // from acceptance to the recorded success
};
DeliveryCounters& delivery_counters();

}  // namespace hookonce
