#include "store/postgres_accept.h"

#include <fmt/format.h>

#include <algorithm>

#include "store/headers_codec.h"
#include "store/postgres_pauses.h"

namespace hookonce {

namespace {

constexpr const char* kHeldReplies =
    "SELECT seq, status, content_type, body FROM replies WHERE seq IN (SELECT d.seq "
    "FROM unnest($1::bytea[], $2::uuid[]) AS n (source, key) JOIN dedup d ON d.key = n.key AND d.source = n.source)";

constexpr const char* kSetNewItems =
    "UPDATE contents c SET new_items = n.items FROM unnest($1::bigint[], $2::bytea[]) AS n (seq, items) "
    "WHERE c.seq = n.seq";

constexpr const char* kAddKeysToPruned =
    "UPDATE pruned p SET keys = p.keys || n.keys FROM unnest($1::bigint[], $2::bytea[]) AS n (seq, keys) "
    "WHERE p.seq = n.seq";

constexpr const char* kMoveKeys =
    "UPDATE dedup d SET seq = n.seq, expires_at = n.expires_at "
    "FROM unnest($1::bytea[], $2::uuid[], $3::bigint[], $4::timestamptz[]) AS n (source, key, seq, expires_at) "
    "WHERE d.key = n.key AND d.source = n.source";

constexpr const char* kInsertFormerHolders =
    "INSERT INTO former_holders (source, key, seq) SELECT * FROM unnest($1::bytea[], $2::uuid[], $3::bigint[]) "
    "ON CONFLICT DO NOTHING";

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
    if (events[i].first_lease) leased_.insert(events[i].destinations.begin(), events[i].destinations.end());
    for (const std::string& name : events[i].destinations) {
      if (is_ordered(events[i], name)) lines_[line_hash(name, events[i].source, *events[i].ordering_key)] = {name};
    }
    has_rearm_ = has_rearm_ || events[i].rearm;
    has_first_lease_ = has_first_lease_ || events[i].first_lease;
  }
}

void PostgresAccept::queue_keys(PostgresConnection& connection) const {
  if (!leased_.empty()) {
    lock_pauses(connection);
    queue_paused(connection, leased_);
  }
  PostgresColumn source(PostgresType::kBytea), key(PostgresType::kUuid), event(PostgresType::kInteger);
  PostgresColumn span(PostgresType::kBigint);
  for (const auto& [name, state] : keys_) {
    source.add(name.second);
    key.add(name.first);
    event.add(static_cast<int>(state.event));
    span.add(std::int64_t{events_[state.event].window.count()});
  }
  connection.add("SELECT * FROM take_keys($1, $2, $3, $4, $5)", PostgresParameters()
                                                                    .add_time(clock_)
                                                                    .add_column(std::move(source))
                                                                    .add_column(std::move(key))
                                                                    .add_column(std::move(event))
                                                                    .add_column(std::move(span)));
  if (!lines_.empty()) queue_occupied(connection, lines_);
}

void PostgresAccept::read_keys(std::span<const PostgresResult> results) {
  HK_CHECK(results.size() == key_queries());
  const std::size_t first = leased_.empty() ? 0 : 2;
  if (!leased_.empty()) paused_ = read_paused(results[1]);
  const PostgresResult& result = results[first];
  if (!lines_.empty()) read_occupied(results[first + 1], lines_);
  base_ = result.bigint(0, 0);
  now_ = result.time(0, 1);
  held_ = keys_.size();
  for (int row = 1; row < result.rows(); ++row) {
    const NewEvent& event = events_[static_cast<std::size_t>(result.bigint(row, 2))];
    const auto found = keys_.find(KeyName(result.uuid(row, 3), event.source));
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

// Locks go from lines to keys to events to deliveries, in every verb, and by number within each.
void PostgresAccept::queue_holders(PostgresConnection& connection) const {
  static const std::string dead = fmt::format("SELECT seq, destination, {} FROM lock_dead($1, $2)", kDeliveryColumns);
  const PostgresParameters parameters = held_keys();
  connection.add("SELECT * FROM lock_holders_with_first($1, $2)", parameters);
  if (has_rearm_) connection.add(dead, parameters);
  if (has_first_lease_) connection.add(kHeldReplies, parameters);
}

Status PostgresAccept::read_holders(std::span<const PostgresResult> results,
                                    std::map<PostgresPlace, DeliveryRecord>& records) {
  HK_CHECK(results.size() == 1u + (has_rearm_ ? 1 : 0) + (has_first_lease_ ? 1 : 0));
  const PostgresResult& held = results[0];
  for (int row = 0; row < held.rows(); ++row) {
    const auto found = keys_.find(KeyName(held.uuid(row, 1), held.bytes(row, 0)));
    if (found == keys_.end() || held.is_null(row, 5)) return internal("the event that holds a dedup key is missing");
    found->second.seq = held.bigint(row, 2);
    found->second.expires_at = held.time(row, 3);
    Holder& holder = holders_[held.bigint(row, 2)];
    holder.expires_at = held.time(row, 3);
    holder.pruned = held.flag(row, 4);
    holder.id = EventId(held.uuid(row, 5));
    holder.first_at = held.time(row, 6);
    holder.body_hash = held.uuid(row, 7);
    holder.duplicates = held.bigint(row, 8);
    if (holder.pruned) continue;
    holder.key = held.optional_bytes(row, 9);
    holder.first = {held.time(row, 10), held.integer(row, 11), held.uuid(row, 12)};
  }
  if (static_cast<std::size_t>(held.rows()) != held_) return internal("a dedup key is neither free nor held");
  if (has_rearm_) records.merge(read_deliveries(results[1]));
  if (!has_first_lease_) return {};
  const PostgresResult& replies = results.back();
  for (int row = 0; row < replies.rows(); ++row) {
    holders_[replies.bigint(row, 0)].reply =
        Reply{replies.integer(row, 1), std::string(replies.bytes(row, 2)), std::string(replies.bytes(row, 3))};
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
  std::optional<std::int64_t> oldest;                 // of the live hits
  std::vector<std::pair<std::size_t, Key*>> missing;  // with its place in event.keys
  for (std::size_t place = 0; place < event.keys.size(); ++place) {
    Key& key = keys_.find(KeyName(event.keys[place], event.source))->second;
    if (key.free || key.expires_at <= now_) {
      missing.emplace_back(place, &key);
    } else if (!oldest || key.seq < *oldest) {
      oldest = key.seq;
    }
  }
  const bool is_new = !oldest || (event.rule == KeyRule::kEach && !missing.empty());
  const std::int64_t holder = is_new ? base_ + static_cast<std::int64_t>(index) : *oldest;
  const Time expires_at = is_new ? now_ + event.window : holders_.at(holder).expires_at;
  std::string added, new_items;
  if (is_new || event.rule == KeyRule::kAny) {
    for (auto& [place, key] : missing) {
      if (!key->free && key->seq == holder) continue;  // One body repeats the key.
      if (event.rule == KeyRule::kEach) add_item(new_items, place);
      key->free = false;
      key->seq = holder;
      key->expires_at = expires_at;
      append_key(added, event.keys[place]);
    }
  }
  if (is_new) return insert({index, std::move(added), std::move(new_items)}, changes);
  holders_.at(holder).added_keys += added;
  return duplicate(index, holder, records, changes);
}

AcceptFacts PostgresAccept::insert(NewRow row, PostgresChanges& changes) {
  const NewEvent& event = events_[row.event];
  const std::int64_t seq = base_ + static_cast<std::int64_t>(row.event);
  Holder& holder = holders_[seq];
  holder.id = event.id;
  holder.first_at = now_;
  holder.body_hash = event.arrival.body_hash;
  holder.expires_at = now_ + event.window;
  holder.key = event.key;
  holder.first = {event.arrival.at, event.arrival.secret, event.arrival.signature_hash};
  AcceptFacts facts{Verdict::kAccepted, event.id, now_, true, !event.destinations.empty()};
  for (const std::string& name : event.destinations) {
    if (!new_deliveries_.try_emplace({seq, name}, first_due(event, name, seq)).second) continue;
    if (event.first_lease && !facts.lease && !paused_.contains(name)) {
      DeliveryRecord record = new_delivery(now_);
      facts.lease = std::make_shared<Lease>(take_lease(record, *event.first_lease, now_));
      facts.lease->destination = name;
      facts.new_delivery = false;
      changes.save({seq, name}, record);
    }
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
    lease.new_items = row.new_items;
  }
  new_rows_.push_back(std::move(row));
  return facts;
}

Time PostgresAccept::first_due(const NewEvent& event, const std::string& destination, std::int64_t seq) {
  if (!is_ordered(event, destination)) return now_;
  const KeyHash line = line_hash(destination, event.source, *event.ordering_key);
  joined_.push_back({seq, destination, line});
  return std::exchange(lines_.at(line).occupied, true) ? kHeld : now_;
}

AcceptFacts PostgresAccept::duplicate(std::size_t index, std::int64_t seq,
                                      std::map<PostgresPlace, DeliveryRecord>& records, PostgresChanges& changes) {
  const NewEvent& event = events_[index];
  Holder& holder = holders_.at(seq);
  AcceptFacts facts{Verdict::kDuplicate, holder.id, holder.first_at, holder.body_hash == event.arrival.body_hash,
                    false};
  if (holder.pruned) return facts;
  facts.same_key = holder.key == event.key;
  facts.first = holder.first;
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
    const int number = static_cast<int>(holder.duplicates) + 1;
    arrivals_.push_back({index, seq, number, facts.verdict, facts.same_body, facts.same_key});
  }
  return facts;
}

void PostgresAccept::queue_writes(PostgresConnection& connection) const {
  if (!new_rows_.empty()) queue_events(connection);
  queue_duplicates(connection);
  queue_moved_keys(connection);
}

void PostgresAccept::queue_events(PostgresConnection& connection) const {
  PostgresColumn seq(PostgresType::kBigint), keys_until(PostgresType::kTimestamp), size(PostgresType::kBigint);
  PostgresColumn arrived_at(PostgresType::kTimestamp), provider_time(PostgresType::kTimestamp);
  PostgresColumn secret(PostgresType::kInteger), retry_number(PostgresType::kInteger), trusted(PostgresType::kBool);
  PostgresColumn id(PostgresType::kUuid), body_hash(PostgresType::kUuid), source(PostgresType::kBytea);
  PostgresColumn type(PostgresType::kBytea), key(PostgresType::kBytea), ordering_key(PostgresType::kBytea);
  PostgresColumn keys(PostgresType::kBytea), remote(PostgresType::kBytea), retry_reason(PostgresType::kBytea);
  PostgresColumn headers(PostgresType::kBytea), body(PostgresType::kBytea), signature_hash(PostgresType::kUuid);
  PostgresColumn batch_seq(PostgresType::kBigint), new_items(PostgresType::kBytea);
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
    signature_hash.add(arrival.signature_hash);
    source.add(std::string_view(event.source));
    type.add(std::string_view(event.type));
    key.add(event.key);
    ordering_key.add(event.ordering_key);
    keys.add(std::string_view(row.keys));
    remote.add(std::string_view(arrival.remote));
    headers.add(std::string_view(encode_headers(event.headers)));
    body.add(std::string_view(event.body));
    if (!row.new_items.empty()) {
      batch_seq.add(number);
      new_items.add(std::string_view(row.new_items));
    }
  }
  PostgresColumn delivery_seq(PostgresType::kBigint), destination(PostgresType::kBytea);
  PostgresColumn due_at(PostgresType::kTimestamp);
  for (const auto& [place, due] : new_deliveries_) {
    delivery_seq.add(place.first);
    destination.add(std::string_view(place.second));
    due_at.add(due);
  }
  PostgresColumn line_seq(PostgresType::kBigint), line_destination(PostgresType::kBytea), line(PostgresType::kUuid);
  for (const LineRow& row : joined_) {
    line_seq.add(row.seq);
    line_destination.add(std::string_view(row.destination));
    line.add(row.line);
  }
  PostgresParameters parameters;
  parameters.add_time(now_);
  for (PostgresColumn* column :
       {&seq,          &keys_until,    &size,        &arrived_at, &provider_time, &secret,
        &retry_number, &trusted,       &id,          &body_hash,  &source,        &type,
        &key,          &ordering_key,  &keys,        &remote,     &retry_reason,  &headers,
        &body,         &delivery_seq,  &destination, &due_at,     &line_seq,      &line_destination,
        &line,         &signature_hash}) {
    parameters.add_column(std::move(*column));
  }
  connection.add(
      "SELECT add_events($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, "
      "$21, $22, $23, $24, $25, $26, $27)",
      parameters);
  if (batch_seq.size() > 0) {
    connection.add(kSetNewItems,
                   PostgresParameters().add_column(std::move(batch_seq)).add_column(std::move(new_items)));
  }
}

void PostgresAccept::queue_duplicates(PostgresConnection& connection) const {
  PostgresColumn counted(PostgresType::kBigint), added(PostgresType::kBigint), keys(PostgresType::kBytea);
  PostgresColumn pruned(PostgresType::kBigint), pruned_keys(PostgresType::kBytea);
  for (const auto& [number, holder] : holders_) {
    if (holder.pruned && !holder.added_keys.empty()) {
      pruned.add(number);
      pruned_keys.add(std::string_view(holder.added_keys));
    } else if (!holder.pruned && holder.added > 0) {
      counted.add(number);
      added.add(holder.added);
      keys.add(std::string_view(holder.added_keys));
    }
  }
  if (pruned.size() > 0) {
    connection.add(kAddKeysToPruned,
                   PostgresParameters().add_column(std::move(pruned)).add_column(std::move(pruned_keys)));
  }
  if (counted.size() == 0) return;
  PostgresColumn seq(PostgresType::kBigint), number(PostgresType::kInteger), verdict(PostgresType::kInteger);
  PostgresColumn same_body(PostgresType::kBool), same_key(PostgresType::kBool);
  PostgresColumn arrived_at(PostgresType::kTimestamp), signature_hash(PostgresType::kUuid);
  PostgresColumn provider_time(PostgresType::kTimestamp), secret(PostgresType::kInteger);
  PostgresColumn retry_number(PostgresType::kInteger), body_hash(PostgresType::kUuid), remote(PostgresType::kBytea);
  PostgresColumn retry_reason(PostgresType::kBytea);
  for (const ArrivalRow& row : arrivals_) {
    const Arrival& arrival = events_[row.event].arrival;
    seq.add(row.holder);
    number.add(row.number);
    verdict.add(static_cast<int>(row.verdict));
    same_body.add(row.same_body);
    same_key.add(row.same_key);
    arrived_at.add(arrival.at);
    provider_time.add(arrival.provider_time);
    secret.add(arrival.secret);
    add_retry(arrival, retry_number, retry_reason);
    body_hash.add(arrival.body_hash);
    signature_hash.add(arrival.signature_hash);
    remote.add(std::string_view(arrival.remote));
  }
  PostgresParameters parameters;
  for (PostgresColumn* column :
       {&counted, &added, &keys, &seq, &number, &verdict, &same_body, &arrived_at, &provider_time, &secret,
        &retry_number, &body_hash, &remote, &retry_reason, &same_key, &signature_hash}) {
    parameters.add_column(std::move(*column));
  }
  connection.add("SELECT add_duplicates($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)",
                 parameters);
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
