// What the destinations of synchronous sources answered.
#pragma once

#include <cstdint>
#include <optional>

#include "core/model.h"
#include "store/sqlite_database.h"

namespace hookonce {

class SqliteReplies {
 public:
  Status prepare(Database& database);

  Result<std::optional<Reply>> find(std::int64_t seq);
  Result<std::optional<Reply>> find(const EventId& id);

  // Does nothing where there is one. REQUIRES: within a write transaction.
  Status keep(std::int64_t seq, const Reply& reply);

 private:
  static Result<std::optional<Reply>> read(Query& query);

  Statement find_;
  Statement find_by_id_;
  Statement keep_;
};

}  // namespace hookonce
