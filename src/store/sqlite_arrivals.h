// Arrivals as columns: arrived_at, remote, retry_number, retry_reason, provider_time, secret, body_hash,
// signature_hash, in this order wherever a row has one.
#pragma once

#include "core/model.h"
#include "store/sqlite_database.h"

namespace hookonce {

void bind_arrival(Query& query, const Arrival& arrival);
// From `column` on.
Arrival read_arrival(const Query& query, int column);

}  // namespace hookonce
