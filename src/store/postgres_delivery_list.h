// Lists deliveries in short transactions, as postgres_search.h does events.
#pragma once

#include <cstdint>

#include "store/delivery_list.h"
#include "store/postgres_connection.h"

namespace hookonce {

struct PostgresDeliveryWalk {
  DeliveryList list;
  Duration stop_at{};           // by steady_now(); at least one step is done
  std::int64_t candidates = 0;  // events looked at
  bool finished = false;
  bool exhausted = false;  // valid once finished: nothing further matches
};

// Looks at the next events, in a transaction of its own.
Status walk_step(PostgresConnection& connection, const PostgresTransaction& transaction, PostgresDeliveryWalk& walk);

}  // namespace hookonce
