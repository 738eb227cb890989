// Lists deliveries in short reads, as sqlite_search.h does events.
//
//   DeliveryWalk walk{list};
//   while (!walk.finished) HK_TRY(finder.step(walk));
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "store/delivery_list.h"
#include "store/sqlite_holds.h"
#include "store/sqlite_search.h"

namespace hookonce {

struct DeliveryWalk {
  DeliveryList list;
  Duration stop_at{};     // by steady_now(); at least one step is done
  std::int64_t rows = 0;  // of deliveries, looked at
  bool finished = false;
  bool exhausted = false;  // valid once finished: nothing further matches
};

class SqliteDeliveryList {
 public:
  // REQUIRES: the arguments outlive this.
  Status prepare(Database& database, SqliteNames& destinations, SqliteDeliveries& deliveries, SqliteSearch& search,
                 SqliteHolds& holds);

  // Looks at the next deliveries. REQUIRES: within a read transaction of its own.
  Status step(DeliveryWalk& walk);

 private:
  Statement& candidates_for(const DeliveryFilter& filter);
  Result<std::vector<std::int64_t>> candidates(DeliveryWalk& walk);
  Status look_at(std::int64_t seq, DeliveryList& list);
  Status add_last_attempt(DeliveryPlace place, DeliverySummary& row);

  SqliteNames* destinations_ = nullptr;
  SqliteDeliveries* deliveries_ = nullptr;
  SqliteSearch* search_ = nullptr;
  SqliteHolds* holds_ = nullptr;
  Statement all_;
  Statement open_;
  Statement dead_;
  Statement received_at_;
  Statement last_attempt_;
};

}  // namespace hookonce
