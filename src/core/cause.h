// Why an event arrived again: concluded from what its arrivals show. It explains and decides nothing: what an arrival
// is has been settled by its dedup keys long before (G3).
//
// The first that fits is the cause:
//
//   first               it became the event, whatever its headers say: the tries before it never reached the store
//   semantic_twin       its own dedup key is another one, and a key of dedup_also is the same
//   same_id_other_body  the same key over other bytes. Before all harmless causes, because what those bytes say has
//                       been delivered to nobody. Of a batch: all of its items came before, with whichever events.
//                       But a twin of another secret, where the provider is known to write about the sending into
//                       the body, is a concurrent_twin
//   provider_retry      a header says so. Before the distance, because some providers send their first retry at once
//   concurrent_twin     within the source's ack deadline of the first: no sender can miss the answer by then
//   replayed_request    signature and time stamp of an earlier arrival, later than a twin and than the seconds that a
//                       stamp has. By several clocks never certain
//   manual_resend       the provider never sends again by itself, or marks its retries and this one has no mark
//   provider_retry      the distance fits the documented schedule, or is short
//   manual_resend       all others
//
// docs/why.md tells the same with examples.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "core/config.h"
#include "core/model.h"

namespace hookonce {

enum class Cause {
  kFirst,
  kProviderRetry,
  kConcurrentTwin,
  kManualResend,
  kReplayedRequest,
  kSameIdOtherBody,
  kSemanticTwin,
};
inline constexpr std::size_t kCauses = 7;

std::string_view to_string(Cause cause);  // "first" "provider_retry" "concurrent_twin" ...

// Where no schedule is known: longer than this after the first it was a person, and no machine that missed the answer.
inline constexpr Duration kManualResendAfter = std::chrono::minutes(30);

struct Conclusion {
  Cause cause = Cause::kFirst;
  // False where another cause would look the same; the reason says "probably" then.
  bool certain = true;
  std::string_view reason;  // the evidence, and what to do about it, for people; a static text
  // What speaks against the times that it rests on, to be read behind the reason; static, empty where nothing does.
  std::string_view doubt;
};

// Whose clocks stamped the arrivals of one event: a gateway's own, or those of all that share an inbox.
enum class Clocks { kOne, kSeveral };

// Gateways' clocks may be so far apart before anybody notices; with several, a distance that is nearer to the
// ack deadline than this proves nothing.
inline constexpr Duration kClocksApart = std::chrono::minutes(1);

// Of an arrival that was just committed, compared with the first one alone.
Conclusion conclude(const AcceptFacts& facts, const Arrival& arrival, const SourceConfig& source);

// Of all arrivals of one event, in their order. What repeats a request that was not the first is seen here only.
// `source`: null where the configuration does not know it any more. Where the times contradict themselves or what the
// sender signed, nothing that rests on them is certain.
std::vector<Conclusion> conclude(std::span<const StoredArrival> arrivals, const SourceConfig* source,
                                 Clocks clocks = Clocks::kOne);

// From the first to `arrival`: never negative, although instances stamp arrivals by their own clocks.
Duration since_first(const AcceptFacts& facts, const Arrival& arrival);

}  // namespace hookonce
