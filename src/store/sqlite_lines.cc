#include "store/sqlite_lines.h"

#include <vector>

namespace hookonce {

namespace {

constexpr std::int64_t kRuleRows =
    500;  // deliveries that one call frees, so that a commit behind it does not wait long

}  // namespace

Status SqliteLines::prepare(Database& database, SqliteDeliveries& deliveries) {
  database_ = &database;
  deliveries_ = &deliveries;
  return prepare_all(
      database,
      {
          {&head_,
           "SELECT seq FROM lines WHERE destination = ? AND source = ? AND ordering_key = ? ORDER BY seq LIMIT 1"},
          {&join_, "INSERT INTO lines (destination, source, ordering_key, seq) VALUES (?, ?, ?, ?)"},
          {&line_of_, "SELECT source, ordering_key FROM events WHERE seq = ?"},
          {&leave_, "DELETE FROM lines WHERE destination = ? AND source = ? AND ordering_key = ? AND seq = ?"},
          {&of_destination_, "SELECT seq FROM lines WHERE destination = ? LIMIT ?"},
          {&dead_,
           "SELECT l.seq FROM lines l JOIN deliveries d ON d.seq = l.seq AND d.destination = l.destination "
           "WHERE l.destination = ? AND d.state = 3 LIMIT ?"},
      });
}

Result<bool> SqliteLines::join(DeliveryPlace place, std::int64_t source, std::string_view ordering_key) {
  bool behind = false;
  {
    Query query(head_);
    query.bind_integer(place.destination).bind_integer(source).bind_blob(ordering_key);
    HK_ASSIGN(behind, query.row());
  }
  Query query(join_);
  query.bind_integer(place.destination).bind_integer(source).bind_blob(ordering_key).bind_integer(place.seq);
  HK_TRY(query.run());
  return !behind;
}

Result<bool> SqliteLines::leave(DeliveryPlace place, Time now) {
  Query line(line_of_);
  line.bind_integer(place.seq);
  HK_ASSIGN(const bool found, line.row());
  if (!found || line.is_null(1)) return false;
  {
    Query query(leave_);
    query.bind_integer(place.destination).bind_integer(line.integer(0)).bind_blob(line.blob(1));
    query.bind_integer(place.seq);
    HK_TRY(query.run());
    if (database_->changes() == 0) return false;
  }
  Query head(head_);
  head.bind_integer(place.destination).bind_integer(line.integer(0)).bind_blob(line.blob(1));
  HK_ASSIGN(const bool more, head.row());
  if (!more) return false;
  const DeliveryPlace next{head.integer(0), place.destination};
  HK_ASSIGN(auto record, deliveries_->find(next));
  if (!record || !free_held(*record, now)) return false;
  HK_TRY(deliveries_->save(next, *record));
  return true;
}

Result<bool> SqliteLines::apply(const LineRule& rule, std::int64_t destination, Time now) {
  if (rule.ordered && !rule.skip_dead) return false;
  std::vector<std::int64_t> leaving;
  {
    Query query(rule.ordered ? dead_ : of_destination_);
    query.bind_integer(destination).bind_integer(kRuleRows);
    while (true) {
      HK_ASSIGN(const bool more, query.row());
      if (!more) break;
      leaving.push_back(query.integer(0));
    }
  }
  for (std::int64_t seq : leaving) {
    HK_ASSIGN(const bool freed, leave({seq, destination}, now));
    (void)freed;
  }
  return static_cast<std::int64_t>(leaving.size()) == kRuleRows;
}

}  // namespace hookonce
