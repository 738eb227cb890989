// Which destinations are paused.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "store/sqlite_names.h"

namespace hookonce {

class SqlitePauses {
 public:
  // REQUIRES: `destinations` outlives this.
  Status prepare(Database& database, SqliteNames& destinations);

  Result<bool> is_paused(std::int64_t destination);
  Result<std::vector<std::string>> names();  // ascending

  // Whether that is news. REQUIRES: within a write transaction.
  Result<bool> set(const std::string& destination, bool paused);

 private:
  Database* database_ = nullptr;
  SqliteNames* destinations_ = nullptr;
  Statement is_paused_;
  Statement all_;
  Statement insert_;
  Statement remove_;
};

}  // namespace hookonce
