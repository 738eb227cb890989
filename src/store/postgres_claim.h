// Leases and their ends: what is due is claimed, what was attempted is settled. The decisions are those of
// delivery_record.h, made while the rows are locked.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "store/postgres_accept.h"
#include "store/postgres_deliveries.h"
#include "store/store.h"

namespace hookonce {

// One transaction, begun and committed here.
Result<Claimed> claim_due(PostgresConnection& connection, const PostgresTransaction& transaction,
                          const ClaimRequest& request, PostgresClockTime clock);

// In the caller's time: how long the server says it is until then, from `now`.
Result<std::optional<Time>> find_next_due(PostgresConnection& connection, const PostgresTransaction& transaction,
                                          const std::vector<std::string>& destinations, PostgresClockTime clock,
                                          Time now);

// The settlements of one commit.
class PostgresSettle {
 public:
  // REQUIRES: settlements outlive this.
  explicit PostgresSettle(std::span<const Settlement> settlements) : settlements_(settlements) {}

  // Behind lock_lines(). One result.
  void queue_lock(PostgresConnection& connection) const;
  void read(const PostgresResult& result, std::map<PostgresPlace, DeliveryRecord>& records);
  std::vector<SettleFacts> decide(std::map<PostgresPlace, DeliveryRecord>& records, PostgresChanges& changes, Time now);
  void queue_replies(PostgresConnection& connection) const;

  // Whether a line goes on because of them; then leave() runs what is queued, and queues what it frees.
  bool has_leaving() const { return !leaving_.empty(); }
  Status leave(PostgresConnection& connection, Time now, std::vector<SettleFacts>& facts) const;

 private:
  const std::span<const Settlement> settlements_;
  std::map<EventId, std::int64_t> seqs_;  // of those that still exist
  std::set<PostgresPlace> in_line_;
  std::map<std::int64_t, const Reply*> replies_;  // by event
  std::map<PostgresPlace, std::size_t> leaving_;  // with the index of its settlement
};

}  // namespace hookonce
