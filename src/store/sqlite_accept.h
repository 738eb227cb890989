// Accept once: an event, its dedup keys, its first arrival and its deliveries, or a duplicate of what holds its key.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/model.h"
#include "store/sqlite_deliveries.h"
#include "store/sqlite_keys.h"
#include "store/sqlite_lines.h"
#include "store/sqlite_names.h"
#include "store/sqlite_pauses.h"
#include "store/sqlite_replies.h"

namespace hookonce {

class SqliteAccept {
 public:
  // REQUIRES: the arguments outlive this.
  Status prepare(Database& database, SqliteNames& sources, SqliteNames& destinations, SqliteDeliveries& deliveries,
                 SqliteKeys& keys, SqliteLines& lines, SqliteReplies& replies, SqlitePauses& pauses);

  // REQUIRES: within a write transaction.
  Result<AcceptFacts> accept(const NewEvent& event, Time now);

  // The sequence number of the next event; put back to its old value after a rollback.
  std::int64_t next_seq() const { return next_seq_; }
  void set_next_seq(std::int64_t seq) { next_seq_ = seq; }

 private:
  struct FreeKey {
    KeyHash key{};
    std::optional<std::int64_t> older;  // who held it before
  };
  struct Keys {
    std::vector<FreeKey> free;
    std::optional<KeyHolder> oldest;  // of the holders of the others
    std::string new_items;            // of a batch: the indexes of the free ones
  };

  Result<Keys> look_up(const NewEvent& event, std::int64_t source, Time now);
  Result<AcceptFacts> insert(const NewEvent& event, const Keys& keys, std::int64_t source, Time now);
  // In a fact: the lease of an event that asked for it.
  Status insert_delivery(const NewEvent& event, const std::string& name, std::int64_t seq, std::int64_t source,
                         Time now, AcceptFacts& facts);
  Result<AcceptFacts> duplicate(const NewEvent& event, std::int64_t holder, Time now);
  Result<AcceptFacts> duplicate_of_pruned(const NewEvent& event, std::int64_t holder);
  Status record_arrival(const NewEvent& event, std::int64_t holder, std::int64_t number, const AcceptFacts& facts);

  SqliteNames* sources_ = nullptr;
  SqliteNames* destinations_ = nullptr;
  SqliteDeliveries* deliveries_ = nullptr;
  SqliteKeys* keys_ = nullptr;
  SqliteLines* lines_ = nullptr;
  SqliteReplies* replies_ = nullptr;
  SqlitePauses* pauses_ = nullptr;
  std::int64_t next_seq_ = 1;
  Statement insert_event_;
  Statement insert_content_;
  Statement find_event_;
  Statement find_pruned_;
  Statement count_duplicate_;
  Statement insert_arrival_;
};

}  // namespace hookonce
