#include "store/sqlite_keys.h"

namespace hookonce {

namespace {

// Keys moved for each one that came in: a round ends in half the time that it would take to fill the memory again.
constexpr std::size_t kMovedPerKey = 2;

constexpr const char* kInTable = "SELECT seq, expires_at FROM dedup WHERE source = ? AND key = ?";

Result<std::optional<KeyHolder>> look_into_table(Statement& statement, const KeyPlace& place) {
  Query query(statement);
  query.bind_integer(place.source).bind_blob(place.key);
  HK_ASSIGN(const bool found, query.row());
  return found ? std::optional(KeyHolder{query.integer(0), query.time(1)}) : std::nullopt;
}

}  // namespace

Status SqliteKeyLookup::prepare(Database& database, const SqliteHotKeys& hot) {
  hot_ = &hot;
  return prepare_all(database, {{&in_table_, kInTable}});
}

Result<std::optional<KeyHolder>> SqliteKeyLookup::find(const KeyPlace& place) {
  if (const auto holder = hot_->find(place)) return holder;
  return look_into_table(in_table_, place);
}

Status SqliteKeys::prepare(Database& database, SqliteHotKeys& hot, std::size_t hot_max) {
  database_ = &database;
  hot_ = &hot;
  hot_max_ = hot_max;
  HK_TRY(prepare_all(
      database, {
                    {&in_table_, kInTable},
                    {&put_into_table_,
                     "INSERT INTO dedup (source, key, seq, expires_at) VALUES (?, ?, ?, ?) ON CONFLICT (source, key) "
                     "DO UPDATE SET seq = excluded.seq, expires_at = excluded.expires_at"},
                    {&append_, "INSERT INTO event_keys (seq, key, source, expires_at, older) VALUES (?, ?, ?, ?, ?)"},
                    {&link_newer_, "UPDATE event_keys SET newer = ?3 WHERE seq = ?1 AND key = ?2"},
                    {&links_of_, "SELECT key, older, newer FROM event_keys WHERE seq = ?"},
                    {&set_older_, "UPDATE event_keys SET older = ?3 WHERE seq = ?1 AND key = ?2"},
                    {&set_newer_, "UPDATE event_keys SET newer = ?3 WHERE seq = ?1 AND key = ?2"},
                    {&repoint_, "UPDATE dedup SET seq = ?3 WHERE source = ?1 AND key = ?2"},
                    {&free_, "DELETE FROM dedup WHERE source = ?1 AND key = ?2"},
                    {&remove_links_, "DELETE FROM event_keys WHERE seq = ?"},
                    {&set_moved_to_, "UPDATE dedup_moved SET moved_to = ?"},
                }));
  return load();
}

Status SqliteKeys::load() {
  HK_ASSIGN(const std::int64_t in_table, database_->integer("SELECT EXISTS (SELECT 1 FROM dedup)"));
  table_empty_ = in_table == 0;
  HK_ASSIGN(durable_, database_->integer("SELECT moved_to FROM dedup_moved"));
  newest_ = durable_;
  HK_ASSIGN(Statement newer_ones,
            database_->prepare("SELECT seq, source, key, expires_at FROM event_keys "
                               "WHERE seq > (SELECT moved_to FROM dedup_moved) AND newer IS NULL ORDER BY seq"));
  Query query(newer_ones);
  while (true) {
    HK_ASSIGN(const bool more, query.row());
    if (!more) return {};
    newest_ = durable_ = query.integer(0);
    hot_->load({query.integer(1), query.bytes<16>(2)}, {newest_, query.time(3)});
  }
}

Result<std::optional<KeyHolder>> SqliteKeys::find(const KeyPlace& place) {
  if (const auto holder = hot_->find_staged(place)) return holder;
  if (table_empty_) return std::optional<KeyHolder>();
  return look_into_table(in_table_, place);
}

Status SqliteKeys::take(const KeyPlace& place, const KeyHolder& holder, std::optional<std::int64_t> older) {
  HK_TRY(append(place, holder, older));
  hot_->set(place, holder);
  newest_ = holder.seq;
  return {};
}

// Into the table at once: the holder's rows may lie before `moved_to`, where nobody reads them again. It is rare.
Status SqliteKeys::hand_over(const KeyPlace& place, const KeyHolder& holder, std::optional<std::int64_t> older) {
  // It held the key before, and the clock has been put back into its window: the row is there.
  const bool has_row = older == holder.seq;
  if (!has_row) HK_TRY(append(place, holder, older));
  HK_TRY(put_into_table(place, holder));
  hot_->erase(place);
  return {};
}

Status SqliteKeys::adopt(const KeyPlace& place, std::int64_t seq, std::optional<Time> held_until) {
  HK_ASSIGN(const auto newest, find(place));
  // Time(): over since ever.
  if (held_until || !newest || newest->expires_at == Time()) {
    return take(place, {seq, held_until.value_or(Time())}, newest ? std::optional(newest->seq) : std::nullopt);
  }
  // The key is another event's now, so this one comes behind that in the chain.
  HK_ASSIGN(const auto older, older_of(newest->seq, place.key));
  HK_TRY(append(place, {seq, Time()}, older));
  {
    Query query(set_newer_);
    query.bind_integer(seq).bind_blob(place.key).bind_integer(newest->seq);
    HK_TRY(query.run());
  }
  Query query(set_older_);
  query.bind_integer(newest->seq).bind_blob(place.key).bind_integer(seq);
  return query.run();
}

Result<std::optional<std::int64_t>> SqliteKeys::older_of(std::int64_t seq, const KeyHash& key) {
  HK_ASSIGN(const std::vector<Link> links, links_of(seq));
  for (const Link& link : links) {
    if (link.key == key) return link.older;
  }
  return internal("the holder of a dedup key does not know it");
}

Status SqliteKeys::append(const KeyPlace& place, const KeyHolder& holder, std::optional<std::int64_t> older) {
  {
    Query query(append_);
    query.bind_integer(holder.seq).bind_blob(place.key).bind_integer(place.source);
    query.bind_time(holder.expires_at).bind_integer(older);
    HK_TRY(query.run());
  }
  if (!older) return {};
  Query query(link_newer_);
  query.bind_integer(*older).bind_blob(place.key).bind_integer(holder.seq);
  return query.run();
}

Status SqliteKeys::put_into_table(const KeyPlace& place, const KeyHolder& holder) {
  table_empty_ = false;
  Query query(put_into_table_);
  query.bind_integer(place.source).bind_blob(place.key).bind_integer(holder.seq).bind_time(holder.expires_at);
  return query.run();
}

Result<std::int64_t> SqliteKeys::release(std::int64_t seq, std::int64_t source) {
  std::int64_t freed = 0;
  HK_ASSIGN(const std::vector<Link> links, links_of(seq));
  for (const Link& link : links) {
    HK_ASSIGN(const bool free, release_one(seq, {source, link.key}, link));
    freed += free ? 1 : 0;
  }
  Query query(remove_links_);
  query.bind_integer(seq);
  HK_TRY(query.run());
  return freed;
}

Result<std::vector<SqliteKeys::Link>> SqliteKeys::links_of(std::int64_t seq) {
  std::vector<Link> links;
  Query query(links_of_);
  query.bind_integer(seq);
  while (true) {
    HK_ASSIGN(const bool more, query.row());
    if (!more) return links;
    Link link;
    link.key = query.bytes<16>(0);
    if (!query.is_null(1)) link.older = query.integer(1);
    if (!query.is_null(2)) link.newer = query.integer(2);
    links.push_back(link);
  }
}

// The holders on both sides become neighbours. The key is forgotten only with its last holder: an older one whose event
// is still here must be found by it, though the key itself is free.
Result<bool> SqliteKeys::release_one(std::int64_t seq, const KeyPlace& place, const Link& link) {
  if (link.newer) {
    Query query(set_older_);
    query.bind_integer(*link.newer).bind_blob(place.key).bind_integer(link.older);
    HK_TRY(query.run());
  }
  if (link.older) {
    Query query(set_newer_);
    query.bind_integer(*link.older).bind_blob(place.key).bind_integer(link.newer);
    HK_TRY(query.run());
  }
  if (link.newer) return false;
  const auto hot = hot_->find_staged(place);
  const bool was_hot = hot && hot->seq == seq;
  if (was_hot && link.older) {
    hot_->set(place, {*link.older, Time()});
  } else if (was_hot) {
    hot_->erase(place);
  }
  // The table may still name a holder before this one; that one goes as well.
  Query query(link.older ? repoint_ : free_);
  query.bind_integer(place.source).bind_blob(place.key);
  if (link.older) query.bind_integer(*link.older);
  HK_TRY(query.run());
  return was_hot || database_->changes() > 0;
}

Status SqliteKeys::move_some() {
  if (!round_) {
    if (hot_->size() < hot_max_) return {};
    round_ = Round{durable_, 0, {}, 0, false};
  }
  const std::size_t wanted = hot_->staged() * kMovedPerKey;
  for (std::size_t moved = 0; moved < wanted; ++moved) {
    HK_ASSIGN(const bool more, move_next());
    if (more) continue;
    Query query(set_moved_to_);
    query.bind_integer(round_->up_to);
    round_->is_over = true;
    return query.run();
  }
  return {};
}

Result<bool> SqliteKeys::move_next() {
  while (round_->left.empty()) {
    if (round_->next_shard == SqliteHotKeys::kShards) return false;
    round_->left = hot_->shard(round_->next_shard++);
  }
  const KeyPlace place = round_->left.back();
  round_->left.pop_back();
  // It may have got another holder or gone since the shard was read.
  if (const auto holder = hot_->find_staged(place)) {
    HK_TRY(put_into_table(place, *holder));
    hot_->erase(place);
  }
  return true;
}

void SqliteKeys::committed() {
  durable_ = newest_;
  hot_->publish();
  if (round_ && round_->is_over) round_.reset();
  if (round_) round_->done_shards = round_->left.empty() ? round_->next_shard : round_->next_shard - 1;
}

// A round that is under way goes on from the last shard that is not done for good. If it began anew, frequent rollbacks
// would keep it from ever ending, and opening would have more and more to read.
void SqliteKeys::rolled_back() {
  newest_ = durable_;
  hot_->discard();
  if (!round_) return;
  round_->next_shard = round_->done_shards;
  round_->left.clear();
  round_->is_over = false;
}

}  // namespace hookonce
