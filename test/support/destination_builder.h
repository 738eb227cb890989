// Destinations and configurations with defaults, so that a test sets only what matters to it.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/config.h"

namespace hookonce {

// A destination with the contract's defaults and no jitter.
inline DestinationConfig destination_config(std::string name = "backend") {
  DestinationConfig destination;
  destination.name = std::move(name);
  destination.url = "http://127.0.0.1:9/";
  destination.lease = destination.timeout + kLeaseMargin;
  destination.retry.jitter = 0;
  return destination;
}

inline std::shared_ptr<const Config> config_of(std::vector<DestinationConfig> destinations,
                                               std::vector<SourceConfig> sources = {}) {
  auto config = std::make_shared<Config>();
  for (DestinationConfig& destination : destinations) {
    const std::string name = destination.name;
    config->destinations.emplace(name, std::move(destination));
  }
  for (SourceConfig& source : sources) {
    const std::string name = source.name;
    config->sources.emplace(name, std::move(source));
  }
  return config;
}

}  // namespace hookonce
