// Deliveries and attempts as rows: reading, locking and writing DeliveryRecords, no decisions.
//
// Queries queue a statement; the result comes with the connection's next run. PostgresChanges gathers what a verb has
// decided, and queues it as one statement per table.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "store/delivery_record.h"
#include "store/postgres_connection.h"

namespace hookonce {

// Which delivery: sequence number of its event, its destination's name.
using PostgresPlace = std::pair<std::int64_t, std::string>;

// In lists of columns, behind `seq, destination`.
inline constexpr const char* kDeliveryColumns =
    "state, due_at, attempt, counted, armed_at, claimed_at, unsettled, delivered_at, ended_at, replay, new_key, "
    "new_keys";
inline constexpr int kDeliveryColumnCount = 12;
// Of a delivery `d` and its event `e`: whether its destination is paused, and where it waits in a line, the id of the
// event at its head.
inline constexpr const char* kHoldColumns =
    "EXISTS (SELECT FROM pauses p WHERE p.destination = d.destination) AS paused, "
    "CASE WHEN d.state = 0 AND d.due_at = 'infinity' THEN (SELECT h.id FROM lines l JOIN events h ON h.seq = l.seq "
    "WHERE l.destination = d.destination AND l.line = line_of(d.destination, e.source, e.ordering_key) "
    "ORDER BY l.seq LIMIT 1) END AS head";

// A record that stands in a row from `column` on.
DeliveryRecord read_record(const PostgresResult& result, int row, int column);
// Of a delivery in that state, from kHoldColumns.
std::optional<Hold> read_hold(const PostgresResult& result, int row, int column, DeliveryState state);

// All deliveries of the events `seqs`, locked until the transaction ends, in the order in which everybody locks them.
// Its result: seq, destination, kDeliveryColumns.
void lock_deliveries(PostgresConnection& connection, const std::vector<std::int64_t>& seqs);
// The result's rows, by place.
std::map<PostgresPlace, DeliveryRecord> read_deliveries(const PostgresResult& result);

class PostgresChanges {
 public:
  // Does nothing where the event has a delivery there.
  void insert(const PostgresPlace& place, const DeliveryRecord& record);
  void save(const PostgresPlace& place, const DeliveryRecord& record);  // the last one of a place counts
  // Replaces an attempt of the same number; the newest kAttemptsShown stay.
  void record_attempt(const PostgresPlace& place, Attempt attempt);
  // Only where the attempt is shown with the outcome unknown.
  void correct_unknown(const PostgresPlace& place, Attempt attempt);

  void queue(PostgresConnection& connection) const;

 private:
  using AttemptPlace = std::pair<PostgresPlace, int>;
  std::map<PostgresPlace, DeliveryRecord> inserted_;
  std::map<PostgresPlace, DeliveryRecord> saved_;
  std::map<AttemptPlace, Attempt> recorded_;
  std::map<AttemptPlace, Attempt> corrected_;
};

// From columns number, started_at, duration, outcome, status, error, response.
Attempt read_attempt(const PostgresResult& result, int row, int column);

}  // namespace hookonce
