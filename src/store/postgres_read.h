// The reading verbs that look at one event or at all of them at once. Each is one round trip in a transaction of its
// own, in which all statements see the same moment.
#pragma once

#include <optional>

#include "store/postgres_accept.h"
#include "store/store.h"

namespace hookonce {

Result<std::optional<EventDetail>> read_event(PostgresConnection& connection, const PostgresTransaction& transaction,
                                              const EventId& id);

Result<std::optional<ReplyState>> read_reply(PostgresConnection& connection, const PostgresTransaction& transaction,
                                             const EventId& id);

Result<StoreStats> read_stats(PostgresConnection& connection, const PostgresTransaction& transaction);

// Store::find_duplicate().
Result<std::optional<AcceptFacts>> read_duplicate(PostgresConnection& connection,
                                                  const PostgresTransaction& transaction, const NewEvent& event,
                                                  PostgresClockTime clock);

}  // namespace hookonce
