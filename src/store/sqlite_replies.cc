#include "store/sqlite_replies.h"

namespace hookonce {

Status SqliteReplies::prepare(Database& database) {
  return prepare_all(database,
                     {
                         {&find_, "SELECT status, content_type, body FROM replies WHERE seq = ?"},
                         {&find_by_id_,
                          "SELECT r.status, r.content_type, r.body FROM events e JOIN replies r ON r.seq = e.seq "
                          "WHERE e.id = ?"},
                         {&keep_,
                          "INSERT INTO replies (seq, status, content_type, body) VALUES (?, ?, ?, ?) "
                          "ON CONFLICT (seq) DO NOTHING"},
                     });
}

Result<std::optional<Reply>> SqliteReplies::find(std::int64_t seq) {
  Query query(find_);
  query.bind_integer(seq);
  return read(query);
}

Result<std::optional<Reply>> SqliteReplies::find(const EventId& id) {
  Query query(find_by_id_);
  query.bind_blob(id.bytes());
  return read(query);
}

Result<std::optional<Reply>> SqliteReplies::read(Query& query) {
  HK_ASSIGN(const bool found, query.row());
  if (!found) return std::optional<Reply>();
  return std::optional(
      Reply{static_cast<int>(query.integer(0)), std::string(query.blob(1)), std::string(query.blob(2))});
}

Status SqliteReplies::keep(std::int64_t seq, const Reply& reply) {
  Query query(keep_);
  query.bind_integer(seq).bind_integer(std::int64_t{reply.status}).bind_blob(reply.content_type).bind_blob(reply.body);
  return query.run();
}

}  // namespace hookonce
