// One delivery as a store keeps it, and every change of it as a pure function. The state machine is drawn in
// docs/states.md.
//
// Backends load a record, call one of these, and write it back in the transaction of the verb; none decides anything
// itself.
#pragma once

#include <optional>
#include <string>

#include "core/model.h"
#include "core/settle.h"

namespace hookonce {

// Of a delivery that waits behind an earlier one of its line: no moment at which it is due.
inline constexpr Time kHeld = Time::max();

struct DeliveryRecord {
  DeliveryState state = DeliveryState::kPending;
  Time due_at{};           // kPending: due from here on; kInFlight: the lease's end, after which it is due again; else
                           // meaningless
  int attempt = 0;         // number of the newest attempt, 0 before the first
  int counted = 0;         // attempts since armed_at that count against the policy
  Time armed_at{};         // accept, replay or rearm
  Time claimed_at{};       // of the newest attempt; valid where attempt > 0
  bool unsettled = false;  // the newest attempt's outcome is not known: in flight, or its lease ran out
  std::optional<Time> delivered_at;  // of the last recorded success; such a delivery is never rearmed
  Time ended_at{};                   // valid while kDelivered or kDead; retention counts from here
  bool replay = false;               // a human's replay happened
  int new_key = 0;                   // n of the current Idempotency-Key; 0: the plain event id
  int new_keys = 0;                  // how many new keys have been given out

  bool is_held() const { return state == DeliveryState::kPending && due_at == kHeld; }
  bool is_open() const { return state == DeliveryState::kPending || state == DeliveryState::kInFlight; }
  bool operator==(const DeliveryRecord&) const = default;
};

DeliveryRecord new_delivery(Time now);
DeliveryRecord held_delivery(Time now);

// It is the first of its line now: due, its policy counted from here. False where it was not held.
bool free_held(DeliveryRecord& record, Time now);

// What holds a pending delivery: whether its destination is `paused`, and where it is held, the event at its line's
// `head`.
std::optional<Hold> hold_of(bool paused, const std::optional<EventId>& head);

// Whether the line goes on behind a delivery.
bool leaves_line(const DeliveryRecord& record, bool skip_dead);

// A provider's resend of a dead delivery that never succeeded: pending, due, with a fresh policy. False where that is
// not it.
bool rearm(DeliveryRecord& record, Time now);

// A human's wish to send again. False, and nothing changed, while an attempt is in flight.
bool replay(DeliveryRecord& record, bool new_key, Time now);

// Whether the newest attempt's lease ran out with nobody having said how it ended.
bool lease_ran_out(const DeliveryRecord& record, Time now);
// Ends a delivery whose last lease ran out and whose policy is used up.
void bury(DeliveryRecord& record, Time now);
// Gives out the next attempt until now + lease. In the result, what belongs to the event (id, source, headers, ...) and
// the destination's name are the backend's to fill.
Lease take_lease(DeliveryRecord& record, Duration lease, Time now);

// Takes the settlement exactly if its attempt is the newest and unsettled. Where the delivery is no longer in flight
// (its lease ran out, and it was buried or put back to pending meanwhile) only a success still changes its state: a
// late failure must not undo a replay.
bool settle(DeliveryRecord& record, const Settlement& settlement, Time now);
// Whether a settlement that settle() did not take is one that had been: what is repeated after a commit whose answer
// was lost. Each attempt is settled by one process and with one outcome, so its number and the state tell it.
bool had_settled(const DeliveryRecord& record, const Settlement& settlement);

// What is kept of a settled attempt: texts cut to kErrorKept and kResponseKept bytes.
Attempt settled_attempt(const Settlement& settlement);
Attempt attempt_without_outcome(const DeliveryRecord& record);  // its lease ran out
Attempt attempt_in_flight(const DeliveryRecord& record);

// The state of an event from the states of its deliveries, fed one by one; an event without deliveries counts as
// delivered.
class EventStateOf {
 public:
  void add(DeliveryState state);
  EventState value() const;

 private:
  bool open_ = false;
  bool dead_ = false;
};

}  // namespace hookonce
