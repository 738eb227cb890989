// What happened minute by minute, for as long as a day and as long as this process lives.
//
//   History history(clock.now(), count_totals());
//   history.add(clock.now(), count_totals());   // about once a second, and before it is read
//   for (const HistoryPoint& point : history.last(60)) draw(point);
//
// It holds the differences of counters that only grow. A minute in which nobody added is there and empty, and what
// happened in it counts for the minute that added next. Thread-safe.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/sync.h"
#include "core/quantile.h"
#include "core/source_counters.h"

namespace hookonce {

inline constexpr int kHistoryMinutesMax = 1440;
// One is some 200 bytes: a busy minute of one source. With more than 69 sources busy all day, the parts by source reach
// back less than a day, the sums do not.
inline constexpr std::size_t kHistoryPartsMax = 100'000;

struct ArrivalCounts {
  std::uint64_t accepted = 0;
  std::array<std::uint64_t, kDuplicateCauses.size()> duplicates{};  // as kDuplicateCauses
  std::uint64_t rejected = 0;
  BucketCounts answers{};  // seconds
};
struct DeliveryCounts {
  std::uint64_t delivered = 0;
  std::uint64_t dead = 0;
  BucketCounts seconds{};
};
struct Totals {
  std::map<std::string, ArrivalCounts> sources;
  DeliveryCounts deliveries;
};

// Of the process since it started.
Totals count_totals();

struct HistoryPoint {
  Time at{};  // when the minute began
  ArrivalCounts arrivals;
  std::optional<DeliveryCounts> deliveries;  // nullopt: of one source, by which deliveries are not counted
};

class History {
 public:
  // `totals`: what was counted before and is nobody's minute. `parts_max`: tests make it small.
  History(Time now, Totals totals, std::size_t parts_max = kHistoryPartsMax);

  // Totals that are older than those of the call before (two threads that overtake each other) change nothing. A `now`
  // before the current minute counts for the current one.
  void add(Time now, const Totals& totals);

  // The newest `minutes`, the oldest first; fewer where the process is younger. The last one is the current minute.
  std::vector<HistoryPoint> last(int minutes) const;
  // Of one source; the empty ones of a source that is unknown.
  std::vector<HistoryPoint> last(int minutes, const std::string& source) const;

 private:
  struct Minute {
    Time at{};
    ArrivalCounts arrivals;
    DeliveryCounts deliveries;
    std::map<std::string, ArrivalCounts> sources;  // in which something happened
    bool has_sources = true;                       // false: they were dropped
  };
  void advance(Time minute) LOCKS_REQUIRED(mutex_);
  void drop_parts() LOCKS_REQUIRED(mutex_);

  const std::size_t parts_max_;
  mutable Mutex mutex_;
  std::deque<Minute> minutes_ GUARDED_BY(mutex_);  // never empty
  Totals seen_ GUARDED_BY(mutex_);
  std::size_t parts_ GUARDED_BY(mutex_) = 0;
};

}  // namespace hookonce
