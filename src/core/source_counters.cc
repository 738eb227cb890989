#include "core/source_counters.h"

#include <algorithm>
#include <map>
#include <memory>

#include "base/sync.h"

namespace hookonce {

namespace {

constexpr int kCountBits = 24;
constexpr std::uint64_t kCountMask = (std::uint64_t{1} << kCountBits) - 1;
constexpr std::uint64_t kMinute = 60;
constexpr Duration kAlarmMin = std::chrono::minutes(1);

std::uint64_t second_of(Time now) {
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::seconds>(now.time_since_epoch()).count());
}

Counter& source_counter(std::string_view name, std::string_view help, const std::string& source) {
  return metrics().counter(name, help, {{"source", source}});
}

std::int64_t micros_of(Time time) {
  return std::chrono::duration_cast<std::chrono::microseconds>(time.time_since_epoch()).count();
}

struct Registry {
  Mutex mutex;
  std::map<std::string, std::unique_ptr<SourceCounters>> counters GUARDED_BY(mutex);
};

// Never destroyed: counting goes on until the last thread ends.
Registry& registry() {
  static auto* const all = new Registry;
  return *all;
}

}  // namespace

std::string_view to_string(Refusal refusal) {
  switch (refusal) {
    case Refusal::kSignatureMissing:
      return "signature_missing";
    case Refusal::kSignatureMismatch:
      return "signature_mismatch";
    case Refusal::kTimestampOutOfTolerance:
      return "timestamp_out_of_tolerance";
    case Refusal::kMalformed:
      return "malformed";
    case Refusal::kDedupKeyMissing:
      return "dedup_key_missing";
    case Refusal::kStoreUnavailable:
      return "store_unavailable";
    case Refusal::kOverloaded:
      return "overloaded";
  }
  return "unknown";
}

bool is_rejection(Refusal refusal) {
  return refusal != Refusal::kStoreUnavailable && refusal != Refusal::kOverloaded;
}

void MinuteMeter::add(Time now) {
  const std::uint64_t second = second_of(now);
  auto& slot = slots_[second % slots_.size()];
  std::uint64_t seen = slot.load(std::memory_order_relaxed);
  std::uint64_t next = 0;
  do {
    next = (seen >> kCountBits) == second ? seen + 1 : (second << kCountBits) | 1;
  } while (!slot.compare_exchange_weak(seen, next, std::memory_order_relaxed));
}

std::uint64_t MinuteMeter::last_minute(Time now) const {
  const std::uint64_t second = second_of(now);
  std::uint64_t sum = 0;
  for (const auto& slot : slots_) {
    const std::uint64_t seen = slot.load(std::memory_order_relaxed);
    const std::uint64_t at = seen >> kCountBits;
    if (at <= second && at + kMinute > second) sum += seen & kCountMask;
  }
  return sum;
}

void ClockSkew::add(Duration ahead) {
  const std::uint64_t at = added_.fetch_add(1, std::memory_order_relaxed) % kKept;
  slots_[at].store(ahead.count() | 1, std::memory_order_relaxed);
}

std::optional<Duration> ClockSkew::median() const {
  std::array<std::int64_t, kKept> found{};
  std::size_t count = 0;
  for (const auto& slot : slots_) {
    const std::int64_t micros = slot.load(std::memory_order_relaxed);
    if (micros != kNone) found[count++] = micros;
  }
  if (count == 0) return std::nullopt;
  auto* const middle = found.data() + count / 2;
  std::nth_element(found.data(), middle, found.data() + count);
  return Duration(*middle);
}

SourceCounters::SourceCounters(const std::string& source)
    : accepted(source_counter("hookonce_accepted_total", "First arrivals, each of them an event", source)),
      rearmed(source_counter("hookonce_rearmed_total", "Duplicates that made dead deliveries pending again", source)),
      unwanted(source_counter("hookonce_unwanted_total", "Events that no destination of their source wants", source)),
      handshakes(source_counter("hookonce_handshakes_total", "Handshakes answered", source)),
      replied(source_counter("hookonce_replied_total",
                             "Senders of a synchronous source that got its destination's answer", source)),
      acknowledged(source_counter("hookonce_acknowledged_total",
                                  "Senders of a synchronous source that got its late answer instead", source)),
      body_bytes(source_counter("hookonce_body_bytes_total", "Bytes of the bodies of arrivals", source)),
      answer_seconds(metrics().histogram("hookonce_answer_seconds",
                                         "From a request's last header byte to its answer, verified requests only",
                                         {{"source", source}})),
      alarm_(metrics().gauge("hookonce_source_alarm", "1 while many requests to a source are rejected, else 0",
                             {{"source", source}})) {
  for (const Cause cause : kDuplicateCauses) {
    duplicates_[static_cast<std::size_t>(cause)] =
        &metrics().counter("hookonce_duplicates_total", "Arrivals whose event existed already, by what caused them",
                           {{"source", source}, {"cause", std::string(to_string(cause))}});
  }
  for (std::size_t i = 0; i < kRefusals; ++i) {
    const auto refusal = static_cast<Refusal>(i);
    const Labels labels{{"source", source}, {"code", std::string(to_string(refusal))}};
    refused_[i] = is_rejection(refusal)
                      ? &metrics().counter("hookonce_rejected_total", "Requests refused for what they are", labels)
                      : &metrics().counter("hookonce_unavailable_total",
                                           "Verified requests answered 503, for the sender to repeat", labels);
  }
}

void SourceCounters::refuse(Refusal refusal, Time now) {
  refused_[static_cast<std::size_t>(refusal)]->add();
  if (is_rejection(refusal)) rejected_rate_[static_cast<std::size_t>(refusal)].add(now);
}

SourceAlarm SourceCounters::last_minute(Time now) const {
  SourceAlarm found;
  std::uint64_t most = 0;
  for (std::size_t i = 0; i < kRefusals; ++i) {
    const std::uint64_t count = rejected_rate_[i].last_minute(now);
    found.rejected_last_minute += count;
    if (count <= most) continue;
    most = count;
    found.code = static_cast<Refusal>(i);
  }
  return found;
}

AlarmChange SourceCounters::judge_alarm(Time now) {
  const bool many = last_minute(now).rejected_last_minute >= kAlarmRejections;
  const std::int64_t since = alarm_since_.load(std::memory_order_relaxed);
  if (many && since == 0) {
    alarm_since_.store(micros_of(now), std::memory_order_relaxed);
    alarm_.set(1);
    return AlarmChange::kBegan;
  }
  // A whole minute of it, so that a rate about the limit does not begin and end an alarm each second.
  if (many || since == 0 || now - Time(Duration(since)) < kAlarmMin) return AlarmChange::kNone;
  alarm_since_.store(0, std::memory_order_relaxed);
  alarm_.set(0);
  return AlarmChange::kEnded;
}

std::optional<SourceAlarm> SourceCounters::alarm(Time now) const {
  const std::int64_t since = alarm_since_.load(std::memory_order_relaxed);
  if (since == 0) return std::nullopt;
  SourceAlarm alarm = last_minute(now);
  alarm.since = Time(Duration(since));
  return alarm;
}

std::uint64_t SourceCounters::duplicates() const {
  std::uint64_t sum = 0;
  for (const Cause cause : kDuplicateCauses) sum += duplicate(cause).value();
  return sum;
}

std::uint64_t SourceCounters::rejected() const {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < kRefusals; ++i) {
    if (is_rejection(static_cast<Refusal>(i))) sum += refused_[i]->value();
  }
  return sum;
}

std::uint64_t SourceCounters::unavailable() const {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < kRefusals; ++i) {
    if (!is_rejection(static_cast<Refusal>(i))) sum += refused_[i]->value();
  }
  return sum;
}

SourceCounters& source_counters(const std::string& source) {
  Registry& all = registry();
  MutexLock lock(all.mutex);
  auto& counters = all.counters[source];
  if (!counters) counters = std::make_unique<SourceCounters>(source);
  return *counters;
}

std::vector<std::pair<std::string, SourceCounters*>> all_source_counters() {
  Registry& all = registry();
  MutexLock lock(all.mutex);
  std::vector<std::pair<std::string, SourceCounters*>> found;
  found.reserve(all.counters.size());
  for (const auto& [name, counters] : all.counters) found.emplace_back(name, counters.get());
  return found;
}

}  // namespace hookonce
