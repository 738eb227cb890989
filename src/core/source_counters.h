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
#include <string>
#include <string_view>

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

  // Rearmed ones included. REQUIRES: not kFirst.
  Counter& duplicate(Cause cause) const { return *duplicates_[static_cast<std::size_t>(cause)]; }
  std::uint64_t duplicates() const;  // of all causes

  Counter& refused(Refusal refusal) { return *refused_[static_cast<std::size_t>(refusal)]; }
  std::uint64_t rejected() const;     // the sum over all that are rejections
  std::uint64_t unavailable() const;  // the sum over the others

 private:
  std::array<Counter*, kCauses> duplicates_{};  // that of kFirst is null
  std::array<Counter*, kRefusals> refused_{};
};

SourceCounters& source_counters(const std::string& source);

}  // namespace hookonce
