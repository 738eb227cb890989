#include "store/sqlite_pauses.h"

#include <algorithm>

namespace hookonce {

Status SqlitePauses::prepare(Database& database, SqliteNames& destinations) {
  database_ = &database;
  destinations_ = &destinations;
  return prepare_all(database, {
                                   {&is_paused_, "SELECT 1 FROM pauses WHERE destination = ?"},
                                   {&all_, "SELECT destination FROM pauses"},
                                   {&insert_, "INSERT INTO pauses (destination) VALUES (?) ON CONFLICT DO NOTHING"},
                                   {&remove_, "DELETE FROM pauses WHERE destination = ?"},
                               });
}

Result<bool> SqlitePauses::is_paused(std::int64_t destination) {
  Query query(is_paused_);
  query.bind_integer(destination);
  return query.row();
}

Result<std::vector<std::string>> SqlitePauses::names() {
  std::vector<std::string> names;
  Query query(all_);
  while (true) {
    HK_ASSIGN(const bool more, query.row());
    if (!more) break;
    HK_ASSIGN(names.emplace_back(), destinations_->name_of(query.integer(0)));
  }
  std::sort(names.begin(), names.end());
  return names;
}

Result<bool> SqlitePauses::set(const std::string& destination, bool paused) {
  HK_ASSIGN(const std::int64_t number, destinations_->add(destination));
  Query query(paused ? insert_ : remove_);
  query.bind_integer(number);
  HK_TRY(query.run());
  return database_->changes() > 0;
}

}  // namespace hookonce
