#include "store/sqlite_holds.h"

#include "store/delivery_record.h"

namespace hookonce {

Status SqliteHolds::prepare(Database& database, SqlitePauses& pauses) {
  pauses_ = &pauses;
  return prepare_all(database, {{&head_,
                                 "SELECT h.id FROM events e JOIN lines l ON l.destination = ?2 AND l.source = e.source "
                                 "AND l.ordering_key = e.ordering_key JOIN events h ON h.seq = l.seq "
                                 "WHERE e.seq = ?1 ORDER BY l.seq LIMIT 1"}});
}

Result<std::optional<Hold>> SqliteHolds::of(DeliveryPlace place, bool in_line) {
  HK_ASSIGN(const bool paused, pauses_->is_paused(place.destination));
  std::optional<EventId> head;
  if (in_line) {
    Query query(head_);
    query.bind_integer(place.seq).bind_integer(place.destination);
    HK_ASSIGN(const bool found, query.row());
    if (found) head = EventId(query.bytes<16>(0));
  }
  return hold_of(paused, head);
}

}  // namespace hookonce
