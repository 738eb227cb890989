// Configurations with defaults for tests of ingest and admin: sources of any provider to one destination "backend".
//
//   Config config = config_of({source_of("shop", "none", {})});
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/config.h"
#include "provider/registry.h"

namespace hookonce {

// As the configuration's loader would complete it.
inline SourceConfig source_of(std::string name, std::string_view provider, std::vector<std::string> secrets) {
  const ProviderTraits& traits = find_provider(provider)->traits();
  SourceConfig source;
  source.name = std::move(name);
  source.provider = traits.name;
  source.path = "/in/" + source.name;
  source.secrets = std::move(secrets);
  source.destinations = {{"backend", {}}};
  source.tolerance = traits.tolerance;
  source.ack_deadline = traits.ack_deadline;
  source.retries = traits.retries;
  source.max_body = traits.max_body;
  return source;
}

inline Config config_of(std::vector<SourceConfig> sources) {
  Config config;
  for (SourceConfig& source : sources) config.sources.emplace(source.name, std::move(source));
  DestinationConfig backend;
  backend.name = "backend";
  backend.url = "http://127.0.0.1:9000/events";
  backend.lease = backend.timeout + kLeaseMargin;
  config.destinations.emplace("backend", backend);
  return config;
}

}  // namespace hookonce
