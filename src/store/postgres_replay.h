// An operator's wish to send again, in one transaction.
#pragma once

#include <vector>

#include "store/postgres_accept.h"
#include "store/postgres_search.h"
#include "store/store.h"

namespace hookonce {

// kNotFound for an unknown id; then nothing was changed.
Result<Replayed> replay_ids(PostgresConnection& connection, const PostgresTransaction& transaction,
                            const ReplayRequest& request, PostgresClockTime clock);

// Of what a search found: only what still matches the request's filter is changed.
Result<Replayed> replay_found(PostgresConnection& connection, const PostgresTransaction& transaction,
                              const ReplayRequest& request, const std::vector<PostgresFound>& found,
                              PostgresClockTime clock);

}  // namespace hookonce
