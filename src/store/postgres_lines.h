// The lines of ordered destinations: who waits behind whom. See store.h.
//
// Who joins a line holds the line's advisory lock and the row of its head until the commit; who leaves deletes its own
// row and locks the next head's. So a head never leaves without seeing whoever has joined behind it.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "store/postgres_deliveries.h"
#include "store/store.h"

namespace hookonce {

struct PostgresLine {
  std::string destination;
  std::string source;
  std::string ordering_key;
  auto operator<=>(const PostgresLine&) const = default;
};

// Queues the locks of those who join, in an order that all share. One result.
void lock_lines(PostgresConnection& connection, const std::map<PostgresLine, bool>& lines);
// Queues the question who stands in the lines, in a later statement than the locks. One result.
void queue_heads(PostgresConnection& connection, const std::map<PostgresLine, bool>& lines);
void read_heads(const PostgresResult& result, std::map<PostgresLine, bool>& lines);  // true: somebody does

// Takes deliveries out of their lines, those that stand in one, and gathers in `changes` what becomes due by it. Which
// of `leaving` freed somebody; of several in one line, the last. Runs what is queued. REQUIRES: the events still exist.
Result<std::set<PostgresPlace>> leave_lines(PostgresConnection& connection, const std::vector<PostgresPlace>& leaving,
                                            Time now, PostgresChanges& changes);

// Store::apply_line_rule(). One transaction, begun and committed here.
Result<bool> apply_rule(PostgresConnection& connection, const PostgresTransaction& transaction, const LineRule& rule,
                        std::optional<Time> clock);

}  // namespace hookonce
