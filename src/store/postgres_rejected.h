// Rejected requests in a table of a PostgreSQL inbox's schema, seen by all its gateways.
#pragma once

#include <memory>
#include <string_view>

#include "store/rejected_store.h"

namespace hookonce {

// REQUIRES: the inbox at `url` has been opened, which makes the table. Connects when first used. kInvalid: no such URL.
Result<std::unique_ptr<RejectedStore>> open_postgres_rejected(std::string_view url);

}  // namespace hookonce
