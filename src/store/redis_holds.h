// Why pending deliveries wait, for people. See Hold in core/model.h.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "store/redis_server.h"

namespace hookonce {

// A pending delivery, and where to put what holds it. What it points to outlives it.
struct RedisWaiting {
  EventId event;
  const std::string& source;
  const std::string& destination;
  std::optional<std::string> ordering_key;  // where it waits in a line
  std::optional<Hold>& held;
};

// Read behind what showed the deliveries as pending: of one that has become free meanwhile, nothing is said.
Status add_holds(RedisServer& server, std::span<const RedisWaiting> waiting);

}  // namespace hookonce
