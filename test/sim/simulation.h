// One run: a provider, up to three gateways on one shared store, destinations, and everything that goes wrong between
// them, in one thread and decided by the seed.
//
//   const Outcome outcome = simulate({.seed = 7});
//   if (outcome.violation) puts(outcome.violation->c_str());
//
// Fault model: a gateway dies between any two effects (before a commit, behind it and before the answer, behind a claim
// and before the attempt, behind the attempt and before its settlement, while it drains) and comes back later; or it
// stands still for longer than its leases. The store fails as fault_store.h says. Answers to the provider are lost.
// Destinations answer anything, late or never. Time goes on by milliseconds or by half an hour; the clocks of the
// instances differ, and wall clocks step by hours. Destinations leave the configuration and return. Retention removes
// what it may at any moment. Then the world heals, and everything must end right within bounded time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "test/sim/canary.h"

namespace hookonce::sim {

struct Options {
  std::uint64_t seed = 1;
  Canary canary = Canary::kNone;
  bool keep_trace = false;
  // A store that can be closed and opened again, which then happens as well; empty: the memory store.
  std::function<std::unique_ptr<Store>()> open;
  // Besides what the seed does: every process dies behind this step; negative: none.
  int die_at = -1;
};

struct Outcome {
  std::optional<std::string> violation;  // the first rule that did not hold
  int step = 0;                          // at which that was seen, or the last one
  std::uint64_t hash = 0;                // of the trace: equal runs, equal hashes
  std::vector<std::string> trace;        // where asked for
  std::size_t events = 0;
};

Outcome simulate(const Options& options);

}  // namespace hookonce::sim
