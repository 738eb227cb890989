// What retention removes: events that ended long ago, and dedup keys whose window is over and whose event is gone. No
// index by age serves it: events are walked in the order of acceptance, and each names its own keys.
//
// Of several gateways on one inbox one prunes at a time; the others find nothing to do.
#pragma once

#include <cstdint>

#include "store/postgres_accept.h"
#include "store/store.h"

namespace hookonce {

class PostgresPrune {
 public:
  // Two transactions, begun and committed here: first events, then keys. The limits of `request` are read as ages, so
  // that they hold by the server's clock. Used by one thread at a time.
  Result<std::int64_t> run(PostgresConnection& connection, const PostgresTransaction& transaction,
                           const PruneRequest& request, PostgresClockTime clock);

 private:
  Result<std::int64_t> prune_events(PostgresConnection& connection, const PruneRequest& request,
                                    PostgresClockTime clock);
  Result<std::int64_t> prune_keys(PostgresConnection& connection, std::int64_t limit, PostgresClockTime clock);

  // Where the walk goes on: pending events, and those that their source keeps for longer than others do, stay in
  // the way at the old end.
  std::int64_t position_ = 0;
};

}  // namespace hookonce
