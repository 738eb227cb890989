// The inbox in a Redis server, shared by any number of gateways. One script per batch and verb; the layout is described
// at store/redis_scripts.h.
#pragma once

#include <memory>
#include <string_view>

#include "store/redis_server.h"
#include "store/store.h"

namespace hookonce {

// kInvalid: not a Redis URL. kPrecondition: the server's settings would lose what was acknowledged, its password, its
// inbox is of another version, a copy that is not finished (serving), or not there (copying from). kUnavailable: nobody
// answers.
Result<std::unique_ptr<Store>> open_redis_store(std::string_view url, RedisClock clock = RedisClock::kServer,
                                                OpenFor use = OpenFor::kServing);

}  // namespace hookonce
