#include "store/delivery_record.h"

#include <algorithm>

namespace hookonce {

DeliveryRecord new_delivery(Time now) {
  DeliveryRecord record;
  record.due_at = now;
  record.armed_at = now;
  return record;
}

DeliveryRecord held_delivery(Time now) {
  DeliveryRecord record = new_delivery(now);
  record.due_at = kHeld;
  return record;
}

bool leaves_line(const DeliveryRecord& record, bool skip_dead) {
  return record.state == DeliveryState::kDelivered || (record.state == DeliveryState::kDead && skip_dead);
}

namespace {

void arm(DeliveryRecord& record, Time now) {
  record.state = DeliveryState::kPending;
  record.due_at = now;
  record.armed_at = now;
  record.counted = 0;
}

}  // namespace

bool free_held(DeliveryRecord& record, Time now) {
  if (!record.is_held()) return false;
  arm(record, now);
  return true;
}

std::optional<Hold> hold_of(bool paused, const std::optional<EventId>& head) {
  if (!paused && !head) return std::nullopt;
  return Hold{paused ? HeldBy::kPaused : HeldBy::kLine, head};
}

bool rearm(DeliveryRecord& record, Time now) {
  if (record.state != DeliveryState::kDead || record.delivered_at) return false;
  // The replay mark and the key stay: both hold for every attempt after a human's replay.
  arm(record, now);
  return true;
}

bool replay(DeliveryRecord& record, bool new_key, Time now) {
  if (record.state == DeliveryState::kInFlight) return false;
  arm(record, now);
  record.replay = true;
  record.new_key = new_key ? ++record.new_keys : 0;
  return true;
}

bool lease_ran_out(const DeliveryRecord& record, Time now) {
  return record.state == DeliveryState::kInFlight && record.due_at <= now;
}

void bury(DeliveryRecord& record, Time now) {
  record.state = DeliveryState::kDead;
  record.ended_at = now;
}

Lease take_lease(DeliveryRecord& record, Duration lease, Time now) {
  record.state = DeliveryState::kInFlight;
  record.due_at = now + lease;
  record.attempt += 1;
  record.counted += 1;
  record.claimed_at = now;
  record.unsettled = true;

  Lease taken;
  taken.attempt = record.attempt;
  taken.counted = record.counted;
  taken.claimed_at = record.claimed_at;
  taken.until = record.due_at;
  taken.armed_at = record.armed_at;
  taken.replay = record.replay;
  taken.new_key = record.new_key;
  return taken;
}

bool settle(DeliveryRecord& record, const Settlement& settlement, Time now) {
  if (settlement.attempt != record.attempt || !record.unsettled) return false;
  record.unsettled = false;
  const bool in_flight = record.state == DeliveryState::kInFlight;
  if (settlement.next == Next::kDelivered) {
    record.state = DeliveryState::kDelivered;
    record.delivered_at = now;
    record.ended_at = now;
  } else if (!in_flight) {
    return true;
  } else if (settlement.next == Next::kDead) {
    bury(record, now);
  } else {
    if (settlement.next == Next::kRelease) record.counted = std::max(0, record.counted - 1);
    record.state = DeliveryState::kPending;
    record.due_at = now + settlement.delay;
  }
  return true;
}

bool had_settled(const DeliveryRecord& record, const Settlement& settlement) {
  if (settlement.attempt != record.attempt || record.unsettled) return false;
  switch (settlement.next) {
    case Next::kDelivered:
      return record.state == DeliveryState::kDelivered;
    case Next::kDead:
      return record.state == DeliveryState::kDead;
    case Next::kRetry:
    case Next::kRelease:
      return record.state == DeliveryState::kPending;
  }
  return false;
}

Attempt settled_attempt(const Settlement& settlement) {
  const AttemptResult& result = settlement.result;
  Attempt attempt;
  attempt.number = settlement.attempt;
  attempt.started_at = result.started_at;
  attempt.duration = result.duration;
  attempt.outcome = result.outcome;
  attempt.status = result.status;
  attempt.error = result.error.substr(0, kErrorKept);
  attempt.response = result.response.substr(0, kResponseKept);
  return attempt;
}

Attempt attempt_without_outcome(const DeliveryRecord& record) {
  Attempt attempt = attempt_in_flight(record);
  attempt.outcome = Outcome::kUnknown;
  attempt.error = "no outcome was recorded before the lease ran out";
  return attempt;
}

Attempt attempt_in_flight(const DeliveryRecord& record) {
  Attempt attempt;
  attempt.number = record.attempt;
  attempt.started_at = record.claimed_at;
  return attempt;
}

void EventStateOf::add(DeliveryState state) {
  open_ = open_ || state == DeliveryState::kPending || state == DeliveryState::kInFlight;
  dead_ = dead_ || state == DeliveryState::kDead;
}

EventState EventStateOf::value() const {
  if (open_) return EventState::kPending;
  return dead_ ? EventState::kDead : EventState::kDelivered;
}

}  // namespace hookonce
