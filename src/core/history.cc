#include "core/history.h"

#include <algorithm>
#include <utility>

#include "core/destination_counters.h"

namespace hookonce {

namespace {

constexpr Duration kMinute = std::chrono::minutes(1);

Time minute_of(Time now) {
  return std::chrono::floor<std::chrono::minutes>(now);
}

// Adds to `sum` by how much `now` is more than what was seen, and remembers it. True: it was more.
bool grow(std::uint64_t& sum, std::uint64_t& seen, std::uint64_t now) {
  if (now <= seen) return false;
  sum += now - std::exchange(seen, now);
  return true;
}

template <std::size_t kSize>
bool grow(std::array<std::uint64_t, kSize>& sum, std::array<std::uint64_t, kSize>& seen,
          const std::array<std::uint64_t, kSize>& now) {
  bool grew = false;
  for (std::size_t i = 0; i < kSize; ++i) grew |= grow(sum[i], seen[i], now[i]);
  return grew;
}

bool grow(ArrivalCounts& sum, ArrivalCounts& seen, const ArrivalCounts& now) {
  bool grew = grow(sum.accepted, seen.accepted, now.accepted);
  grew |= grow(sum.duplicates, seen.duplicates, now.duplicates);
  grew |= grow(sum.rejected, seen.rejected, now.rejected);
  grew |= grow(sum.answers, seen.answers, now.answers);
  return grew;
}

void grow(DeliveryCounts& sum, DeliveryCounts& seen, const DeliveryCounts& now) {
  grow(sum.delivered, seen.delivered, now.delivered);
  grow(sum.dead, seen.dead, now.dead);
  grow(sum.seconds, seen.seconds, now.seconds);
}

}  // namespace

Totals count_totals() {
  Totals totals;
  for (const auto& [name, counters] : all_source_counters()) {
    ArrivalCounts& counts = totals.sources[name];
    counts.accepted = counters->accepted.value();
    for (std::size_t i = 0; i < kDuplicateCauses.size(); ++i) {
      counts.duplicates[i] = counters->duplicate(kDuplicateCauses[i]).value();
    }
    counts.rejected = counters->rejected();
    counts.answers = buckets_of(counters->answer_seconds);
  }
  for (const DestinationCounters* counters : all_destination_counters()) {
    totals.deliveries.delivered += counters->delivered.value();
  }
  totals.deliveries.dead = delivery_counters().dead.value();
  totals.deliveries.seconds = buckets_of(delivery_counters().seconds);
  return totals;
}

History::History(Time now, Totals totals, std::size_t parts_max) : parts_max_(parts_max), seen_(std::move(totals)) {
  minutes_.emplace_back().at = minute_of(now);
}

void History::add(Time now, const Totals& totals) {
  MutexLock lock(mutex_);
  advance(minute_of(now));
  Minute& minute = minutes_.back();
  for (const auto& [name, counts] : totals.sources) {
    ArrivalCounts& seen = seen_.sources[name];
    ArrivalCounts before = seen;
    if (!grow(minute.arrivals, seen, counts)) continue;
    const auto [part, is_new] = minute.sources.try_emplace(name);
    grow(part->second, before, counts);
    if (is_new) ++parts_;
  }
  grow(minute.deliveries, seen_.deliveries, totals.deliveries);
  drop_parts();
}

void History::advance(Time minute) {
  // So far back nothing would remain: no minute is made only to be dropped, however far the clock went.
  const Time oldest = minute - (kHistoryMinutesMax - 1) * kMinute;
  Time next = std::max(minutes_.back().at + kMinute, oldest);
  for (; next <= minute; next += kMinute) minutes_.emplace_back().at = next;
  while (minutes_.size() > kHistoryMinutesMax || minutes_.front().at < oldest) {
    parts_ -= minutes_.front().sources.size();
    minutes_.pop_front();
  }
}

void History::drop_parts() {
  // Never the current minute's, which is asked for most.
  for (std::size_t i = 0; parts_ > parts_max_ && i + 1 < minutes_.size(); ++i) {
    parts_ -= minutes_[i].sources.size();
    minutes_[i].sources.clear();
    minutes_[i].has_sources = false;
  }
}

std::vector<HistoryPoint> History::last(int minutes) const {
  MutexLock lock(mutex_);
  const std::size_t count = std::min(minutes_.size(), static_cast<std::size_t>(std::max(1, minutes)));
  std::vector<HistoryPoint> points;
  points.reserve(count);
  for (auto minute = minutes_.end() - static_cast<std::ptrdiff_t>(count); minute != minutes_.end(); ++minute) {
    points.push_back({minute->at, minute->arrivals, minute->deliveries});
  }
  return points;
}

std::vector<HistoryPoint> History::last(int minutes, const std::string& source) const {
  MutexLock lock(mutex_);
  const std::size_t count = std::min(minutes_.size(), static_cast<std::size_t>(std::max(1, minutes)));
  std::vector<HistoryPoint> points;
  for (auto minute = minutes_.end() - static_cast<std::ptrdiff_t>(count); minute != minutes_.end(); ++minute) {
    if (!minute->has_sources) continue;
    HistoryPoint& point = points.emplace_back();
    point.at = minute->at;
    if (const auto part = minute->sources.find(source); part != minute->sources.end()) point.arrivals = part->second;
  }
  return points;
}

}  // namespace hookonce
