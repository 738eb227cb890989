// Leases and their ends: what is due is claimed, what was attempted is settled. The decisions are those of
// delivery_record.h, made while the rows are locked.
#pragma once

#include <map>
#include <optional>
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

  static constexpr std::size_t kQueries = 2;
  void queue_lock(PostgresConnection& connection) const;
  void read(std::span<const PostgresResult> results, std::map<PostgresPlace, DeliveryRecord>& records);
  std::vector<SettleFacts> decide(std::map<PostgresPlace, DeliveryRecord>& records, PostgresChanges& changes,
                                  Time now) const;

 private:
  const std::span<const Settlement> settlements_;
  std::map<EventId, std::int64_t> seqs_;  // of those that still exist
};

}  // namespace hookonce
