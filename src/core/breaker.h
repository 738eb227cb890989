// Whether a destination is worth asking at all: a circuit breaker as a plain value and pure functions over it.
//
//   breaker = noted(breaker, policy, end, now);                 // for every attempt that ended
//   int may_start = room_for(breaker, free_slots, busy, now);   // before every claim
//   started(breaker, policy, lease, now);                         // for every lease
//
// Closed, everything may start. It opens when most of the latest attempts failed and have done so for a while; then
// nothing starts until open_until. From then on it is half-open: one attempt at a time is the probe. The success of any
// probe closes the breaker, the failure of the latest opens it for twice as long. Deliveries are left alone meanwhile:
// they stay due, use no attempts, and are claimed in their order afterwards. docs/delivery.md tells it to people.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/clock.h"
#include "core/model.h"
#include "core/settle.h"

namespace hookonce {

struct BreakerPolicy {
  bool enabled = true;
  double failure_rate = 0.8;                     // opens where this share of the last `attempts` failed,
  int attempts = 10;                             // at least so many have ended,
  Duration after = std::chrono::seconds(10);     // and the share has been so high for this long
  Duration open = std::chrono::seconds(1);       // how long it stays open first; doubles with each failed probe,
  Duration open_max = std::chrono::seconds(30);  // up to this
};

inline constexpr int kBreakerAttemptsMax = 64;  // the history is one word of bits

// What an attempt says about its destination, whatever it says about its event.
enum class Sign {
  kAlive,    // it answers: 2xx, and 3xx and 4xx too, which are about this event
  kFailing,  // no answer, 5xx, or 429
  kNone,     // the attempt was given back
};
Sign sign_of(const AttemptResult& result);

struct AttemptEnd {
  std::string destination;
  EventId event;
  int attempt = 0;
  Time started_at{};
  Sign sign = Sign::kNone;
  std::string error;  // for the log
};

struct Breaker {
  struct Probe {
    EventId event;
    int attempt = 0;
    Time until{};  // another may start after this: one that hangs for a long `timeout` must not hold all the others
  };

  std::uint64_t history = 0;  // newest in the lowest bit; set: failing. Valid while closed, like the next five
  int known = 0;              // bits of it that are known
  // The event of the latest attempt where that was failing. One that fails again and again without anybody else
  // between counts once: it may be the event's own fault, and at a quiet destination nothing contradicts it.
  std::optional<EventId> last_failed;
  std::optional<Time> last_alive;     // when an attempt last said so
  std::optional<Time> failing_since;  // since when the share is over the limit
  // What began before this says nothing: it met the trouble that is over, or another URL.
  std::optional<Time> judged_from;
  // Attempts at once after it has closed, one more with each success, so that a destination that has just come back is
  // not met by everything that waited. 0: as many as there are slots.
  int ramp = 0;

  std::optional<Time> open_until;  // nullopt: closed. Once it is over, half-open
  Duration open_time{};            // the latest; valid while not closed
  std::optional<Probe> probe;      // the latest on its way; half-open only
};

enum class BreakerState { kClosed, kOpen, kHalfOpen };
BreakerState state_of(const Breaker& breaker, Time now);
std::string_view to_string(BreakerState state);  // "closed" "open" "half_open"

// A closed one that judges only what begins from now on.
Breaker closed_from(Time now);

// Whether the attempt began before the closed breaker's time.
bool is_older(const Breaker& breaker, const AttemptEnd& end);

// The lease's attempt becomes the probe where the breaker is half-open.
void started(Breaker& breaker, const BreakerPolicy& policy, const Lease& lease, Time now);

// How many of `free_slots` may start now, where `busy` are taken by attempts that are not older than the breaker's
// time.
int room_for(const Breaker& breaker, int free_slots, int busy, Time now);

// The breaker after an attempt has ended.
Breaker noted(Breaker breaker, const BreakerPolicy& policy, const AttemptEnd& end, Time now);

}  // namespace hookonce
