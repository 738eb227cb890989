// What the destinations of synchronous sources answered.
#pragma once

#include <cstdint>
#include <optional>

#include "core/model.h"
#include "store/sqlite_database.h"
#include "store/store.h"

namespace hookonce {

class SqliteReplies {
 public:
  Status prepare(Database& database);

  Result<std::optional<Reply>> find(std::int64_t seq);
  Result<std::optional<ReplyState>> state(const EventId& id);  // as Store::reply()

  // Does nothing where there is one. REQUIRES: within a write transaction.
  Status keep(std::int64_t seq, const Reply& reply);

 private:
  Statement find_;
  Statement state_;
  Statement keep_;
};

}  // namespace hookonce
