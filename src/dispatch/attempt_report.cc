#include "dispatch/attempt_report.h"

#include <string>

#include "base/log.h"
#include "core/destination_counters.h"
#include "core/trace.h"

namespace hookonce {
namespace {

Counter& attempts(Outcome outcome) {
  return metrics().counter("hookonce_attempts_total", "Attempts that ended, by outcome",
                           {{"outcome", std::string(to_string(outcome))}});
}

std::int64_t milliseconds(Duration duration) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(duration).count();
}

void log_delivered(const Lease& lease, const AttemptResult& result) {
  if (!log_enabled(LogLevel::kInfo)) return;
  const std::string text = lease.event.text();
  const LogField event("event", text), destination("destination", lease.destination), attempt("attempt", lease.attempt),
      status("status", result.status), ms("ms", milliseconds(result.duration));
  const std::string_view trace = lease.headers ? trace_id(*lease.headers) : std::string_view();
  if (trace.empty()) {
    log_info("delivered", {event, destination, attempt, status, ms});
  } else {
    log_info("delivered", {event, destination, attempt, status, ms, {"trace", trace}});
  }
}

void log_settled(const Lease& lease, const Settlement& settlement) {
  const AttemptResult& result = settlement.result;
  const std::string event = lease.event.text();
  switch (settlement.next) {
    case Next::kDelivered:
      log_delivered(lease, result);
      return;
    case Next::kRetry:
      log_warn("failed", {{"event", event},
                          {"destination", lease.destination},
                          {"attempt", lease.attempt},
                          {"status", result.status},
                          {"ms", milliseconds(result.duration)},
                          {"error", result.error},
                          {"retry_ms", milliseconds(settlement.delay)}});
      return;
    case Next::kDead:
      log_error("dead", {{"event", event},
                         {"destination", lease.destination},
                         {"attempt", lease.attempt},
                         {"status", result.status},
                         {"ms", milliseconds(result.duration)},
                         {"error", result.error}});
      return;
    case Next::kRelease:
      log_info(
          "released",
          {{"event", event}, {"destination", lease.destination}, {"attempt", lease.attempt}, {"reason", result.error}});
      return;
  }
}

}  // namespace

AttemptReport::AttemptReport()
    : in_flight_(
          metrics().gauge("hookonce_attempts_in_flight", "Attempts on their way or waiting for their settlement")),
      wait_(metrics().histogram("hookonce_queue_wait_seconds",
                                "Time from acceptance, replay or rearm to the start of the first attempt")),
      latency_(delivery_counters().seconds),
      dead_(delivery_counters().dead),
      success_(attempts(Outcome::kSuccess)),
      failed_(attempts(Outcome::kFailed)),
      unknown_(attempts(Outcome::kUnknown)),
      released_(attempts(Outcome::kReleased)) {}

Counter& AttemptReport::counter_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::kSuccess:
      return success_;
    case Outcome::kFailed:
      return failed_;
    case Outcome::kUnknown:
      return unknown_;
    case Outcome::kReleased:
      return released_;
  }
  return unknown_;
}

void AttemptReport::settled(const Lease& lease, const Settlement& settlement, const SettleFacts& facts, Time now) {
  counter_of(settlement.result.outcome).add();
  // Both by the store's clock, so that another machine's is never compared with ours.
  if (lease.counted == 1) wait_.observe(std::chrono::duration<double>(lease.claimed_at - lease.armed_at).count());
  DestinationCounters& destination = destination_counters(lease.destination);
  if (settlement.result.outcome == Outcome::kFailed) destination.failed.add();
  if (settlement.result.outcome == Outcome::kSuccess) {
    destination.delivered.add();
    destination.delivered_rate.add(now);
  }
  if (!facts.taken) {
    log_warn("late", {{"event", lease.event.text()},
                      {"destination", lease.destination},
                      {"attempt", lease.attempt},
                      {"outcome", to_string(settlement.result.outcome)},
                      {"reason", "a later attempt has replaced this one"}});
    return;
  }
  log_settled(lease, settlement);
  if (settlement.next == Next::kDelivered)
    latency_.observe(std::chrono::duration<double>(now - lease.received_at).count());
  if (settlement.next == Next::kDead) dead_.add();
}

void AttemptReport::not_settled(const Lease& lease, const Status& status) {
  log_error("settle.failed", {{"event", lease.event.text()},
                              {"destination", lease.destination},
                              {"attempt", lease.attempt},
                              {"reason", status.message()}});
}

void AttemptReport::died_unknown(const DeadDelivery& dead) {
  unknown_.add();
  dead_.add();
  log_error("dead", {{"event", dead.event.text()},
                     {"destination", dead.destination},
                     {"error", "the last attempt's lease ran out, and the retry policy is used up"}});
}

void AttemptReport::breaker_changed(const Dispatcher::BreakerChange& change, Time now) {
  DestinationCounters& counters = destination_counters(change.destination);
  const bool was_open = counters.breaker_open_until().has_value();
  counters.set_breaker(change.open_until);
  if (!change.open_until) {
    log_info("breaker.closed", {{"destination", change.destination}});
    return;
  }
  log_warn(
      was_open ? "breaker.stays_open" : "breaker.opened",
      {{"destination", change.destination}, {"ms", milliseconds(*change.open_until - now)}, {"error", change.error}});
}

}  // namespace hookonce
