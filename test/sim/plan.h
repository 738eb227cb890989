// What one seed's world looks like: instances, sources, destinations and their limits.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/config.h"
#include "test/sim/prng.h"

namespace hookonce::sim {

struct SourcePlan {
  std::string name;
  std::vector<std::string> destinations;
  Duration window{};
  bool rearm = true;
};

struct Plan {
  int instances = 1;
  bool own_clocks = false;  // each instance's clock is apart from the store's
  std::vector<SourcePlan> sources;
  std::shared_ptr<const Config> config;  // every destination
  Duration retention{};
  int steps = 0;
  int storm = 0;  // of a hundred steps, how many break a store besides the usual ones

  const DestinationConfig& destination(const std::string& name) const {
    return config->destinations.find(name)->second;
  }
};

// Numbers are small, so that limits, windows and leases are reached within a few hundred steps.
Plan make_plan(Prng& random);

}  // namespace hookonce::sim
