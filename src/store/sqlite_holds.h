// Why a pending delivery waits, for people. See Hold in core/model.h.
#pragma once

#include <optional>

#include "store/sqlite_deliveries.h"
#include "store/sqlite_pauses.h"

namespace hookonce {

class SqliteHolds {
 public:
  // REQUIRES: `pauses` outlives this.
  Status prepare(Database& database, SqlitePauses& pauses);

  // Of a pending delivery; `in_line`: it waits behind another one.
  Result<std::optional<Hold>> of(DeliveryPlace place, bool in_line);

 private:
  SqlitePauses* pauses_ = nullptr;
  Statement head_;
};

}  // namespace hookonce
