// What an attempt's outcome does to its delivery: pure decisions, no clock, no I/O.
#pragma once

#include <optional>
#include <string>

#include "base/clock.h"
#include "core/model.h"
#include "core/retry.h"

namespace hookonce {

enum class Next { kDelivered, kRetry, kDead, kRelease };

// The right to make one attempt, with everything the sender needs.
struct Lease {
  EventId event;
  std::string destination;
  int attempt = 0;      // number of this attempt
  int counted = 0;      // attempts that count against RetryPolicy::attempts, this one included
  Time claimed_at{};    // by the store's clock
  Time until{};         // by the store's clock
  Time armed_at{};      // accept, replay or rearm: attempts and give_up count from here
  bool replay = false;  // a human's replay happened: Hookonce-Replay is sent
  int new_key = 0;      // n of `replay --new-key`; 0: the plain event id is the Idempotency-Key
  std::string source;
  std::string type;
  Time received_at{};
  bool forwarded_trusted = false;  // as NewEvent::forwarded_trusted
  std::string new_items;           // as EventDetail::new_items
  std::shared_ptr<const Headers> headers;
  std::shared_ptr<const std::string> body;

  // "<event id>" or "<event id>.<n>".
  std::string idempotency_key() const;
};

// How one attempt ended, before anything is decided.
struct AttemptResult {
  Outcome outcome = Outcome::kFailed;
  Time started_at{};
  Duration duration{};
  int status = 0;
  std::string error;
  std::string response;
  std::optional<Duration> retry_after;  // asked for by the destination on 429 or 503, uncapped
  std::optional<Reply> reply;           // of a success at a synchronous source's destination
  std::string reply_url;                // where the provider takes that reply when it is late; empty: nowhere
};

// What the store is told. Delays are relative so that a shared store can count them by its own clock.
struct Settlement {
  EventId event;
  std::string destination;
  int attempt = 0;
  AttemptResult result;
  Next next = Next::kRetry;
  Duration delay{};            // kRetry, kRelease: due again after this
  bool skip_dead = false;      // kDead: its line goes on without it
  std::optional<Reply> reply;  // kDelivered: kept with the event, unless it has one
};

struct SettleFacts {
  // The outcome stands, also where a commit whose answer was lost had settled it. False: a later attempt has replaced
  // it.
  bool taken = false;
  EventState event_state = EventState::kPending;  // after it
  bool freed = false;                             // the next one of its line became due
};

// 2xx ends as delivered; 410 ends as dead at once; a release is due at once and uncounted; everything else is retried
// until `policy` is used up. `jitter` in [0, 1).
Settlement decide(const Lease& lease, AttemptResult result, const RetryPolicy& policy, double jitter);

// Whether a delivery whose attempt's lease ran out may be tried again: counted attempts used up, or give_up passed.
bool used_up(const RetryPolicy& policy, int counted, Duration since_armed);

}  // namespace hookonce
