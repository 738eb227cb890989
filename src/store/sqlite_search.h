// Finds events by a filter, newest first, in short reads: between two of them nothing of the log is held back from a
// checkpoint.
//
//   Search search{filter, before, wanted};
//   while (!search.finished) HK_TRY(finder.step(search));
//
// Where an index narrows the filter (key, pending, dead) it gives the candidates, else all events do; each candidate is
// then judged by the predicates that every backend shares. A search that has not found enough when its time is over
// ends with a cursor to go on from, so that no call reads for ever.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "store/sqlite_deliveries.h"
#include "store/sqlite_keys.h"
#include "store/sqlite_names.h"
#include "store/store.h"

namespace hookonce {

struct FoundEvent {
  std::int64_t seq = 0;
  EventSummary summary;
};

struct Search {
  EventFilter filter;
  std::int64_t before = 0;  // candidates lie below this; moves on with each step
  std::size_t wanted = 0;
  bool dead_deliveries = false;  // only events that have one, whatever their state
  Duration stop_at{};            // by steady_now(); some candidates are looked at in any case

  std::vector<FoundEvent> found;
  bool finished = false;
  bool exhausted = false;            // valid once finished: nothing further matches
  std::optional<Time> looked_until;  // when the event was received at which the search stands
  std::int64_t rows = 0;
};

class SqliteSearch {
 public:
  // REQUIRES: the arguments outlive this.
  Status prepare(Database& database, SqliteNames& sources, SqliteDeliveries& deliveries, const SqliteHotKeys& hot);

  // Looks at the next candidates. REQUIRES: within a read transaction of its own.
  Status step(Search& search);

  Result<std::optional<FoundEvent>> by_id(const EventId& id);
  // The event with its state where it (still) matches all but the query, which looks at what never changes.
  Result<std::optional<FoundEvent>> by_seq(std::int64_t seq, const EventFilter& filter);

 private:
  struct Candidates {
    std::vector<std::int64_t> seqs;      // descending
    std::optional<std::int64_t> resume;  // where further ones begin; nullopt: there are none
    std::optional<Time> looked_until;    // of the event at `resume`, where that one is not among `seqs`
    std::int64_t rows = 0;               // looked at
  };
  Result<Candidates> candidates(const Search& search);
  Result<Candidates> from_all(const Search& search);
  Result<Candidates> from_index(Statement& index, const Search& search);  // of open or dead deliveries
  Result<Candidates> from_key(const std::string& text, std::int64_t before);
  Result<std::vector<std::int64_t>> source_numbers();
  Result<std::optional<std::int64_t>> older_of_key(std::int64_t seq, const KeyHash& key);
  Result<std::optional<EventSummary>> summary(std::int64_t seq);
  Result<bool> judge(Search& search, std::int64_t seq, std::size_t& bytes);

  SqliteNames* sources_ = nullptr;
  SqliteDeliveries* deliveries_ = nullptr;
  SqliteKeyLookup keys_;
  Statement all_;
  Statement open_;
  Statement dead_;
  Statement source_numbers_;
  Statement older_of_key_;
  Statement summary_;
  Statement seq_of_;
  Statement body_;
};

}  // namespace hookonce
