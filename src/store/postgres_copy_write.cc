#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "store/headers_codec.h"
#include "store/postgres_copy.h"
#include "store/postgres_deliveries.h"
#include "store/postgres_lines.h"

namespace hookonce {

namespace {

// A pruned event is known by the keys it holds alone.
constexpr const char* kHere =
    "SELECT id FROM events WHERE id = ANY ($1::uuid[]) UNION ALL "
    "SELECT p.id FROM unnest($2::bytea[], $3::uuid[]) AS n (source, key) "
    "JOIN dedup d ON d.key = n.key AND d.source = n.source JOIN pruned p ON p.seq = d.seq";

// Room in one batch number for as many records as a page may have; see PostgresAccept.
constexpr const char* kNextSeq = "SELECT nextval('batches') << 16";
static_assert(kCopiedRecords < 1 << 16);

constexpr const char* kInsertEvents =
    "INSERT INTO events (seq, received_at, keys_until, duplicates, size, arrived_at, provider_time, secret, "
    "retry_number, forwarded_trusted, id, body_hash, signature_hash, source, type, key, ordering_key, keys, remote, "
    "retry_reason) "
    "SELECT * FROM unnest($1::bigint[], $2::timestamptz[], $3::timestamptz[], $4::bigint[], $5::bigint[], "
    "$6::timestamptz[], $7::timestamptz[], $8::integer[], $9::integer[], $10::boolean[], $11::uuid[], $12::uuid[], "
    "$13::uuid[], $14::bytea[], $15::bytea[], $16::bytea[], $17::bytea[], $18::bytea[], $19::bytea[], $20::bytea[])";

constexpr const char* kInsertContents =
    "INSERT INTO contents (seq, headers, body, new_items) "
    "SELECT * FROM unnest($1::bigint[], $2::bytea[], $3::bytea[], $4::bytea[])";

constexpr const char* kInsertReplies =
    "INSERT INTO replies (seq, status, content_type, body) "
    "SELECT * FROM unnest($1::bigint[], $2::integer[], $3::bytea[], $4::bytea[])";

constexpr const char* kInsertPruned =
    "INSERT INTO pruned (seq, received_at, keys_until, id, body_hash, source, keys) SELECT * FROM unnest("
    "$1::bigint[], $2::timestamptz[], $3::timestamptz[], $4::uuid[], $5::uuid[], $6::bytea[], $7::bytea[])";

constexpr const char* kInsertArrivals =
    "INSERT INTO arrivals (seq, number, verdict, same_body, same_key, arrived_at, provider_time, secret, "
    "retry_number, body_hash, signature_hash, remote, retry_reason) "
    "SELECT * FROM unnest($1::bigint[], $2::integer[], $3::integer[], $4::boolean[], $5::boolean[], "
    "$6::timestamptz[], $7::timestamptz[], $8::integer[], $9::integer[], $10::uuid[], $11::uuid[], $12::bytea[], "
    "$13::bytea[])";

constexpr const char* kInsertLines =
    "INSERT INTO lines (seq, destination, line) SELECT * FROM unnest($1::bigint[], $2::bytea[], $3::uuid[])";

constexpr const char* kInsertHolders =
    "INSERT INTO dedup (seq, key, source, expires_at) "
    "SELECT * FROM unnest($1::bigint[], $2::uuid[], $3::bytea[], $4::timestamptz[]) "
    "ON CONFLICT (key, source) DO UPDATE SET seq = excluded.seq, expires_at = excluded.expires_at";

constexpr const char* kInsertFormerHolders =
    "INSERT INTO former_holders (seq, key, source) SELECT * FROM unnest($1::bigint[], $2::uuid[], $3::bytea[]) "
    "ON CONFLICT DO NOTHING";

PostgresParameters gathered(std::initializer_list<PostgresColumn*> columns) {
  PostgresParameters parameters;
  for (PostgresColumn* column : columns) parameters.add_column(std::move(*column));
  return parameters;
}

std::string joined_keys(const InboxRecord& record) {
  std::string bytes;
  for (const RecordedKey& key : record.keys) {
    bytes.append(reinterpret_cast<const char*>(key.key.data()), key.key.size());
  }
  return bytes;
}

struct Placed {
  std::int64_t seq = 0;
  const InboxRecord* record = nullptr;
};

// Columns of what every arrival has.
struct ArrivalColumns {
  PostgresColumn arrived_at{PostgresType::kTimestamp}, provider_time{PostgresType::kTimestamp};
  PostgresColumn secret{PostgresType::kInteger}, retry_number{PostgresType::kInteger};
  PostgresColumn remote{PostgresType::kBytea}, retry_reason{PostgresType::kBytea};
  PostgresColumn signature_hash{PostgresType::kUuid};

  void add(const Arrival& arrival) {
    arrived_at.add(arrival.at);
    provider_time.add(arrival.provider_time);
    secret.add(arrival.secret);
    remote.add(std::string_view(arrival.remote));
    signature_hash.add(arrival.signature_hash);
    if (arrival.retry) {
      retry_number.add(arrival.retry->number);
      retry_reason.add(std::string_view(arrival.retry->reason));
    } else {
      retry_number.add_null();
      retry_reason.add_null();
    }
  }
};

void queue_events(PostgresConnection& connection, const std::vector<Placed>& placed) {
  PostgresColumn seq(PostgresType::kBigint), received_at(PostgresType::kTimestamp);
  PostgresColumn keys_until(PostgresType::kTimestamp), duplicates(PostgresType::kBigint), size(PostgresType::kBigint);
  PostgresColumn trusted(PostgresType::kBool), id(PostgresType::kUuid), body_hash(PostgresType::kUuid);
  PostgresColumn source(PostgresType::kBytea), type(PostgresType::kBytea), key(PostgresType::kBytea);
  PostgresColumn ordering_key(PostgresType::kBytea), keys(PostgresType::kBytea);
  PostgresColumn content_seq(PostgresType::kBigint), headers(PostgresType::kBytea), body(PostgresType::kBytea);
  PostgresColumn new_items(PostgresType::kBytea);
  ArrivalColumns first;
  for (const auto& [number, record] : placed) {
    if (!record->content) continue;
    const RecordedContent& content = *record->content;
    seq.add(number);
    received_at.add(record->received_at);
    keys_until.add(record->holds_a_key() ? record->keys_until : record->received_at);
    duplicates.add(content.duplicates);
    size.add(static_cast<std::int64_t>(content.body.size()));
    trusted.add(content.forwarded_trusted);
    id.add(record->id.bytes());
    body_hash.add(record->body_hash);
    source.add(std::string_view(record->source));
    type.add(std::string_view(content.type));
    key.add(content.key);
    ordering_key.add(content.ordering_key);
    keys.add(std::string_view(joined_keys(*record)));
    first.add(content.arrivals.at(0).arrival);
    content_seq.add(number);
    headers.add(std::string_view(encode_headers(content.headers)));
    body.add(std::string_view(content.body));
    new_items.add(std::string_view(content.new_items));
  }
  connection.add(kInsertEvents, gathered({&seq,
                                          &received_at,
                                          &keys_until,
                                          &duplicates,
                                          &size,
                                          &first.arrived_at,
                                          &first.provider_time,
                                          &first.secret,
                                          &first.retry_number,
                                          &trusted,
                                          &id,
                                          &body_hash,
                                          &first.signature_hash,
                                          &source,
                                          &type,
                                          &key,
                                          &ordering_key,
                                          &keys,
                                          &first.remote,
                                          &first.retry_reason}));
  connection.add(kInsertContents, gathered({&content_seq, &headers, &body, &new_items}));
}

void queue_pruned(PostgresConnection& connection, const std::vector<Placed>& placed) {
  PostgresColumn seq(PostgresType::kBigint), received_at(PostgresType::kTimestamp);
  PostgresColumn keys_until(PostgresType::kTimestamp), id(PostgresType::kUuid), body_hash(PostgresType::kUuid);
  PostgresColumn source(PostgresType::kBytea), keys(PostgresType::kBytea);
  for (const auto& [number, record] : placed) {
    if (record->content) continue;
    seq.add(number);
    received_at.add(record->received_at);
    keys_until.add(record->keys_until);
    id.add(record->id.bytes());
    body_hash.add(record->body_hash);
    source.add(std::string_view(record->source));
    keys.add(std::string_view(joined_keys(*record)));
  }
  connection.add(kInsertPruned, gathered({&seq, &received_at, &keys_until, &id, &body_hash, &source, &keys}));
}

void queue_arrivals(PostgresConnection& connection, const std::vector<Placed>& placed) {
  PostgresColumn seq(PostgresType::kBigint), number(PostgresType::kInteger), verdict(PostgresType::kInteger);
  PostgresColumn same_body(PostgresType::kBool), same_key(PostgresType::kBool), body_hash(PostgresType::kUuid);
  PostgresColumn reply_seq(PostgresType::kBigint), status(PostgresType::kInteger);
  PostgresColumn content_type(PostgresType::kBytea), reply_body(PostgresType::kBytea);
  ArrivalColumns columns;
  for (const auto& [event, record] : placed) {
    if (!record->content) continue;
    const std::vector<StoredArrival>& arrivals = record->content->arrivals;
    for (std::size_t i = 1; i < arrivals.size(); ++i) {
      seq.add(event);
      number.add(static_cast<int>(i) + 1);
      verdict.add(static_cast<int>(arrivals[i].verdict));
      same_body.add(arrivals[i].same_body);
      same_key.add(arrivals[i].same_key);
      body_hash.add(arrivals[i].arrival.body_hash);
      columns.add(arrivals[i].arrival);
    }
    if (const auto& reply = record->content->reply) {
      reply_seq.add(event);
      status.add(reply->status);
      content_type.add(std::string_view(reply->content_type));
      reply_body.add(std::string_view(reply->body));
    }
  }
  connection.add(kInsertArrivals, gathered({&seq, &number, &verdict, &same_body, &same_key, &columns.arrived_at,
                                            &columns.provider_time, &columns.secret, &columns.retry_number, &body_hash,
                                            &columns.signature_hash, &columns.remote, &columns.retry_reason}));
  connection.add(kInsertReplies, gathered({&reply_seq, &status, &content_type, &reply_body}));
}

void queue_deliveries(PostgresConnection& connection, const std::vector<Placed>& placed) {
  PostgresColumn seq(PostgresType::kBigint), destination(PostgresType::kBytea), line(PostgresType::kUuid);
  PostgresChanges changes;
  for (const auto& [number, record] : placed) {
    if (!record->content) continue;
    for (const RecordedDelivery& delivery : record->content->deliveries) {
      const PostgresPlace place(number, delivery.destination);
      changes.insert(place, delivery.record);
      for (const Attempt& attempt : delivery.attempts) changes.record_attempt(place, attempt);
      if (!delivery.in_line || !record->content->ordering_key) continue;
      seq.add(number);
      destination.add(std::string_view(delivery.destination));
      line.add(line_hash(delivery.destination, record->source, *record->content->ordering_key));
    }
  }
  changes.queue(connection);
  connection.add(kInsertLines, gathered({&seq, &destination, &line}));
}

void queue_keys(PostgresConnection& connection, const std::vector<Placed>& placed) {
  PostgresColumn seq(PostgresType::kBigint), key(PostgresType::kUuid), source(PostgresType::kBytea);
  PostgresColumn expires_at(PostgresType::kTimestamp);
  PostgresColumn former_seq(PostgresType::kBigint), former_key(PostgresType::kUuid);
  PostgresColumn former_source(PostgresType::kBytea);
  for (const auto& [number, record] : placed) {
    for (const RecordedKey& recorded : record->keys) {
      (recorded.held ? seq : former_seq).add(number);
      (recorded.held ? key : former_key).add(recorded.key);
      (recorded.held ? source : former_source).add(std::string_view(record->source));
      if (recorded.held) expires_at.add(record->keys_until);
    }
  }
  connection.add(kInsertHolders, gathered({&seq, &key, &source, &expires_at}));
  connection.add(kInsertFormerHolders, gathered({&former_seq, &former_key, &former_source}));
}

void queue_mark(PostgresConnection& connection, const CopyMark& mark) {
  connection.add(
      "CREATE TABLE IF NOT EXISTS copy_mark (origin bytea NOT NULL, position bigint NOT NULL, last uuid NOT NULL, "
      "records bigint NOT NULL)");
  connection.add("DELETE FROM copy_mark");
  connection.add("INSERT INTO copy_mark (origin, position, last, records) VALUES ($1, $2, $3, $4)",
                 PostgresParameters()
                     .add_bytes(std::string_view(mark.from))
                     .add_bigint(mark.position)
                     .add_uuid(mark.last.bytes())
                     .add_bigint(mark.records));
}

PostgresParameters here_parameters(std::span<const InboxRecord> records) {
  PostgresColumn id(PostgresType::kUuid), source(PostgresType::kBytea), key(PostgresType::kUuid);
  for (const InboxRecord& record : records) {
    id.add(record.id.bytes());
    if (record.content || record.keys.empty()) continue;
    source.add(std::string_view(record.source));
    key.add(record.keys[0].key);
  }
  return gathered({&id, &source, &key});
}

}  // namespace

Status write_records(PostgresConnection& connection, const PostgresTransaction& transaction,
                     std::span<const InboxRecord> records, const CopyMark& mark) {
  connection.begin(transaction);
  connection.add(kHere, here_parameters(records));
  connection.add(kNextSeq);
  HK_ASSIGN(const auto results, connection.run());
  std::set<EventId> here;
  for (int row = 0; row < results[0].rows(); ++row) here.insert(EventId(results[0].uuid(row, 0)));
  std::vector<Placed> placed;
  std::int64_t seq = results[1].bigint(0, 0);
  for (const InboxRecord& record : records) {
    if (!here.contains(record.id)) placed.push_back({seq++, &record});
  }
  if (!placed.empty()) {
    queue_events(connection, placed);
    queue_pruned(connection, placed);
    queue_arrivals(connection, placed);
    queue_deliveries(connection, placed);
    queue_keys(connection, placed);
  }
  queue_mark(connection, mark);
  return connection.run_and_commit().status();
}

Result<std::optional<CopyMark>> read_copy_mark(PostgresConnection& connection, const PostgresTransaction& transaction) {
  connection.begin(transaction);
  connection.add("SELECT to_regclass('copy_mark') IS NOT NULL");
  HK_ASSIGN(const auto exists, connection.run());
  if (exists[0].flag(0, 0)) connection.add("SELECT origin, position, last, records FROM copy_mark");
  HK_ASSIGN(const auto results, connection.run_and_commit());
  if (!exists[0].flag(0, 0) || results[0].rows() == 0) return std::optional<CopyMark>();
  CopyMark mark;
  mark.from = results[0].bytes(0, 0);
  mark.position = results[0].bigint(0, 1);
  mark.last = EventId(results[0].uuid(0, 2));
  mark.records = results[0].bigint(0, 3);
  return std::optional(std::move(mark));
}

Status remove_copy_mark(PostgresConnection& connection, const PostgresTransaction& transaction) {
  connection.begin(transaction);
  connection.add("DROP TABLE IF EXISTS copy_mark");
  return connection.run_and_commit().status();
}

}  // namespace hookonce
