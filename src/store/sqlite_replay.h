// Puts the deliveries of chosen events back to pending.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "store/sqlite_search.h"

namespace hookonce {

class SqliteReplay {
 public:
  // REQUIRES: the arguments outlive this.
  Status prepare(SqliteNames& destinations, SqliteDeliveries& deliveries, SqliteSearch& search);

  // REQUIRES, for both: within a write transaction (a read transaction will do for a dry run).
  // By explicit ids. kNotFound for an unknown one, and nothing may be committed then.
  Result<Replayed> by_ids(const ReplayRequest& request, Time now);
  // What a search outside the transaction found; an event that has stopped matching since is left alone.
  Result<Replayed> found(const ReplayRequest& request, const std::vector<FoundEvent>& events, Time now);

 private:
  Status replay_event(const FoundEvent& event, const ReplayRequest& request, Time now, Replayed& replayed);
  Status replay_delivery(const FoundEvent& event, const std::string& name, std::optional<DeliveryRecord> record,
                         const ReplayRequest& request, Time now, Replayed& replayed);

  SqliteNames* destinations_ = nullptr;
  SqliteDeliveries* deliveries_ = nullptr;
  SqliteSearch* search_ = nullptr;
};

}  // namespace hookonce
