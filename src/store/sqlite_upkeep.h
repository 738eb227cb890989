// Retention: removes events whose time is over, and dedup keys whose window is over and whose event is gone.
//
// Nothing here decides whether an arrival is a duplicate: expiry is the predicate of the insert, and a key that has not
// been pruned yet is as free as one that has.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "core/model.h"
#include "store/sqlite_deliveries.h"
#include "store/sqlite_keys.h"
#include "store/sqlite_lines.h"
#include "store/sqlite_names.h"
#include "store/store.h"

namespace hookonce {

class SqliteUpkeep {
 public:
  // REQUIRES: the arguments outlive this.
  Status prepare(Database& database, SqliteDeliveries& deliveries, SqliteKeys& keys, SqliteLines& lines,
                 SqliteNames& sources);

  // REQUIRES: within a write transaction. The walk over old events goes on where the last call ended.
  Result<std::int64_t> prune(const PruneRequest& request);

  // After a rollback: nothing of the last walk happened.
  void forget() { position_ = 0; }

 private:
  struct OldEvent {
    std::int64_t seq = 0;
    std::int64_t source = 0;
    EventId id;
    Time received_at{};
    Time keys_until{};
    KeyHash body_hash{};
  };
  // The request's limits of single sources, by the numbers that rows have.
  Result<std::map<std::int64_t, Time>> own_limits(const PruneRequest& request);
  Result<std::vector<OldEvent>> next_events(std::int64_t from);
  Result<bool> has_ended(const OldEvent& event, Time before);
  Status remove_event(const OldEvent& event, Time now);
  Status keep_as_pruned(const OldEvent& event);
  Result<std::int64_t> prune_keys(Time now, std::int64_t limit);

  SqliteDeliveries* deliveries_ = nullptr;
  SqliteKeys* keys_ = nullptr;
  SqliteLines* lines_ = nullptr;
  SqliteNames* sources_ = nullptr;
  std::int64_t position_ = 0;  // sequence number behind which the walk goes on
  Statement next_events_;
  Statement remove_event_;
  Statement remove_content_;
  Statement remove_arrivals_;
  Statement remove_reply_;
  Statement insert_pruned_;
  Statement over_;
  Statement remove_pruned_;
};

}  // namespace hookonce
