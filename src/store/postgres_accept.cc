#include "store/postgres_accept.h"

#include <fmt/format.h>

#include <algorithm>

#include "store/headers_codec.h"

namespace hookonce {

namespace {

// The first batch of a sequence number; the places in it are the low 16 bits. One row comes back for each key that was
// taken, and one in any case. The rows are locked in the order of the arrays, which is that of the keys: two batches
// that met in opposite order would deadlock.
constexpr const char* kTakeKeys =
    "WITH moment AS MATERIALIZED (SELECT nextval('batches') << 16 AS base, coalesce($1, clock_timestamp()) AS now), "
    "taken AS ("
    "INSERT INTO dedup AS d (source, key, seq, expires_at) "
    "SELECT n.source, n.key, m.base + n.event, m.now + n.span * interval '1 microsecond' "
    "FROM moment m, unnest($2::bytea[], $3::uuid[], $4::integer[], $5::bigint[]) AS n (source, key, event, span) "
    "ON CONFLICT (key, source) DO UPDATE SET older = d.seq, seq = excluded.seq, expires_at = excluded.expires_at "
    "WHERE d.expires_at <= (SELECT now FROM moment) "
    "RETURNING d.source, d.key, d.older) "
    "SELECT m.base, m.now, t.source, t.key, t.older FROM moment m LEFT JOIN taken t ON true";

// In the second statement's fresh snapshot stands what the insert met, and its lock keeps it there.
constexpr const char* kHeldRows =
    "unnest($1::bytea[], $2::uuid[]) AS n (source, key) JOIN dedup d ON d.key = n.key AND d.source = n.source";

std::string holder_seqs() {
  return fmt::format("(SELECT d.seq FROM {})", kHeldRows);
}

constexpr const char* kInsertEvents =
    "INSERT INTO events (received_at, seq, keys_until, size, arrived_at, provider_time, secret, retry_number, "
    "forwarded_trusted, id, body_hash, source, type, key, ordering_key, keys, remote, retry_reason) "
    "SELECT $1, n.* FROM unnest($2::bigint[], $3::timestamptz[], $4::bigint[], $5::timestamptz[], $6::timestamptz[], "
    "$7::integer[], $8::integer[], $9::boolean[], $10::uuid[], $11::uuid[], $12::bytea[], $13::bytea[], $14::bytea[], "
    "$15::bytea[], $16::bytea[], $17::bytea[], $18::bytea[]) n";

constexpr const char* kInsertContents =
    "INSERT INTO contents (seq, headers, body) SELECT * FROM unnest($1::bigint[], $2::bytea[], $3::bytea[])";

constexpr const char* kCountDuplicates =
    "UPDATE events e SET duplicates = e.duplicates + n.added, keys = e.keys || n.keys "
    "FROM unnest($1::bigint[], $2::bigint[], $3::bytea[]) AS n (seq, added, keys) WHERE e.seq = n.seq";

constexpr const char* kAddKeysToPruned =
    "UPDATE pruned p SET keys = p.keys || n.keys FROM unnest($1::bigint[], $2::bytea[]) AS n (seq, keys) "
    "WHERE p.seq = n.seq";

constexpr const char* kInsertArrivals =
    "INSERT INTO arrivals (seq, number, verdict, same_body, arrived_at, provider_time, secret, retry_number, "
    "body_hash, remote, retry_reason) "
    "SELECT * FROM unnest($1::bigint[], $2::integer[], $3::integer[], $4::boolean[], $5::timestamptz[], "
    "$6::timestamptz[], $7::integer[], $8::integer[], $9::uuid[], $10::bytea[], $11::bytea[])";

constexpr const char* kMoveKeys =
    "UPDATE dedup d SET seq = n.seq, expires_at = n.expires_at "
    "FROM unnest($1::bytea[], $2::uuid[], $3::bigint[], $4::timestamptz[]) AS n (source, key, seq, expires_at) "
    "WHERE d.key = n.key AND d.source = n.source";

constexpr const char* kInsertFormerHolders =
    "INSERT INTO former_holders (source, key, seq) SELECT * FROM unnest($1::bytea[], $2::uuid[], $3::bigint[]) "
    "ON CONFLICT DO NOTHING";

constexpr const char* kJoinLines =
    "INSERT INTO lines (seq, destination, source, ordering_key) "
    "SELECT * FROM unnest($1::bigint[], $2::bytea[], $3::bytea[], $4::bytea[])";

void append_key(std::string& keys, const KeyHash& key) {
  keys.append(reinterpret_cast<const char*>(key.data()), key.size());
}

bool is_ordered(const NewEvent& event, const std::string& destination) {
  return event.ordering_key &&
         std::find(event.ordered.begin(), event.ordered.end(), destination) != event.ordered.end();
}

void add_retry(const Arrival& arrival, PostgresColumn& number, PostgresColumn& reason) {
  if (arrival.retry) {
    number.add(arrival.retry->number);
    reason.add(std::string_view(arrival.retry->reason));
  } else {
    number.add_null();
    reason.add_null();
  }
}

}  // namespace

PostgresAccept::PostgresAccept(std::span<const NewEvent> events, PostgresClockTime clock)
    : events_(events), clock_(clock) {
  HK_CHECK(events.size() <= kBatchMax);
  for (std::size_t i = 0; i < events.size(); ++i) {
    for (const KeyHash& key : events[i].keys) {
      const auto [place, added] = keys_.try_emplace(KeyName(key, events[i].source));
      if (added) place->second.event = i;
    }
    for (const std::string& name : events[i].destinations) {
      if (is_ordered(events[i], name)) lines_[{name, events[i].source, *events[i].ordering_key}] = false;
    }
  }
}

void PostgresAccept::queue_keys(PostgresConnection& connection) {
  // Before the numbers are drawn: a lower one could be committed later otherwise.
  if (!lines_.empty()) lock_lines(connection, lines_);
  PostgresColumn source(PostgresType::kBytea), key(PostgresType::kUuid), event(PostgresType::kInteger);
  PostgresColumn span(PostgresType::kBigint);
  for (const auto& [name, state] : keys_) {
    source.add(name.second);
    key.add(name.first);
    event.add(static_cast<int>(state.event));
    span.add(std::int64_t{events_[state.event].window.count()});
  }
  connection.add(kTakeKeys, PostgresParameters()
                                .add_time(clock_)
                                .add_column(std::move(source))
                                .add_column(std::move(key))
                                .add_column(std::move(event))
                                .add_column(std::move(span)));
  if (!lines_.empty()) queue_heads(connection, lines_);
}

void PostgresAccept::read_keys(std::span<const PostgresResult> results) {
  HK_CHECK(results.size() == key_queries());
  const PostgresResult& result = results[lines_.empty() ? 0 : 1];
  if (!lines_.empty()) read_heads(results[2], lines_);
  base_ = result.bigint(0, 0);
  now_ = result.time(0, 1);
  held_ = keys_.size();
  for (int row = 0; row < result.rows(); ++row) {
    if (result.is_null(row, 2)) continue;
    const auto found = keys_.find(KeyName(result.uuid(row, 3), result.bytes(row, 2)));
    HK_CHECK(found != keys_.end());
    found->second.taken = true;
    found->second.free = true;
    if (!result.is_null(row, 4)) found->second.older = result.bigint(row, 4);
    --held_;
  }
}

PostgresParameters PostgresAccept::held_keys() const {
  PostgresColumn source(PostgresType::kBytea), key(PostgresType::kUuid);
  for (const auto& [name, state] : keys_) {
    if (state.taken) continue;
    source.add(name.second);
    key.add(name.first);
  }
  PostgresParameters parameters;
  parameters.add_column(std::move(source)).add_column(std::move(key));
  return parameters;
}

// Locks go from keys to events to deliveries, in every verb, and by number within each.
void PostgresAccept::queue_holders(PostgresConnection& connection) const {
  static const std::string keys = fmt::format("SELECT d.source, d.key, d.seq, d.expires_at FROM {}", kHeldRows);
  static const std::string events = fmt::format(
      "SELECT seq, id, received_at, body_hash, duplicates FROM events WHERE seq IN {} ORDER BY seq FOR NO KEY UPDATE",
      holder_seqs());
  static const std::string pruned =
      fmt::format("SELECT seq, id, received_at, body_hash FROM pruned WHERE seq IN {}", holder_seqs());
  static const std::string dead = fmt::format(
      "SELECT seq, destination, {} FROM deliveries WHERE seq IN {} AND state = 3 ORDER BY seq, destination "
      "FOR NO KEY UPDATE",
      kDeliveryColumns, holder_seqs());
  const PostgresParameters parameters = held_keys();
  static const std::string replies =
      fmt::format("SELECT seq, status, content_type, body FROM replies WHERE seq IN {}", holder_seqs());
  for (const std::string* sql : {&keys, &events, &pruned, &dead, &replies}) connection.add(*sql, parameters);
}

Status PostgresAccept::read_holders(std::span<const PostgresResult> results,
                                    std::map<PostgresPlace, DeliveryRecord>& records) {
  HK_CHECK(results.size() == kHolderQueries);
  const PostgresResult& events = results[1];
  for (int row = 0; row < events.rows(); ++row) {
    Holder& holder = holders_[events.bigint(row, 0)];
    holder.id = EventId(events.uuid(row, 1));
    holder.first_at = events.time(row, 2);
    holder.body_hash = events.uuid(row, 3);
    holder.duplicates = events.bigint(row, 4);
  }
  const PostgresResult& pruned = results[2];
  for (int row = 0; row < pruned.rows(); ++row) {
    Holder& holder = holders_[pruned.bigint(row, 0)];
    holder.id = EventId(pruned.uuid(row, 1));
    holder.first_at = pruned.time(row, 2);
    holder.body_hash = pruned.uuid(row, 3);
    holder.pruned = true;
  }
  const PostgresResult& keys = results[0];
  for (int row = 0; row < keys.rows(); ++row) {
    const auto found = keys_.find(KeyName(keys.uuid(row, 1), keys.bytes(row, 0)));
    const auto holder = holders_.find(keys.bigint(row, 2));
    if (found == keys_.end() || holder == holders_.end())
      return internal("the event that holds a dedup key is missing");
    found->second.seq = holder->first;
    found->second.expires_at = keys.time(row, 3);
    holder->second.expires_at = keys.time(row, 3);
  }
  if (static_cast<std::size_t>(keys.rows()) != held_) return internal("a dedup key is neither free nor held");
  records.merge(read_deliveries(results[3]));
  for (int row = 0; row < results[4].rows(); ++row) {
    holders_[results[4].bigint(row, 0)].reply =
        Reply{results[4].integer(row, 1), std::string(results[4].bytes(row, 2)), std::string(results[4].bytes(row, 3))};
  }
  return {};
}

std::vector<AcceptFacts> PostgresAccept::decide(std::map<PostgresPlace, DeliveryRecord>& records,
                                                PostgresChanges& changes) {
  std::vector<AcceptFacts> facts;
  facts.reserve(events_.size());
  for (std::size_t i = 0; i < events_.size(); ++i) facts.push_back(decide_one(i, records, changes));
  return facts;
}

AcceptFacts PostgresAccept::decide_one(std::size_t index, std::map<PostgresPlace, DeliveryRecord>& records,
                                       PostgresChanges& changes) {
  const NewEvent& event = events_[index];
  std::optional<std::int64_t> oldest;  // of the live hits
  std::vector<std::pair<const KeyHash*, Key*>> missing;
  for (const KeyHash& hash : event.keys) {
    Key& key = keys_.find(KeyName(hash, event.source))->second;
    if (key.free || key.expires_at <= now_) {
      missing.emplace_back(&hash, &key);
    } else if (!oldest || key.seq < *oldest) {
      oldest = key.seq;
    }
  }
  const bool is_new = !oldest || (event.rule == KeyRule::kEach && !missing.empty());
  const std::int64_t holder = is_new ? base_ + static_cast<std::int64_t>(index) : *oldest;
  const Time expires_at = is_new ? now_ + event.window : holders_.at(holder).expires_at;
  std::string added;
  if (is_new || event.rule == KeyRule::kAny) {
    for (auto& [hash, key] : missing) {
      if (!key->free && key->seq == holder) continue;  // One body repeats the key.
      key->free = false;
      key->seq = holder;
      key->expires_at = expires_at;
      append_key(added, *hash);
    }
  }
  if (is_new) return insert(index, std::move(added), changes);
  holders_.at(holder).added_keys += added;
  return duplicate(index, holder, records, changes);
}

AcceptFacts PostgresAccept::insert(std::size_t index, std::string keys, PostgresChanges& changes) {
  const NewEvent& event = events_[index];
  const std::int64_t seq = base_ + static_cast<std::int64_t>(index);
  Holder& holder = holders_[seq];
  holder.id = event.id;
  holder.first_at = now_;
  holder.body_hash = event.arrival.body_hash;
  holder.expires_at = now_ + event.window;
  new_rows_.push_back({index, std::move(keys)});
  AcceptFacts facts{Verdict::kAccepted, event.id, now_, true, !event.destinations.empty()};
  for (const std::string& name : event.destinations) {
    DeliveryRecord record = new_record(event, name, seq);
    if (event.first_lease && !facts.lease) {
      facts.lease = std::make_shared<Lease>(take_lease(record, *event.first_lease, now_));
      facts.lease->destination = name;
      facts.new_delivery = false;
    }
    changes.insert({seq, name}, record);
  }
  if (facts.lease) {
    Lease& lease = *facts.lease;
    lease.event = event.id;
    lease.source = event.source;
    lease.type = event.type;
    lease.received_at = now_;
    lease.forwarded_trusted = event.forwarded_trusted;
    lease.headers = std::make_shared<const Headers>(event.headers);
    lease.body = std::make_shared<const std::string>(event.body);
  }
  return facts;
}

DeliveryRecord PostgresAccept::new_record(const NewEvent& event, const std::string& destination, std::int64_t seq) {
  if (!is_ordered(event, destination)) return new_delivery(now_);
  PostgresLine line{destination, event.source, *event.ordering_key};
  bool& occupied = lines_.at(line);
  DeliveryRecord record = occupied ? held_delivery(now_) : new_delivery(now_);
  occupied = true;
  joined_.push_back({seq, std::move(line)});
  return record;
}

AcceptFacts PostgresAccept::duplicate(std::size_t index, std::int64_t seq,
                                      std::map<PostgresPlace, DeliveryRecord>& records, PostgresChanges& changes) {
  const NewEvent& event = events_[index];
  Holder& holder = holders_.at(seq);
  AcceptFacts facts{Verdict::kDuplicate, holder.id, holder.first_at, holder.body_hash == event.arrival.body_hash,
                    false};
  if (holder.pruned) return facts;
  if (event.first_lease) facts.reply = holder.reply;
  const auto first = records.lower_bound({seq, ""});
  for (auto it = first; event.rearm && it != records.end() && it->first.first == seq; ++it) {
    if (!rearm(it->second, now_)) continue;
    changes.save(it->first, it->second);
    facts.verdict = Verdict::kRearmed;
    facts.new_delivery = true;
  }
  ++holder.duplicates;
  ++holder.added;
  // The first arrival is number 1.
  if (holder.duplicates < kArrivalsMax) {
    arrivals_.push_back({index, seq, static_cast<int>(holder.duplicates) + 1, facts.verdict, facts.same_body});
  }
  return facts;
}

void PostgresAccept::queue_writes(PostgresConnection& connection) const {
  if (!new_rows_.empty()) queue_events(connection);
  queue_counts(connection);
  if (!arrivals_.empty()) queue_arrivals(connection);
  queue_moved_keys(connection);
  if (!joined_.empty()) queue_joined(connection);
}

void PostgresAccept::queue_joined(PostgresConnection& connection) const {
  PostgresColumn seq(PostgresType::kBigint), destination(PostgresType::kBytea), source(PostgresType::kBytea);
  PostgresColumn ordering_key(PostgresType::kBytea);
  for (const LineRow& row : joined_) {
    seq.add(row.seq);
    destination.add(std::string_view(row.line.destination));
    source.add(std::string_view(row.line.source));
    ordering_key.add(std::string_view(row.line.ordering_key));
  }
  connection.add(kJoinLines, PostgresParameters()
                                 .add_column(std::move(seq))
                                 .add_column(std::move(destination))
                                 .add_column(std::move(source))
                                 .add_column(std::move(ordering_key)));
}

void PostgresAccept::queue_events(PostgresConnection& connection) const {
  PostgresColumn seq(PostgresType::kBigint), keys_until(PostgresType::kTimestamp), size(PostgresType::kBigint);
  PostgresColumn arrived_at(PostgresType::kTimestamp), provider_time(PostgresType::kTimestamp);
  PostgresColumn secret(PostgresType::kInteger), retry_number(PostgresType::kInteger), trusted(PostgresType::kBool);
  PostgresColumn id(PostgresType::kUuid), body_hash(PostgresType::kUuid), source(PostgresType::kBytea);
  PostgresColumn type(PostgresType::kBytea), key(PostgresType::kBytea), ordering_key(PostgresType::kBytea);
  PostgresColumn keys(PostgresType::kBytea), remote(PostgresType::kBytea), retry_reason(PostgresType::kBytea);
  PostgresColumn content_seq(PostgresType::kBigint), headers(PostgresType::kBytea), body(PostgresType::kBytea);
  for (const NewRow& row : new_rows_) {
    const NewEvent& event = events_[row.event];
    const Arrival& arrival = event.arrival;
    const std::int64_t number = base_ + static_cast<std::int64_t>(row.event);
    seq.add(number);
    keys_until.add(now_ + event.window);
    size.add(static_cast<std::int64_t>(event.body.size()));
    arrived_at.add(arrival.at);
    provider_time.add(arrival.provider_time);
    secret.add(arrival.secret);
    add_retry(arrival, retry_number, retry_reason);
    trusted.add(event.forwarded_trusted);
    id.add(event.id.bytes());
    body_hash.add(arrival.body_hash);
    source.add(std::string_view(event.source));
    type.add(std::string_view(event.type));
    key.add(event.key);
    ordering_key.add(event.ordering_key);
    keys.add(std::string_view(row.keys));
    remote.add(std::string_view(arrival.remote));
    content_seq.add(number);
    headers.add(std::string_view(encode_headers(event.headers)));
    body.add(std::string_view(event.body));
  }
  PostgresParameters parameters;
  parameters.add_time(now_);
  for (PostgresColumn* column :
       {&seq, &keys_until, &size, &arrived_at, &provider_time, &secret, &retry_number, &trusted, &id, &body_hash,
        &source, &type, &key, &ordering_key, &keys, &remote, &retry_reason}) {
    parameters.add_column(std::move(*column));
  }
  connection.add(kInsertEvents, parameters);
  connection.add(kInsertContents, PostgresParameters()
                                      .add_column(std::move(content_seq))
                                      .add_column(std::move(headers))
                                      .add_column(std::move(body)));
}

void PostgresAccept::queue_counts(PostgresConnection& connection) const {
  PostgresColumn seq(PostgresType::kBigint), added(PostgresType::kBigint), keys(PostgresType::kBytea);
  PostgresColumn pruned_seq(PostgresType::kBigint), pruned_keys(PostgresType::kBytea);
  for (const auto& [number, holder] : holders_) {
    if (holder.pruned && !holder.added_keys.empty()) {
      pruned_seq.add(number);
      pruned_keys.add(std::string_view(holder.added_keys));
    } else if (!holder.pruned && holder.added > 0) {
      seq.add(number);
      added.add(holder.added);
      keys.add(std::string_view(holder.added_keys));
    }
  }
  if (seq.size() > 0) {
    connection.add(
        kCountDuplicates,
        PostgresParameters().add_column(std::move(seq)).add_column(std::move(added)).add_column(std::move(keys)));
  }
  if (pruned_seq.size() > 0) {
    connection.add(kAddKeysToPruned,
                   PostgresParameters().add_column(std::move(pruned_seq)).add_column(std::move(pruned_keys)));
  }
}

void PostgresAccept::queue_arrivals(PostgresConnection& connection) const {
  PostgresColumn seq(PostgresType::kBigint), number(PostgresType::kInteger), verdict(PostgresType::kInteger);
  PostgresColumn same_body(PostgresType::kBool), arrived_at(PostgresType::kTimestamp);
  PostgresColumn provider_time(PostgresType::kTimestamp), secret(PostgresType::kInteger);
  PostgresColumn retry_number(PostgresType::kInteger), body_hash(PostgresType::kUuid), remote(PostgresType::kBytea);
  PostgresColumn retry_reason(PostgresType::kBytea);
  for (const ArrivalRow& row : arrivals_) {
    const Arrival& arrival = events_[row.event].arrival;
    seq.add(row.holder);
    number.add(row.number);
    verdict.add(static_cast<int>(row.verdict));
    same_body.add(row.same_body);
    arrived_at.add(arrival.at);
    provider_time.add(arrival.provider_time);
    secret.add(arrival.secret);
    add_retry(arrival, retry_number, retry_reason);
    body_hash.add(arrival.body_hash);
    remote.add(std::string_view(arrival.remote));
  }
  PostgresParameters parameters;
  for (PostgresColumn* column : {&seq, &number, &verdict, &same_body, &arrived_at, &provider_time, &secret,
                                 &retry_number, &body_hash, &remote, &retry_reason}) {
    parameters.add_column(std::move(*column));
  }
  connection.add(kInsertArrivals, parameters);
}

// Keys that the insert took for an arrival which turned out to be a duplicate by another key, and those that had an
// earlier holder.
void PostgresAccept::queue_moved_keys(PostgresConnection& connection) const {
  PostgresColumn source(PostgresType::kBytea), key(PostgresType::kUuid), seq(PostgresType::kBigint);
  PostgresColumn expires_at(PostgresType::kTimestamp);
  PostgresColumn former_source(PostgresType::kBytea), former_key(PostgresType::kUuid), former(PostgresType::kBigint);
  for (const auto& [name, state] : keys_) {
    if (!state.taken) continue;
    if (state.older) {
      former_source.add(name.second);
      former_key.add(name.first);
      former.add(*state.older);
    }
    if (state.seq == base_ + static_cast<std::int64_t>(state.event)) continue;
    source.add(name.second);
    key.add(name.first);
    seq.add(state.seq);
    expires_at.add(state.expires_at);
  }
  if (seq.size() > 0) {
    connection.add(kMoveKeys, PostgresParameters()
                                  .add_column(std::move(source))
                                  .add_column(std::move(key))
                                  .add_column(std::move(seq))
                                  .add_column(std::move(expires_at)));
  }
  if (former.size() > 0) {
    connection.add(kInsertFormerHolders, PostgresParameters()
                                             .add_column(std::move(former_source))
                                             .add_column(std::move(former_key))
                                             .add_column(std::move(former)));
  }
}

}  // namespace hookonce
