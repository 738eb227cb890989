// The lines of ordered destinations: who waits behind whom. See store.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "store/sqlite_deliveries.h"
#include "store/store.h"

namespace hookonce {

class SqliteLines {
 public:
  // REQUIRES: the arguments outlive this.
  Status prepare(Database& database, SqliteDeliveries& deliveries);

  // All below: within a write transaction.

  // Whether it is the first of its line.
  Result<bool> join(DeliveryPlace place, std::int64_t source, std::string_view ordering_key);
  // Takes a delivery out of its line, if it stands in one; whether the next one became due.
  Result<bool> leave(DeliveryPlace place, Time now);
  // As Store::apply_line_rule(); `destination` is the number of the rule's.
  Result<bool> apply(const LineRule& rule, std::int64_t destination, Time now);

 private:
  Database* database_ = nullptr;
  SqliteDeliveries* deliveries_ = nullptr;
  Statement head_;
  Statement join_;
  Statement line_of_;
  Statement leave_;
  Statement of_destination_;
  Statement dead_;
};

}  // namespace hookonce
