// The lines of ordered destinations: who waits behind whom. See store.h.
//
// Who joins a line or leaves it holds the line's advisory lock from the beginning of the transaction to its end: all
// locks of a transaction are taken at once and in one order, before any row is. So nobody leaves without seeing whoever
// has joined behind, and two transactions with the same lines wait for each other instead of dying by each other.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "store/postgres_deliveries.h"
#include "store/store.h"

namespace hookonce {

// What a line is known by in the tables; line_of() there makes the same.
KeyHash line_hash(const std::string& destination, const std::string& source, const std::string& ordering_key);

struct PostgresLine {
  std::string destination;
  bool occupied = false;  // somebody stands in it
};
using PostgresLines = std::map<KeyHash, PostgresLine>;  // by line_hash()

// Queues the locks of those lines, and of those that the deliveries of `leaving` stand in. One result.
void lock_lines(PostgresConnection& connection, const PostgresLines& joining, std::span<const Settlement> leaving);
void lock_lines(PostgresConnection& connection, const std::vector<KeyHash>& lines);
// Locks the lines that deliveries may stand in where that is possible at once; of which it was not. Runs what is
// queued.
Result<std::set<PostgresPlace>> try_lock_lines(PostgresConnection& connection,
                                               const std::vector<PostgresPlace>& deliveries);
// Queues the question who stands in the lines, in a later statement than the locks. One result.
void queue_occupied(PostgresConnection& connection, const PostgresLines& lines);
void read_occupied(const PostgresResult& result, PostgresLines& lines);

// Whether a settlement may take its delivery out of a line.
bool may_leave(const Settlement& settlement);

// The lines that the deliveries of these events stand in. Runs what is queued.
Result<std::vector<KeyHash>> find_lines(PostgresConnection& connection, const std::vector<std::int64_t>& seqs);

// Takes deliveries out of their lines, those that stand in one, and gathers in `changes` what becomes due by it. Which
// of `leaving` freed somebody; of several in one line, the last. Runs what is queued. REQUIRES: the events still exist,
// their lines are locked.
Result<std::set<PostgresPlace>> leave_lines(PostgresConnection& connection, const std::vector<PostgresPlace>& leaving,
                                            Time now, PostgresChanges& changes);

// Store::apply_line_rule(). One transaction, begun and committed here.
Result<bool> apply_rule(PostgresConnection& connection, const PostgresTransaction& transaction, const LineRule& rule,
                        std::optional<Time> clock);

}  // namespace hookonce
