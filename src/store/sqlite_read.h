// What people look at: one event in full, and counts.
#pragma once

#include <optional>
#include <vector>

#include "store/sqlite_holds.h"
#include "store/sqlite_search.h"

namespace hookonce {

class SqliteRead {
 public:
  // REQUIRES: the arguments outlive this.
  Status prepare(Database& database, SqliteNames& destinations, SqliteDeliveries& deliveries, SqliteSearch& search,
                 SqlitePauses& pauses, SqliteHolds& holds);

  // REQUIRES, for both: within a read transaction.
  Result<std::optional<EventDetail>> get(const EventId& id);
  Result<StoreStats> stats();

 private:
  Status read_event(std::int64_t seq, EventDetail& detail);
  Status read_duplicates(std::int64_t seq, EventDetail& detail);
  Status read_deliveries(std::int64_t seq, EventDetail& detail);

  SqliteNames* destinations_ = nullptr;
  SqliteDeliveries* deliveries_ = nullptr;
  SqliteSearch* search_ = nullptr;
  SqlitePauses* pauses_ = nullptr;
  SqliteHolds* holds_ = nullptr;
  Statement event_;
  Statement duplicates_;
  Statement open_counts_;
  Statement counts_;
  Statement received_at_;
};

}  // namespace hookonce
