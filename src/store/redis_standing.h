// Whether a server keeps what was acknowledged (G1), judged by its settings.
//
// A server that does not is refused with every reason and its mend; under `?durability=relaxed` the reasons become
// weaknesses, which the gateway names at its start and in /readyz.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "store/redis_connection.h"

namespace hookonce {

struct RedisSettings {
  // As the server shows them; absent where it shows none (managed servers often have no CONFIG).
  std::optional<std::string> appendonly;
  std::optional<std::string> appendfsync;
  std::optional<std::string> no_appendfsync_on_rewrite;
  std::optional<std::string> maxmemory_policy;
  bool replica = false;
  bool cluster = false;
  std::int64_t replicas = 0;  // that follow it
  std::string version;
};

struct RedisStanding {
  std::vector<std::string> refusals;      // cannot be relaxed away
  std::vector<std::string> shortcomings;  // of G1
  std::vector<std::string> notes;         // what lies outside G1
};

RedisStanding judge(const RedisSettings& settings);

// kUnavailable, or kPrecondition with all reasons; else the weaknesses to name.
Result<std::vector<std::string>> check_server(RedisConnection& connection, bool relaxed);

}  // namespace hookonce
