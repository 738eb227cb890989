#include "store/sqlite_names.h"

#include <fmt/format.h>

namespace hookonce {

Status SqliteNames::prepare(Database& database, Table table) {
  const char* name = table == Table::kSources ? "sources" : "destinations";
  return prepare_all(database, {
                                   {&insert_, fmt::format("INSERT INTO {} (name) VALUES (?) RETURNING id", name)},
                                   {&find_, fmt::format("SELECT id FROM {} WHERE name = ?", name)},
                                   {&name_of_, fmt::format("SELECT name FROM {} WHERE id = ?", name)},
                               });
}

Result<std::int64_t> SqliteNames::add(std::string_view name) {
  HK_ASSIGN(const auto known, find(name));
  if (known) return *known;
  Query query(insert_);
  query.bind_blob(name);
  HK_ASSIGN(const bool inserted, query.row());
  HK_CHECK(inserted);
  const std::int64_t id = query.integer(0);
  HK_TRY(query.run());
  remember(id, name);
  return id;
}

Result<std::optional<std::int64_t>> SqliteNames::find(std::string_view name) {
  const auto cached = ids_.find(name);
  if (cached != ids_.end()) return std::optional(cached->second);
  Query query(find_);
  query.bind_blob(name);
  HK_ASSIGN(const bool found, query.row());
  if (!found) return std::optional<std::int64_t>();
  remember(query.integer(0), name);
  return std::optional(query.integer(0));
}

Result<std::string> SqliteNames::name_of(std::int64_t id) {
  const auto cached = names_.find(id);
  if (cached != names_.end()) return cached->second;
  Query query(name_of_);
  query.bind_integer(id);
  HK_ASSIGN(const bool found, query.row());
  if (!found) return internal(fmt::format("name number {} is missing", id));
  remember(id, query.blob(0));
  return names_.at(id);
}

void SqliteNames::forget() {
  ids_.clear();
  names_.clear();
}

void SqliteNames::remember(std::int64_t id, std::string_view name) {
  ids_.emplace(name, id);
  names_.emplace(id, name);
}

}  // namespace hookonce
