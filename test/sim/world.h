// What everything in one simulated run shares.
#pragma once

#include <memory>

#include "test/sim/audited_store.h"
#include "test/sim/canary.h"
#include "test/sim/trace.h"
#include "test/support/manual_clock.h"

namespace hookonce::sim {

struct World {
  World(std::uint64_t seed, Canary broken, bool keep_trace)
      : canary(broken), random(seed), trace(keep_trace), plan(make_plan(random)), auditor(plan) {}

  const Canary canary;
  Prng random;
  Trace trace;
  const Plan plan;
  ManualClock clock;  // the shared store's
  Auditor auditor;
  std::unique_ptr<AuditedStore> store;
  bool healed = false;  // nothing fails any more, and destinations answer 200

  Time now() const { return clock.now(); }
};

}  // namespace hookonce::sim
