#include "app/upkeep.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/bytes.h"
#include "base/log.h"
#include "core/destination_counters.h"
#include "core/source_counters.h"

namespace hookonce {

namespace {

constexpr int kPruneRows = 500;                                   // one part: a commit behind it waits a few ms
constexpr Duration kPruneBudget = std::chrono::milliseconds(50);  // of one call, so 5 % of the committer's time
constexpr Duration kLinesBudget = std::chrono::milliseconds(50);  // of one call, likewise
// In a rolling deploy an instance with the old configuration may still have put something into a line.
constexpr Duration kLinesAgain = std::chrono::minutes(1);
constexpr Duration kMeasureEvery = std::chrono::seconds(10);   // however many read /metrics
constexpr Duration kComplainEvery = std::chrono::minutes(10);  // loud, yet not the only thing in the log

std::int64_t seconds_between(Time from, Time to) {
  return std::chrono::duration_cast<std::chrono::seconds>(to - from).count();
}

Gauge& deliveries_gauge(const char* state) {
  return metrics().gauge("hookonce_deliveries", "Deliveries in the inbox by state", {{"state", state}});
}

Gauge& prune_stopped_gauge() {
  return metrics().gauge("hookonce_prune_stopped", "1 while nothing is pruned because the clocks have parted");
}

}  // namespace

Upkeep::Upkeep(Store& store, const Clock& clock, std::shared_ptr<const Config> config,
               std::function<void()> deliveries_pending)
    : store_(store), clock_(clock), config_(std::move(config)), deliveries_pending_(std::move(deliveries_pending)) {
  prune_stopped_gauge();  // it is there from the first scrape on
}

void Upkeep::configure(std::shared_ptr<const Config> config) {
  MutexLock lock(mutex_);
  config_ = std::move(config);
}

std::shared_ptr<const Config> Upkeep::config() const {
  MutexLock lock(mutex_);
  return config_;
}

void Upkeep::run(Time now) {
  judge_alarms(now);
  apply_line_rules(now);
  // Also where the store is ill: one whose memory is full gets well by pruning.
  if (may_prune(now)) prune(now);
}

// Of every source that ever was: an alarm of one that has left the configuration ends as well.
void Upkeep::judge_alarms(Time now) {
  for (const auto& [name, counters] : all_source_counters()) {
    const std::optional<SourceAlarm> before = counters->alarm(now);
    switch (counters->judge_alarm(now)) {
      case AlarmChange::kNone:
        break;
      case AlarmChange::kBegan: {
        const SourceAlarm alarm = counters->alarm(now).value_or(SourceAlarm{});
        log_warn(
            "source.alarm",
            {{"source", name}, {"rejected_last_minute", alarm.rejected_last_minute}, {"code", to_string(alarm.code)}});
        break;
      }
      case AlarmChange::kEnded:
        log_info("source.alarm_ended", {{"source", name}, {"lasted_s", seconds_between(before->since, now)}});
        break;
    }
  }
}

void Upkeep::apply_line_rules(Time now) {
  const auto current = config();
  const bool is_new = current != lines_of_;
  if (is_new || now - rules_since_ >= kLinesAgain) {
    rules_.clear();
    for (const auto& [name, destination] : current->destinations) {
      if (!is_new && destination.ordering) continue;
      rules_.push_back({name, destination.ordering, destination.skips_dead()});
    }
    lines_of_ = current;
    rules_since_ = now;
  }
  const Duration began = steady_now();
  while (!rules_.empty() && steady_now() - began < kLinesBudget) {
    const Result<bool> more = store_.apply_line_rule(rules_.back(), now);
    if (!more.ok()) return;  // The next call tries again.
    deliveries_pending_();
    if (!*more) rules_.pop_back();
  }
}

bool Upkeep::may_prune(Time now) {
  const Duration apart = clock_.wall() - now;
  if (apart <= kClocksApartMax && apart >= -kClocksApartMax) {
    if (complained_at_) log_info("prune.resumed", {{"apart_s", seconds_between(now, now + apart)}});
    complained_at_.reset();
    prune_stopped_gauge().set(0);
    return true;
  }
  prune_stopped_gauge().set(1);
  if (!complained_at_ || now - *complained_at_ >= kComplainEvery) {
    complained_at_ = now;
    log_error("prune.stopped",
              {{"apart_s", seconds_between(now, now + apart)},
               {"mend",
                "wall and steady time have parted by more than an hour; nothing is pruned until they agree "
                "again. Put the wall clock right, or restart the gateway if it is"}});
  }
  return false;
}

void Upkeep::prune(Time now) {
  PruneRequest request;
  const auto current = config();
  request.events_before = now - current->store.retention;
  for (const auto& [name, source] : current->sources) {
    if (source.retention) request.events_before_of[name] = now - *source.retention;
  }
  request.keys_now = now;
  request.limit = kPruneRows;
  const Duration began = steady_now();
  std::int64_t removed = 0;
  do {
    const Result<std::int64_t> part = store_.prune(request);
    if (!part.ok()) {
      // Pruning can wait, and the committer already reports a store that is away: once is enough.
      if (!prune_failing_ && store_.health().ok()) log_warn("prune.failed", {{"error", part.status().message()}});
      prune_failing_ = true;
      return;
    }
    prune_failing_ = false;
    removed += *part;
    if (*part < kPruneRows) break;
  } while (steady_now() - began < kPruneBudget);
  if (removed == 0) return;
  deliveries_pending_();  // a dead delivery that is gone no longer holds its line up
  static Counter& pruned = metrics().counter("hookonce_pruned_rows_total", "Rows removed from the inbox by retention");
  pruned.add(static_cast<std::uint64_t>(removed));
  log_debug("pruned", {{"rows", removed}});
}

void Upkeep::measure(Time now) {
  if (measured_at_ && now - *measured_at_ < kMeasureEvery) return;
  measured_at_ = now;
  measure_clock_skew();
  const Result<StoreStats> stats = store_.stats(now);
  if (!stats.ok()) return;  // The gauges keep their last values; /readyz says that the store is away.
  deliveries_gauge("pending").set(stats->pending);
  deliveries_gauge("in_flight").set(stats->in_flight);
  deliveries_gauge("dead").set(stats->dead);
  metrics().gauge("hookonce_events", "Events in the inbox, perhaps an estimate").set(stats->events);
  metrics()
      .gauge("hookonce_oldest_pending_seconds", "Age of the oldest pending delivery, 0 where there is none")
      .set(stats->oldest_pending ? seconds_between(*stats->oldest_pending, now) : 0);
  metrics().gauge("hookonce_store_log_bytes", "Size of the store's write-ahead log").set(stats->log_bytes);
  measure_destinations(*stats);
}

void Upkeep::measure_clock_skew() {
  for (const auto& [name, counters] : all_source_counters()) {
    const std::optional<Duration> ahead = counters->clock_skew.median();
    if (!ahead) continue;
    metrics()
        .gauge("hookonce_clock_skew_seconds",
               "How far this machine's clock is ahead of the time stamps of valid signatures, median of the last 64",
               {{"source", name}})
        .set(std::chrono::round<std::chrono::seconds>(*ahead).count());
  }
}

void Upkeep::measure_destinations(const StoreStats& stats) {
  const std::map<std::string_view, std::int64_t> waiting(stats.pending_by_destination.begin(),
                                                         stats.pending_by_destination.end());
  // One that has nothing left is absent from the stats, so every name that was ever measured is measured again.
  for (const auto& [name, destination] : config()->destinations) measured_.insert(name);
  for (const auto& [name, count] : stats.pending_by_destination) measured_.insert(name);
  measured_.insert(stats.paused.begin(), stats.paused.end());
  for (const std::string& name : measured_) {
    const auto found = waiting.find(name);
    DestinationCounters& counters = destination_counters(name);
    counters.set_waiting(found == waiting.end() ? 0 : found->second);
    counters.set_paused(std::find(stats.paused.begin(), stats.paused.end(), name) != stats.paused.end());
  }
}

}  // namespace hookonce
