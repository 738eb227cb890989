// Whose a dedup key is, for readers: what a duplicate can be told when its own record cannot be written.
#pragma once

#include <optional>

#include "core/model.h"
#include "store/sqlite_deliveries.h"
#include "store/sqlite_keys.h"
#include "store/sqlite_names.h"

namespace hookonce {

class SqliteHolder {
 public:
  // REQUIRES: the arguments outlive this.
  Status prepare(Database& database, SqliteNames& sources, SqliteDeliveries& deliveries, SqliteKeyLookup& keys);

  // As Store::find_duplicate(). REQUIRES: within a read transaction.
  Result<std::optional<AcceptFacts>> find(const NewEvent& event, Time now);

 private:
  Result<std::optional<std::int64_t>> oldest_holder(const NewEvent& event, Time now);
  Result<bool> would_be_rearmed(std::int64_t seq, Time now);

  SqliteNames* sources_ = nullptr;
  SqliteDeliveries* deliveries_ = nullptr;
  SqliteKeyLookup* keys_ = nullptr;
  Statement facts_;
};

}  // namespace hookonce
