// Which destinations are paused, on PostgreSQL.
//
// A claim that began before a pause must not end behind it. So whoever gives out leases holds a lock together with the
// others, taken in a statement before the one that looks, and whoever pauses waits for all of them.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "store/postgres_connection.h"

namespace hookonce {

// Queues the lock of those who give out leases, held until the transaction ends. One result.
void lock_pauses(PostgresConnection& connection);
// Queues the question which of the destinations are paused. One result.
void queue_paused(PostgresConnection& connection, const std::set<std::string>& destinations);
std::set<std::string> read_paused(const PostgresResult& result);

// Store::set_paused(). One transaction, begun and committed here.
Result<bool> write_paused(PostgresConnection& connection, const PostgresTransaction& transaction,
                          const std::string& destination, bool paused);

}  // namespace hookonce
