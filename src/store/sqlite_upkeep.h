// Retention: removes events whose time is over, and dedup keys whose window is over and whose event is gone.
//
// Nothing here decides whether an arrival is a duplicate: expiry is the predicate of the insert, and a key that has not
// been pruned yet is as free as one that has.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/model.h"
#include "store/sqlite_deliveries.h"
#include "store/store.h"

namespace hookonce {

class SqliteUpkeep {
 public:
  // REQUIRES: the arguments outlive this.
  Status prepare(Database& database, SqliteDeliveries& deliveries);

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
  struct KeyLink {
    KeyHash key{};
    std::optional<std::int64_t> older;
    std::optional<std::int64_t> newer;
  };

  Result<std::vector<OldEvent>> next_events(std::int64_t from);
  Result<bool> has_ended(const OldEvent& event, Time before);
  Status remove_event(const OldEvent& event);
  Status keep_as_pruned(const OldEvent& event);
  // Takes the keys that an event held out of their chains; the number of keys that are free now.
  Result<std::int64_t> remove_keys(std::int64_t seq, std::int64_t source);
  Result<std::vector<KeyLink>> keys_of(std::int64_t seq);
  Result<bool> release_key(std::int64_t seq, std::int64_t source, const KeyLink& link);
  Result<std::int64_t> prune_keys(Time now, std::int64_t limit);

  SqliteDeliveries* deliveries_ = nullptr;
  std::int64_t position_ = 0;  // sequence number behind which the walk goes on
  Statement next_events_;
  Statement remove_event_;
  Statement remove_content_;
  Statement remove_arrivals_;
  Statement insert_pruned_;
  Statement over_;
  Statement remove_pruned_;
  Statement keys_of_;
  Statement set_older_;
  Statement set_newer_;
  Statement repoint_;
  Statement free_key_;
  Statement remove_keys_;
  Database* database_ = nullptr;
};

}  // namespace hookonce
