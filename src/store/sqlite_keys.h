// Who holds a dedup key, and who held it before.
//
//   a new event's key      event_keys (appended) + hot, in memory
//   hot has kHotKeysMax    a round begins: shard after shard moves from hot into the table dedup, in key order, a few
//                          keys with each commit; at its end `moved_to` says how far event_keys need not be read again
//   at opening             hot is read from event_keys behind `moved_to`
//
// A key is looked up in hot, then in dedup; hot knows better. So a commit appends only: an index over random keys would
// dirty a page of its own for each event. The one process that owns the file decides (sqlite_owner_lock.h).
//
// The holders of one key are linked both ways in event_keys, so that every event of a key is found from its newest
// holder, and a pruned one can be taken out of the chain. The newest one's row has no `newer`.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "store/sqlite_database.h"
#include "store/sqlite_hot_keys.h"

namespace hookonce {

// About 80 bytes each, and up to half as many again come in while a round goes on.
inline constexpr std::size_t kHotKeysMax = 400'000;

// For readers: what is durable.
class SqliteKeyLookup {
 public:
  // REQUIRES: the arguments outlive this.
  Status prepare(Database& database, const SqliteHotKeys& hot);

  Result<std::optional<KeyHolder>> find(const KeyPlace& place);

 private:
  const SqliteHotKeys* hot_ = nullptr;
  Statement in_table_;
};

// For the writing connection. REQUIRES of all but prepare() and the last two: within a write transaction.
class SqliteKeys {
 public:
  // REQUIRES: the arguments outlive this.
  Status prepare(Database& database, SqliteHotKeys& hot, std::size_t hot_max = kHotKeysMax);

  // The newest holder, whether or not its window is over.
  Result<std::optional<KeyHolder>> find(const KeyPlace& place);

  // The key goes to a new event; `older` is its holder before, whose window is over.
  Status take(const KeyPlace& place, const KeyHolder& holder, std::optional<std::int64_t> older);
  // The key goes to an event that is here already.
  Status hand_over(const KeyPlace& place, const KeyHolder& holder, std::optional<std::int64_t> older);
  // For an event that was copied from another store: until when it holds the key, or that it held it once. REQUIRES:
  // the event is behind all others.
  Status adopt(const KeyPlace& place, std::int64_t seq, std::optional<Time> held_until);
  // Takes what an event held out of the chains; the number of keys that are free now.
  Result<std::int64_t> release(std::int64_t seq, std::int64_t source);

  // Moves older keys out of memory where there are too many, at the pace of those that came in with this transaction.
  Status move_some();

  void committed();
  void rolled_back();

 private:
  struct Link {
    KeyHash key{};
    std::optional<std::int64_t> older;
    std::optional<std::int64_t> newer;
  };
  Status load();
  Status append(const KeyPlace& place, const KeyHolder& holder, std::optional<std::int64_t> older);
  Status put_into_table(const KeyPlace& place, const KeyHolder& holder);
  Result<std::vector<Link>> links_of(std::int64_t seq);
  Result<std::optional<std::int64_t>> older_of(std::int64_t seq, const KeyHash& key);
  Result<bool> release_one(std::int64_t seq, const KeyPlace& place, const Link& link);
  // False where the round is over.
  Result<bool> move_next();

  // A round over all shards.
  struct Round {
    std::int64_t up_to = 0;  // sequence number: older keys are in the table once it is over
    std::size_t next_shard = 0;
    std::vector<KeyPlace> left;   // of the shard before next_shard
    std::size_t done_shards = 0;  // whose keys have been moved by what is committed
    bool is_over = false;         // once this transaction is committed
  };

  Database* database_ = nullptr;
  SqliteHotKeys* hot_ = nullptr;
  std::size_t hot_max_ = kHotKeysMax;
  std::int64_t newest_ = 0;   // the largest sequence number that took a key
  std::int64_t durable_ = 0;  // the same of what was committed: numbers of a rolled back transaction are given again
  bool table_empty_ = false;  // so that nobody looks there
  std::optional<Round> round_;
  Statement in_table_;
  Statement put_into_table_;
  Statement append_;
  Statement link_newer_;
  Statement links_of_;
  Statement set_older_;
  Statement set_newer_;
  Statement repoint_;
  Statement free_;
  Statement remove_links_;
  Statement set_moved_to_;
};

}  // namespace hookonce
