// What is counted per source since the process started: ingest counts, the admin API shows, /metrics exports.
//
//   SourceCounters& counters = source_counters("shop");   // once, then without a lock
//   counters.accepted.add();
//
// Thread-safe. A SourceCounters lives for the process, so that a reload neither loses nor doubles a count.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/metrics.h"
#include "core/cause.h"

namespace hookonce {

// Why a request to a source was not accepted; the codes of the error answers.
enum class Refusal {
  kSignatureMissing,
  kSignatureMismatch,
  kTimestampOutOfTolerance,
  kMalformed,
  kDedupKeyMissing,
  kStoreUnavailable,  // not the sender's fault, as kOverloaded
  kOverloaded,
};
inline constexpr std::size_t kRefusals = 7;

std::string_view to_string(Refusal refusal);  // "signature_missing" ...
// The sender's own: counted and shown as a rejected request. False for those that a repetition mends.
bool is_rejection(Refusal refusal);

// How many within the last minute, to the second.
class MinuteMeter {
 public:
  void add(Time now);
  std::uint64_t last_minute(Time now) const;

 private:
  // Each slot is a second of the epoch (upper 40 bits) and its count (lower 24): one atomic, so that a slot is never
  // half new.
  std::array<std::atomic<std::uint64_t>, 64> slots_{};
};

// How far our wall clock is ahead of the senders' (negative: behind), by the time stamps that they signed.
class ClockSkew {
 public:
  void add(Duration ahead);
  std::optional<Duration> median() const;  // of the last kKept; nullopt: none yet
  std::uint64_t count() const { return added_.load(std::memory_order_relaxed); }  // of all since the start

 private:
  static constexpr std::size_t kKept = 64;
  static constexpr std::int64_t kNone = 0;
  // Each slot is a difference in microseconds, its lowest bit replaced by 1, so that 0 is an empty slot.
  std::array<std::atomic<std::int64_t>, kKept> slots_{};
  std::atomic<std::uint64_t> added_{0};
};

// A mistyped secret or a scan makes this many in a moment; a few a minute are somebody's tests.
inline constexpr std::uint64_t kAlarmRejections = 10;  // within a minute

struct SourceAlarm {
  Time since{};
  std::uint64_t rejected_last_minute = 0;
  Refusal code = Refusal::kSignatureMismatch;  // the most frequent one of that minute
};
enum class AlarmChange { kNone, kBegan, kEnded };

inline constexpr std::array kDuplicateCauses = {
    Cause::kProviderRetry,   Cause::kConcurrentTwin,  Cause::kManualResend,
    Cause::kReplayedRequest, Cause::kSameIdOtherBody, Cause::kSemanticTwin,
};
static_assert(kDuplicateCauses.size() == kCauses - 1);

class SourceCounters {
 public:
  explicit SourceCounters(const std::string& source);

  Counter& accepted;
  Counter& rearmed;
  Counter& unwanted;  // accepted, and no destination wants it
  Counter& handshakes;
  Counter& replied;       // senders of a synchronous source that got its destination's answer
  Counter& acknowledged;  // those that got the late answer instead
  Counter& body_bytes;    // of accepted and duplicate arrivals
  Histogram& answer_seconds;
  MinuteMeter accepted_rate;
  MinuteMeter duplicates_rate;
  ClockSkew clock_skew;

  // Rearmed ones included. REQUIRES: not kFirst.
  Counter& duplicate(Cause cause) const { return *duplicates_[static_cast<std::size_t>(cause)]; }
  std::uint64_t duplicates() const;  // of all causes

  void refuse(Refusal refusal, Time now);
  std::uint64_t refused(Refusal refusal) const { return refused_[static_cast<std::size_t>(refusal)]->value(); }
  std::uint64_t rejected() const;     // the sum over all that are rejections
  std::uint64_t unavailable() const;  // the sum over the others

  // Begins the alarm where a minute had kAlarmRejections, ends it where a minute since had fewer. Always the same
  // thread, about once a second.
  AlarmChange judge_alarm(Time now);
  std::optional<SourceAlarm> alarm(Time now) const;  // as last judged; nullopt: none

 private:
  SourceAlarm last_minute(Time now) const;

  std::array<Counter*, kCauses> duplicates_{};  // that of kFirst is null
  std::array<Counter*, kRefusals> refused_{};
  std::array<MinuteMeter, kRefusals> rejected_rate_;  // of those that are rejections
  Gauge& alarm_;
  std::atomic<std::int64_t> alarm_since_{0};  // microseconds of the epoch; 0: no alarm
};

SourceCounters& source_counters(const std::string& source);
// All that were ever asked for, by name.
std::vector<std::pair<std::string, SourceCounters*>> all_source_counters();

}  // namespace hookonce
