// Accept once: which events of a batch are new, which are duplicates of what holds their keys, decided under the locks
// of one transaction and written in it.
//
//   PostgresAccept accept(events, clock);
//   lock_lines(connection, accept.lines(), ...);
//   accept.queue_keys(connection);                    // first round trip: takes what is free
//   accept.read_keys(results);
//   if (accept.has_held_keys()) ...                   // second: who holds the rest
//   facts = accept.decide(records, changes);
//   accept.queue_writes(connection);
//
// The insert of the keys decides: it takes a key that is free or whose window is over, and locks the row of one that is
// held, so that nothing about the holders can change before the commit. Within the batch the arrivals are then walked
// in order, as the memory store does.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/model.h"
#include "core/settle.h"
#include "store/postgres_deliveries.h"
#include "store/postgres_lines.h"

namespace hookonce {

// The time of the statements: nullopt is the server's own clock, which production uses; tests give theirs.
using PostgresClockTime = std::optional<Time>;

class PostgresAccept {
 public:
  static constexpr std::size_t kBatchMax = 1 << 16;  // what the sequence numbers of one batch have room for

  // REQUIRES: at most kBatchMax events, which outlive this.
  PostgresAccept(std::span<const NewEvent> events, PostgresClockTime clock);

  const PostgresLines& lines() const { return lines_; }  // that it joins, to be locked before anything else

  // How many results queue_keys() makes.
  std::size_t key_queries() const { return (leased_.empty() ? 0 : 2) + (lines_.empty() ? 1 : 2); }
  void queue_keys(PostgresConnection& connection) const;
  void read_keys(std::span<const PostgresResult> results);  // REQUIRES: key_queries() of them

  bool has_held_keys() const { return held_ > 0; }
  void queue_holders(PostgresConnection& connection) const;
  // kInternal where a held key has no holder.
  Status read_holders(std::span<const PostgresResult> results, std::map<PostgresPlace, DeliveryRecord>& records);

  std::vector<AcceptFacts> decide(std::map<PostgresPlace, DeliveryRecord>& records, PostgresChanges& changes);
  void queue_writes(PostgresConnection& connection) const;

  Time now() const { return now_; }  // valid after read_keys()

 private:
  struct Holder {
    EventId id;
    Time first_at{};
    KeyHash body_hash{};
    Time expires_at{};
    std::optional<std::string> key;
    FirstArrival first;
    bool pruned = false;
    std::int64_t duplicates = 0;  // with those of this batch
    std::int64_t added = 0;       // of this batch
    std::string added_keys;       // handed over in this batch
    std::optional<Reply> reply;
  };
  struct Key {
    std::size_t event = 0;  // the first one of the batch that has it
    bool taken = false;     // by the insert, for that event
    bool free = false;      // nobody of the batch has it yet
    std::int64_t seq = 0;   // else who holds it
    Time expires_at{};
    std::optional<std::int64_t> older;  // whose window is over
  };
  struct NewRow {
    std::size_t event = 0;
    std::string keys;
    std::string new_items;
  };
  struct ArrivalRow {
    std::size_t event = 0;
    std::int64_t holder = 0;
    int number = 0;
    Verdict verdict = Verdict::kDuplicate;
    bool same_body = true;
    bool same_key = true;
  };
  struct LineRow {
    std::int64_t seq = 0;
    std::string destination;
    KeyHash line{};
  };
  using KeyName = std::pair<KeyHash, std::string_view>;  // the order of the locks; the view is into the event

  AcceptFacts decide_one(std::size_t index, std::map<PostgresPlace, DeliveryRecord>& records, PostgresChanges& changes);
  AcceptFacts insert(NewRow row, PostgresChanges& changes);
  // When a new delivery is due; joins its line, where it has one.
  Time first_due(const NewEvent& event, const std::string& destination, std::int64_t seq);
  AcceptFacts duplicate(std::size_t index, std::int64_t seq, std::map<PostgresPlace, DeliveryRecord>& records,
                        PostgresChanges& changes);
  PostgresParameters held_keys() const;
  void queue_events(PostgresConnection& connection) const;
  void queue_duplicates(PostgresConnection& connection) const;
  void queue_moved_keys(PostgresConnection& connection) const;

  const std::span<const NewEvent> events_;
  const PostgresClockTime clock_;
  std::int64_t base_ = 0;  // sequence number of the batch's first place
  Time now_{};
  std::map<KeyName, Key> keys_;
  std::size_t held_ = 0;
  std::map<std::int64_t, Holder> holders_;
  bool has_rearm_ = false;
  bool has_first_lease_ = false;
  PostgresLines lines_;           // of the batch's ordered deliveries
  std::set<std::string> leased_;  // destinations of which a first lease is wanted
  std::set<std::string> paused_;  // of those; valid after read_keys()
  std::vector<LineRow> joined_;
  std::map<PostgresPlace, Time> new_deliveries_;  // when each is due
  std::vector<NewRow> new_rows_;
  std::vector<ArrivalRow> arrivals_;
};

}  // namespace hookonce
