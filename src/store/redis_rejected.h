// Rejected requests in a Redis inbox's server, seen by all its gateways.
#pragma once

#include <memory>
#include <string_view>

#include "store/rejected_store.h"

namespace hookonce {

// Connects when first used. kInvalid: no such URL.
Result<std::unique_ptr<RejectedStore>> open_redis_rejected(std::string_view url);

}  // namespace hookonce
