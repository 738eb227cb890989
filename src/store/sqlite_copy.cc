#include "store/sqlite_copy.h"

#include <algorithm>

#include "store/headers_codec.h"
#include "store/sqlite_arrivals.h"

namespace hookonce {

Status SqliteRecordReader::prepare(Database& database, SqliteNames& sources, SqliteNames& destinations,
                                   SqliteDeliveries& deliveries, SqliteKeyLookup& keys, SqliteReplies& replies) {
  sources_ = &sources;
  destinations_ = &destinations;
  deliveries_ = &deliveries;
  keys_ = &keys;
  replies_ = &replies;
  return prepare_all(
      database,
      {
          {&places_,
           "SELECT seq, 0 FROM events WHERE seq > ?1 UNION ALL SELECT seq, 1 FROM pruned WHERE seq > ?1 "
           "ORDER BY seq LIMIT ?2"},
          {&event_,
           "SELECT e.id, e.source, e.type, e.key, e.ordering_key, e.received_at, e.duplicates, e.forwarded_trusted, "
           "c.headers, c.body, e.arrived_at, e.remote, e.retry_number, e.retry_reason, e.provider_time, e.secret, "
           "e.body_hash, e.signature_hash, c.new_items FROM events e JOIN contents c ON c.seq = e.seq WHERE e.seq = ?"},
          {&duplicates_,
           "SELECT verdict, same_body, same_key, arrived_at, remote, retry_number, retry_reason, provider_time, "
           "secret, body_hash, signature_hash FROM arrivals WHERE seq = ? ORDER BY number"},
          {&pruned_, "SELECT id, source, received_at, body_hash FROM pruned WHERE seq = ?"},
          {&event_keys_, "SELECT key FROM event_keys WHERE seq = ? ORDER BY key"},
          {&in_line_, "SELECT 1 FROM lines WHERE destination = ? AND source = ? AND ordering_key = ? AND seq = ?"},
      });
}

Result<std::vector<InboxRecord>> SqliteRecordReader::page(std::int64_t after, Time as_of) {
  std::vector<InboxRecord> records;
  std::size_t bytes = 0;
  while (true) {
    HK_ASSIGN(const std::vector<Place> next, places(after));
    for (const Place& place : next) {
      if (bytes >= kCopiedBytes) return records;
      after = place.seq;
      HK_ASSIGN(InboxRecord record, read(place, as_of));
      if (place.pruned && record.keys.empty()) continue;
      if (record.content) bytes += record.content->body.size();
      records.push_back(std::move(record));
    }
    // A run of pruned events whose keys are free again is no end.
    if (!records.empty() || next.empty()) return records;
  }
}

Result<std::vector<SqliteRecordReader::Place>> SqliteRecordReader::places(std::int64_t after) {
  std::vector<Place> places;
  Query query(places_);
  query.bind_integer(after).bind_integer(std::int64_t{kCopiedRecords});
  while (true) {
    HK_ASSIGN(const bool more, query.row());
    if (!more) return places;
    places.push_back({query.integer(0), query.flag(1)});
  }
}

Result<InboxRecord> SqliteRecordReader::read(const Place& place, Time as_of) {
  InboxRecord record;
  record.position = place.seq;
  std::int64_t source = 0;
  HK_TRY(place.pruned ? read_pruned(place.seq, record, source) : read_event(place.seq, record, source));
  HK_ASSIGN(record.source, sources_->name_of(source));
  HK_TRY(read_keys(source, as_of, record));
  if (!record.content) return record;
  HK_ASSIGN(record.content->reply, replies_->find(place.seq));
  HK_TRY(read_duplicates(place.seq, *record.content));
  HK_TRY(read_deliveries(place.seq, source, *record.content));
  return record;
}

Status SqliteRecordReader::read_event(std::int64_t seq, InboxRecord& record, std::int64_t& source) {
  Query query(event_);
  query.bind_integer(seq);
  HK_ASSIGN(const bool found, query.row());
  if (!found) return internal("the content of an event is missing");
  record.id = EventId(query.bytes<16>(0));
  source = query.integer(1);
  record.received_at = query.time(5);
  RecordedContent& content = record.content.emplace();
  content.type = query.blob(2);
  content.key = query.optional_blob(3);
  content.ordering_key = query.optional_blob(4);
  content.duplicates = query.integer(6);
  content.forwarded_trusted = query.flag(7);
  HK_ASSIGN(content.headers, decode_headers(query.blob(8)));
  content.body = query.blob(9);
  content.new_items = query.blob(18);
  content.arrivals.push_back({read_arrival(query, 10), Verdict::kAccepted, true});
  record.body_hash = content.arrivals[0].arrival.body_hash;
  return {};
}

Status SqliteRecordReader::read_pruned(std::int64_t seq, InboxRecord& record, std::int64_t& source) {
  Query query(pruned_);
  query.bind_integer(seq);
  HK_ASSIGN(const bool found, query.row());
  if (!found) return internal("a pruned event is missing");
  record.id = EventId(query.bytes<16>(0));
  source = query.integer(1);
  record.received_at = query.time(2);
  record.body_hash = query.bytes<16>(3);
  return {};
}

Status SqliteRecordReader::read_keys(std::int64_t source, Time as_of, InboxRecord& record) {
  Query query(event_keys_);
  query.bind_integer(record.position);
  while (true) {
    HK_ASSIGN(const bool more, query.row());
    if (!more) return {};
    const KeyHash key = query.bytes<16>(0);
    HK_ASSIGN(const auto holder, keys_->find({source, key}));
    const bool held = holder && holder->seq == record.position && holder->expires_at > as_of;
    if (held) record.keys_until = holder->expires_at;
    if (held || record.content) record.keys.push_back({key, held});
  }
}

Status SqliteRecordReader::read_duplicates(std::int64_t seq, RecordedContent& content) {
  Query query(duplicates_);
  query.bind_integer(seq);
  while (true) {
    HK_ASSIGN(const bool more, query.row());
    if (!more) return {};
    content.arrivals.push_back(
        {read_arrival(query, 3), static_cast<Verdict>(query.integer(0)), query.flag(1), query.flag(2)});
  }
}

Status SqliteRecordReader::read_deliveries(std::int64_t seq, std::int64_t source, RecordedContent& content) {
  HK_ASSIGN(const std::vector<PlacedDelivery> placed, deliveries_->of_event(seq));
  for (const auto& [place, record] : placed) {
    RecordedDelivery delivery;
    HK_ASSIGN(delivery.destination, destinations_->name_of(place.destination));
    delivery.record = record;
    HK_ASSIGN(delivery.attempts, deliveries_->attempts(place));
    if (content.ordering_key) {
      Query query(in_line_);
      query.bind_integer(place.destination).bind_integer(source).bind_blob(content.ordering_key).bind_integer(seq);
      HK_ASSIGN(delivery.in_line, query.row());
    }
    content.deliveries.push_back(std::move(delivery));
  }
  std::sort(content.deliveries.begin(), content.deliveries.end(),
            [](const RecordedDelivery& a, const RecordedDelivery& b) { return a.destination < b.destination; });
  return {};
}

Status SqliteRecordWriter::prepare(Database& database, SqliteNames& sources, SqliteNames& destinations,
                                   SqliteDeliveries& deliveries, SqliteKeys& keys, SqliteLines& lines,
                                   SqliteReplies& replies, SqliteAccept& accept) {
  sources_ = &sources;
  destinations_ = &destinations;
  deliveries_ = &deliveries;
  keys_ = &keys;
  lines_ = &lines;
  replies_ = &replies;
  accept_ = &accept;
  return prepare_all(
      database,
      {
          {&is_event_, "SELECT 1 FROM events WHERE id = ?"},
          {&is_pruned_, "SELECT 1 FROM pruned WHERE seq = ? AND id = ?"},
          {&insert_event_,
           "INSERT INTO events (seq, id, source, type, key, ordering_key, received_at, keys_until, size, duplicates, "
           "forwarded_trusted, arrived_at, remote, retry_number, retry_reason, provider_time, secret, body_hash, "
           "signature_hash) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"},
          {&insert_content_, "INSERT INTO contents (seq, headers, body, new_items) VALUES (?, ?, ?, ?)"},
          {&insert_arrival_,
           "INSERT INTO arrivals (seq, number, verdict, same_body, same_key, arrived_at, remote, retry_number, "
           "retry_reason, provider_time, secret, body_hash, signature_hash) "
           "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"},
          {&insert_pruned_,
           "INSERT INTO pruned (seq, id, source, received_at, keys_until, body_hash) VALUES (?, ?, ?, ?, ?, ?)"},
      });
}

Status SqliteRecordWriter::write(const InboxRecord& record) {
  HK_ASSIGN(const std::int64_t source, sources_->add(record.source));
  HK_ASSIGN(const bool here, is_here(record, source));
  if (here) return {};
  const std::int64_t seq = accept_->next_seq();
  accept_->set_next_seq(seq + 1);
  HK_TRY(record.content ? write_event(record, *record.content, seq, source) : write_pruned(record, seq, source));
  for (const RecordedKey& key : record.keys) {
    HK_TRY(keys_->adopt({source, key.key}, seq, key.held ? std::optional(record.keys_until) : std::nullopt));
  }
  return {};
}

// A pruned event is known by the keys it holds alone.
Result<bool> SqliteRecordWriter::is_here(const InboxRecord& record, std::int64_t source) {
  if (record.content) {
    Query query(is_event_);
    query.bind_blob(record.id.bytes());
    return query.row();
  }
  if (record.keys.empty()) return false;
  HK_ASSIGN(const auto holder, keys_->find({source, record.keys[0].key}));
  if (!holder) return false;
  Query query(is_pruned_);
  query.bind_integer(holder->seq).bind_blob(record.id.bytes());
  return query.row();
}

Status SqliteRecordWriter::write_event(const InboxRecord& record, const RecordedContent& content, std::int64_t seq,
                                       std::int64_t source) {
  {
    Query query(insert_event_);
    query.bind_integer(seq).bind_blob(record.id.bytes()).bind_integer(source).bind_blob(content.type);
    query.bind_blob(content.key).bind_blob(content.ordering_key).bind_time(record.received_at);
    query.bind_time(record.holds_a_key() ? record.keys_until : record.received_at);
    query.bind_integer(static_cast<std::int64_t>(content.body.size())).bind_integer(content.duplicates);
    query.bind_flag(content.forwarded_trusted);
    bind_arrival(query, content.arrivals.at(0).arrival);
    HK_TRY(query.run());
  }
  const std::string headers = encode_headers(content.headers);
  {
    Query query(insert_content_);
    query.bind_integer(seq).bind_blob(headers).bind_blob(content.body).bind_blob(content.new_items);
    HK_TRY(query.run());
  }
  if (content.reply) HK_TRY(replies_->keep(seq, *content.reply));
  for (std::size_t i = 1; i < content.arrivals.size(); ++i) {
    const StoredArrival& stored = content.arrivals[i];
    Query query(insert_arrival_);
    query.bind_integer(seq).bind_integer(static_cast<std::int64_t>(i + 1));
    query.bind_integer(static_cast<std::int64_t>(stored.verdict)).bind_flag(stored.same_body);
    query.bind_flag(stored.same_key);
    bind_arrival(query, stored.arrival);
    HK_TRY(query.run());
  }
  for (const RecordedDelivery& delivery : content.deliveries) {
    HK_ASSIGN(const std::int64_t destination, destinations_->add(delivery.destination));
    const DeliveryPlace place{seq, destination};
    if (delivery.in_line && content.ordering_key) {
      // Whether it is the first, its own record says.
      HK_TRY(lines_->join(place, source, *content.ordering_key).status());
    }
    HK_TRY(deliveries_->insert(place, delivery.record));
    for (const Attempt& attempt : delivery.attempts) HK_TRY(deliveries_->record_attempt(place, attempt));
  }
  return {};
}

Status SqliteRecordWriter::write_pruned(const InboxRecord& record, std::int64_t seq, std::int64_t source) {
  Query query(insert_pruned_);
  query.bind_integer(seq).bind_blob(record.id.bytes()).bind_integer(source);
  query.bind_time(record.received_at).bind_time(record.keys_until).bind_blob(record.body_hash);
  return query.run();
}

Result<std::optional<CopyMark>> read_copy_mark(Database& database) {
  HK_ASSIGN(const std::int64_t exists,
            database.integer("SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = 'copy_mark')"));
  if (exists == 0) return std::optional<CopyMark>();
  HK_ASSIGN(Statement find, database.prepare("SELECT origin, position, last, records FROM copy_mark"));
  Query query(find);
  HK_ASSIGN(const bool found, query.row());
  if (!found) return std::optional<CopyMark>();
  CopyMark mark;
  mark.from = query.blob(0);
  mark.position = query.integer(1);
  mark.last = EventId(query.bytes<16>(2));
  mark.records = query.integer(3);
  return std::optional(std::move(mark));
}

Status write_copy_mark(Database& database, const CopyMark& mark) {
  HK_TRY(database.execute(
      "CREATE TABLE IF NOT EXISTS copy_mark (origin BLOB NOT NULL, position INTEGER NOT NULL, last BLOB NOT NULL, "
      "records INTEGER NOT NULL) STRICT; DELETE FROM copy_mark"));
  HK_ASSIGN(Statement insert,
            database.prepare("INSERT INTO copy_mark (origin, position, last, records) VALUES (?, ?, ?, ?)"));
  Query query(insert);
  query.bind_blob(mark.from).bind_integer(mark.position).bind_blob(mark.last.bytes()).bind_integer(mark.records);
  return query.run();
}

Status remove_copy_mark(Database& database) {
  return database.execute("DROP TABLE IF EXISTS copy_mark");
}

}  // namespace hookonce
