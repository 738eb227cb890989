// Names of sources and destinations as small integers, which every row and index entry repeats.
//
// Names are added and never removed, so what a cache has seen committed stays true.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "store/sqlite_database.h"

namespace hookonce {

class SqliteNames {
 public:
  enum class Table { kSources, kDestinations };

  Status prepare(Database& database, Table table);

  // Adds the name where it is new. REQUIRES: within a write transaction.
  Result<std::int64_t> add(std::string_view name);
  Result<std::optional<std::int64_t>> find(std::string_view name);
  Result<std::string> name_of(std::int64_t id);

  // After a rollback: what was added in it does not exist.
  void forget();

 private:
  void remember(std::int64_t id, std::string_view name);

  Statement insert_;
  Statement find_;
  Statement name_of_;
  std::map<std::string, std::int64_t, std::less<>> ids_;
  std::map<std::int64_t, std::string> names_;
};

}  // namespace hookonce
