#include "store/sqlite_replies.h"

#include <utility>

namespace hookonce {

namespace {

Reply read(const Query& query, int first) {
  return {static_cast<int>(query.integer(first)), std::string(query.blob(first + 1)),
          std::string(query.blob(first + 2))};
}

}  // namespace

Status SqliteReplies::prepare(Database& database) {
  return prepare_all(database,
                     {
                         {&find_, "SELECT status, content_type, body FROM replies WHERE seq = ?"},
                         // One statement, so that it sees one moment. The state is what EventStateOf makes of the
                         // deliveries.
                         {&state_,
                          "SELECT (SELECT CASE WHEN max(d.state IN (0, 1)) THEN 0 WHEN max(d.state = 3) THEN 2 ELSE 1 "
                          "END FROM deliveries d WHERE d.seq = e.seq), r.status, r.content_type, r.body "
                          "FROM events e LEFT JOIN replies r ON r.seq = e.seq WHERE e.id = ?"},
                         {&keep_,
                          "INSERT INTO replies (seq, status, content_type, body) VALUES (?, ?, ?, ?) "
                          "ON CONFLICT (seq) DO NOTHING"},
                     });
}

Result<std::optional<Reply>> SqliteReplies::find(std::int64_t seq) {
  Query query(find_);
  query.bind_integer(seq);
  HK_ASSIGN(const bool found, query.row());
  if (!found) return std::optional<Reply>();
  return std::optional(read(query, 0));
}

Result<std::optional<ReplyState>> SqliteReplies::state(const EventId& id) {
  Query query(state_);
  query.bind_blob(id.bytes());
  HK_ASSIGN(const bool found, query.row());
  if (!found) return std::optional<ReplyState>();
  ReplyState state{static_cast<EventState>(query.integer(0)), std::nullopt};
  if (!query.is_null(1)) state.reply = read(query, 1);
  return std::optional(std::move(state));
}

Status SqliteReplies::keep(std::int64_t seq, const Reply& reply) {
  Query query(keep_);
  query.bind_integer(seq).bind_integer(std::int64_t{reply.status}).bind_blob(reply.content_type).bind_blob(reply.body);
  return query.run();
}

}  // namespace hookonce
