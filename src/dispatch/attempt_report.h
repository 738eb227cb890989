// What the log and the metrics say about attempts: one line per fact, and the counters behind /metrics.
#pragma once

#include "base/clock.h"
#include "base/metrics.h"
#include "core/settle.h"
#include "dispatch/dispatcher.h"
#include "store/store.h"

namespace hookonce {

// Thread-safe.
class AttemptReport {
 public:
  AttemptReport();

  void started() { in_flight_.add(1); }
  // Whatever became of the settlement, the slot is free.
  void ended() { in_flight_.add(-1); }
  // A committed settlement. `now` is Clock::now().
  void settled(const Lease& lease, const Settlement& settlement, const SettleFacts& facts, Time now);
  // The settlement can't be stored; the lease will run out instead.
  void not_settled(const Lease& lease, const Status& status);
  // The delivery's last lease ran out, and its policy is used up.
  void died_unknown(const DeadDelivery& dead);
  // A destination's breaker opened, stayed open after a probe, or closed.
  void breaker_changed(const Dispatcher::BreakerChange& change, Time now);

 private:
  Counter& counter_of(Outcome outcome);

  Gauge& in_flight_;
  Histogram& wait_;
  Histogram& latency_;
  Counter& dead_;
  Counter& success_;
  Counter& failed_;
  Counter& unknown_;
  Counter& released_;
};

}  // namespace hookonce
