#include "store/postgres_copy.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "store/headers_codec.h"
#include "store/postgres_deliveries.h"

namespace hookonce {

namespace {

using Seqs = std::vector<std::int64_t>;

constexpr const char* kPlaces =
    "SELECT seq, size FROM events WHERE seq > $1 UNION ALL SELECT seq, 0::bigint FROM pruned WHERE seq > $1 "
    "ORDER BY seq LIMIT $2";

constexpr const char* kEvents =
    "SELECT e.seq, e.id, e.source, e.received_at, e.body_hash, e.keys, e.type, e.key, e.ordering_key, "
    "e.forwarded_trusted, e.duplicates, c.headers, c.body, "
    "e.arrived_at, e.remote, e.retry_number, e.retry_reason, e.provider_time, e.secret, "
    "e.signature_hash, c.new_items FROM events e JOIN contents c USING (seq) WHERE e.seq = ANY ($1::bigint[])";

constexpr const char* kPruned =
    "SELECT seq, id, source, received_at, body_hash, keys FROM pruned WHERE seq = ANY ($1::bigint[])";

constexpr const char* kArrivals =
    "SELECT seq, verdict, same_body, same_key, body_hash, arrived_at, remote, retry_number, retry_reason, "
    "provider_time, secret, signature_hash FROM arrivals WHERE seq = ANY ($1::bigint[]) ORDER BY seq, number";

constexpr const char* kReplies = "SELECT seq, status, content_type, body FROM replies WHERE seq = ANY ($1::bigint[])";

constexpr const char* kAttempts =
    "SELECT seq, destination, number, started_at, duration, outcome, status, error, response FROM attempts "
    "WHERE seq = ANY ($1::bigint[]) ORDER BY seq, destination, number";

constexpr const char* kLines =
    "SELECT l.seq, l.destination FROM events e JOIN deliveries d ON d.seq = e.seq "
    "JOIN lines l ON l.destination = d.destination AND l.seq = e.seq "
    "AND l.line = line_of(d.destination, e.source, e.ordering_key) "
    "WHERE e.seq = ANY ($1::bigint[]) AND e.ordering_key IS NOT NULL";

constexpr const char* kHolders =
    "SELECT d.seq, d.key, d.expires_at FROM unnest($1::bytea[], $2::uuid[]) AS n (source, key) "
    "JOIN dedup d ON d.key = n.key AND d.source = n.source WHERE d.expires_at > $3";

constexpr std::size_t kKeySize = 16;

std::vector<KeyHash> split_keys(std::string_view bytes) {
  std::set<KeyHash> keys;
  for (std::size_t at = 0; at + kKeySize <= bytes.size(); at += kKeySize) {
    KeyHash key{};
    std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(at), kKeySize, key.begin());
    keys.insert(key);
  }
  return {keys.begin(), keys.end()};
}

PostgresParameters seq_parameter(const Seqs& seqs) {
  PostgresColumn column(PostgresType::kBigint);
  for (std::int64_t seq : seqs) column.add(seq);
  PostgresParameters parameters;
  parameters.add_column(std::move(column));
  return parameters;
}

// Columns arrived_at, remote, retry_number, retry_reason, provider_time, secret, signature_hash from `column` on.
Arrival read_arrival(const PostgresResult& result, int row, int column, const KeyHash& body_hash) {
  Arrival arrival;
  arrival.at = result.time(row, column);
  arrival.remote = result.bytes(row, column + 1);
  if (!result.is_null(row, column + 2)) {
    arrival.retry = RetryHint{result.integer(row, column + 2), std::string(result.bytes(row, column + 3))};
  }
  arrival.provider_time = result.optional_time(row, column + 4);
  arrival.secret = result.integer(row, column + 5);
  arrival.body_hash = body_hash;
  arrival.signature_hash = result.uuid(row, column + 6);
  return arrival;
}

using Records = std::map<std::int64_t, InboxRecord>;

// From columns seq, id, source, received_at, body_hash, keys.
InboxRecord& add_record(const PostgresResult& result, int row, Records& records) {
  InboxRecord& record = records[result.bigint(row, 0)];
  record.position = result.bigint(row, 0);
  record.id = EventId(result.uuid(row, 1));
  record.source = result.bytes(row, 2);
  record.received_at = result.time(row, 3);
  record.body_hash = result.uuid(row, 4);
  for (const KeyHash& key : split_keys(result.bytes(row, 5))) record.keys.push_back({key, false});
  return record;
}

Status read_events(const PostgresResult& events, Records& records) {
  for (int row = 0; row < events.rows(); ++row) {
    InboxRecord& record = add_record(events, row, records);
    RecordedContent& content = record.content.emplace();
    content.type = events.bytes(row, 6);
    content.key = events.optional_bytes(row, 7);
    content.ordering_key = events.optional_bytes(row, 8);
    content.forwarded_trusted = events.flag(row, 9);
    content.duplicates = events.bigint(row, 10);
    HK_ASSIGN(content.headers, decode_headers(events.bytes(row, 11)));
    content.body = events.bytes(row, 12);
    content.new_items = events.bytes(row, 20);
    content.arrivals.push_back({read_arrival(events, row, 13, record.body_hash), Verdict::kAccepted, true});
  }
  return {};
}

// Null for a row that belongs to no event: nobody can ask for it, so it is nothing to copy.
RecordedContent* content_of(Records& records, std::int64_t seq) {
  const auto found = records.find(seq);
  return found != records.end() && found->second.content ? &*found->second.content : nullptr;
}

void read_arrivals(const PostgresResult& arrivals, Records& records) {
  for (int row = 0; row < arrivals.rows(); ++row) {
    RecordedContent* const content = content_of(records, arrivals.bigint(row, 0));
    if (content == nullptr) continue;
    content->arrivals.push_back({read_arrival(arrivals, row, 5, arrivals.uuid(row, 4)),
                                 static_cast<Verdict>(arrivals.integer(row, 1)), arrivals.flag(row, 2),
                                 arrivals.flag(row, 3)});
  }
}

void read_replies(const PostgresResult& replies, Records& records) {
  for (int row = 0; row < replies.rows(); ++row) {
    RecordedContent* const content = content_of(records, replies.bigint(row, 0));
    if (content == nullptr) continue;
    content->reply =
        Reply{replies.integer(row, 1), std::string(replies.bytes(row, 2)), std::string(replies.bytes(row, 3))};
  }
}

void read_places(const PostgresResult& deliveries, const PostgresResult& attempts, const PostgresResult& lines,
                 Records& records) {
  std::map<PostgresPlace, RecordedDelivery> placed;
  for (const auto& [place, record] : read_deliveries(deliveries)) {
    RecordedDelivery& delivery = placed[place];
    delivery.destination = place.second;
    delivery.record = record;
  }
  const auto find = [&placed](const PostgresResult& result, int row) {
    return placed.find({result.bigint(row, 0), std::string(result.bytes(row, 1))});
  };
  for (int row = 0; row < attempts.rows(); ++row) {
    const auto found = find(attempts, row);
    if (found != placed.end()) found->second.attempts.push_back(read_attempt(attempts, row, 2));
  }
  for (int row = 0; row < lines.rows(); ++row) {
    const auto found = find(lines, row);
    if (found != placed.end()) found->second.in_line = true;
  }
  // The map's order is that of the names within an event.
  for (auto& [place, delivery] : placed) {
    RecordedContent* const content = content_of(records, place.first);
    if (content != nullptr) content->deliveries.push_back(std::move(delivery));
  }
}

// Which of the keys each event holds.
PostgresParameters key_parameters(const Records& records, Time as_of) {
  PostgresColumn source(PostgresType::kBytea), key(PostgresType::kUuid);
  for (const auto& [seq, record] : records) {
    for (const RecordedKey& recorded : record.keys) {
      source.add(std::string_view(record.source));
      key.add(recorded.key);
    }
  }
  PostgresParameters parameters;
  parameters.add_column(std::move(source)).add_column(std::move(key)).add_time(as_of);
  return parameters;
}

void read_holders(const PostgresResult& holders, Records& records) {
  for (int row = 0; row < holders.rows(); ++row) {
    const auto found = records.find(holders.bigint(row, 0));
    if (found == records.end()) continue;
    for (RecordedKey& key : found->second.keys) {
      if (key.key != holders.uuid(row, 1)) continue;
      key.held = true;
      found->second.keys_until = holders.time(row, 2);
    }
  }
}

// What lies behind `after`, as far as one page goes.
Result<Seqs> read_seqs(PostgresConnection& connection, std::int64_t after) {
  connection.add(kPlaces, PostgresParameters().add_bigint(after).add_bigint(std::int64_t{kCopiedRecords}));
  HK_ASSIGN(const auto places, connection.run());
  Seqs seqs;
  std::int64_t bytes = 0;
  for (int row = 0; row < places[0].rows() && bytes < static_cast<std::int64_t>(kCopiedBytes); ++row) {
    seqs.push_back(places[0].bigint(row, 0));
    bytes += places[0].bigint(row, 1);
  }
  return seqs;
}

Result<Records> read_rows(PostgresConnection& connection, const Seqs& seqs) {
  static const std::string deliveries_sql =
      fmt::format("SELECT seq, destination, {} FROM deliveries WHERE seq = ANY ($1::bigint[])", kDeliveryColumns);
  for (const char* sql : {kEvents, kPruned, kArrivals, kReplies, kAttempts, kLines}) {
    connection.add(sql, seq_parameter(seqs));
  }
  connection.add(deliveries_sql, seq_parameter(seqs));
  HK_ASSIGN(const auto results, connection.run());
  Records records;
  HK_TRY(read_events(results[0], records));
  for (int row = 0; row < results[1].rows(); ++row) add_record(results[1], row, records);
  if (records.size() != seqs.size()) return internal("the content of an event is missing");
  read_arrivals(results[2], records);
  read_replies(results[3], records);
  read_places(results[6], results[4], results[5], records);
  return records;
}

}  // namespace

Result<std::vector<InboxRecord>> read_records(PostgresConnection& connection, const PostgresTransaction& transaction,
                                              std::int64_t& after, Time as_of) {
  std::vector<InboxRecord> page;
  // A run of pruned events whose keys are free again is no end.
  while (page.empty()) {
    connection.begin(transaction);
    HK_ASSIGN(const Seqs seqs, read_seqs(connection, after));
    HK_ASSIGN(Records records, read_rows(connection, seqs));
    connection.add(kHolders, key_parameters(records, as_of));
    HK_ASSIGN(const auto holders, connection.run_and_commit());
    read_holders(holders[0], records);
    if (seqs.empty()) return page;
    after = seqs.back();
    for (auto& [seq, record] : records) {
      if (!record.content) std::erase_if(record.keys, [](const RecordedKey& key) { return !key.held; });
      if (record.content || !record.keys.empty()) page.push_back(std::move(record));
    }
  }
  return page;
}

}  // namespace hookonce
