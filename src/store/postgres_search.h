// Finds events by a filter, newest first, in short transactions: none holds back what the server may clean up.
//
// Where an index narrows the filter (key, pending, dead) it gives the candidates, else all events do, from the cursor
// downwards; the server judges a few thousand at a time. A search that has not found enough when its time is over ends
// with a cursor to go on from, so that no call reads for ever.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "store/postgres_connection.h"
#include "store/store.h"

namespace hookonce {

struct PostgresFound {
  std::int64_t seq = 0;
  EventSummary summary;
};

struct PostgresSearch {
  EventFilter filter;
  std::int64_t before = 0;  // candidates lie below this; moves on with each step
  std::size_t wanted = 0;
  bool dead_deliveries = false;  // only events that have one, whatever their state
  Duration stop_at{};            // by steady_now(); one step is done in any case

  std::vector<PostgresFound> found;
  bool finished = false;
  bool exhausted = false;            // valid once finished: nothing further matches
  std::optional<Time> looked_until;  // when the event was received at which the search stands
  std::int64_t candidates = 0;
};

// Judges the next candidates, in a transaction of its own.
Status search_step(PostgresConnection& connection, const PostgresTransaction& transaction, PostgresSearch& search);

}  // namespace hookonce
