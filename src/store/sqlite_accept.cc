#include "store/sqlite_accept.h"

#include <algorithm>

#include "store/headers_codec.h"
#include "store/sqlite_arrivals.h"

namespace hookonce {

Status SqliteAccept::prepare(Database& database, SqliteNames& sources, SqliteNames& destinations,
                             SqliteDeliveries& deliveries, SqliteKeys& keys, SqliteLines& lines, SqliteReplies& replies,
                             SqlitePauses& pauses) {
  sources_ = &sources;
  destinations_ = &destinations;
  deliveries_ = &deliveries;
  keys_ = &keys;
  lines_ = &lines;
  replies_ = &replies;
  pauses_ = &pauses;
  // Behind `moved_to` too, although its event may be gone: a key of an older number would be looked for in the table
  // alone (sqlite_keys.h).
  HK_ASSIGN(const std::int64_t newest, database.integer("SELECT max(coalesce((SELECT max(seq) FROM events), 0), "
                                                        "coalesce((SELECT max(seq) FROM pruned), 0), "
                                                        "coalesce((SELECT moved_to FROM dedup_moved), 0))"));
  next_seq_ = newest + 1;
  return prepare_all(
      database,
      {
          {&insert_event_,
           "INSERT INTO events (seq, id, source, type, key, ordering_key, received_at, keys_until, size, "
           "forwarded_trusted, arrived_at, remote, retry_number, retry_reason, provider_time, secret, body_hash, "
           "signature_hash) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"},
          {&insert_content_, "INSERT INTO contents (seq, headers, body, new_items) VALUES (?, ?, ?, ?)"},
          {&find_event_,
           "SELECT id, received_at, body_hash, duplicates, key, arrived_at, secret, signature_hash FROM events "
           "WHERE seq = ?"},
          {&find_pruned_, "SELECT id, received_at, body_hash FROM pruned WHERE seq = ?"},
          {&count_duplicate_, "UPDATE events SET duplicates = duplicates + 1 WHERE seq = ?"},
          {&insert_arrival_,
           "INSERT INTO arrivals (seq, number, verdict, same_body, same_key, arrived_at, remote, retry_number, "
           "retry_reason, provider_time, secret, body_hash, signature_hash) "
           "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"},
      });
}

Result<AcceptFacts> SqliteAccept::accept(const NewEvent& event, Time now) {
  HK_ASSIGN(const std::int64_t source, sources_->add(event.source));
  HK_ASSIGN(const Keys keys, look_up(event, source, now));
  const bool is_new = !keys.oldest || (event.rule == KeyRule::kEach && !keys.free.empty());
  if (is_new) {
    const KeyHolder holder{next_seq_, now + event.window};
    for (const FreeKey& key : keys.free) HK_TRY(keys_->take({source, key.key}, holder, key.older));
    return insert(event, keys, source, now);
  }
  // The keys that a duplicate brought with it become the oldest holder's, for the rest of that one's window.
  for (const FreeKey& key : keys.free) HK_TRY(keys_->hand_over({source, key.key}, *keys.oldest, key.older));
  return duplicate(event, keys.oldest->seq, now);
}

Result<SqliteAccept::Keys> SqliteAccept::look_up(const NewEvent& event, std::int64_t source, Time now) {
  Keys keys;
  for (std::size_t i = 0; i < event.keys.size(); ++i) {
    const KeyHash& key = event.keys[i];
    // A key that one body repeats must not be taken twice.
    const auto here = event.keys.begin() + static_cast<std::ptrdiff_t>(i);
    if (std::find(event.keys.begin(), here, key) != here) continue;
    HK_ASSIGN(const auto holder, keys_->find({source, key}));
    if (!holder || holder->expires_at <= now) {
      keys.free.push_back({key, holder ? std::optional(holder->seq) : std::nullopt});
      if (event.rule == KeyRule::kEach) add_item(keys.new_items, i);
    } else if (!keys.oldest || holder->seq < keys.oldest->seq) {
      keys.oldest = holder;
    }
  }
  return keys;
}

Result<AcceptFacts> SqliteAccept::insert(const NewEvent& event, const Keys& keys, std::int64_t source, Time now) {
  const std::int64_t seq = next_seq_++;
  {
    Query query(insert_event_);
    query.bind_integer(seq).bind_blob(event.id.bytes()).bind_integer(source).bind_blob(event.type);
    query.bind_blob(event.key).bind_blob(event.ordering_key).bind_time(now).bind_time(now + event.window);
    query.bind_integer(static_cast<std::int64_t>(event.body.size())).bind_flag(event.forwarded_trusted);
    bind_arrival(query, event.arrival);
    HK_TRY(query.run());
  }
  const std::string headers = encode_headers(event.headers);
  {
    Query query(insert_content_);
    query.bind_integer(seq).bind_blob(headers).bind_blob(event.body).bind_blob(keys.new_items);
    HK_TRY(query.run());
  }
  AcceptFacts facts{Verdict::kAccepted, event.id, now, true, false};
  for (const std::string& name : event.destinations) HK_TRY(insert_delivery(event, name, seq, source, now, facts));
  if (facts.lease) facts.lease->new_items = keys.new_items;
  return facts;
}

Status SqliteAccept::insert_delivery(const NewEvent& event, const std::string& name, std::int64_t seq,
                                     std::int64_t source, Time now, AcceptFacts& facts) {
  HK_ASSIGN(const std::int64_t destination, destinations_->add(name));
  const DeliveryPlace place{seq, destination};
  DeliveryRecord record = new_delivery(now);
  bool leased = event.first_lease.has_value();
  if (leased) {
    HK_ASSIGN(const bool paused, pauses_->is_paused(destination));
    leased = !paused;
  }
  if (leased) {
    facts.lease = std::make_shared<Lease>(take_lease(record, *event.first_lease, now));
    facts.lease->event = event.id;
    facts.lease->destination = name;
    facts.lease->source = event.source;
    facts.lease->type = event.type;
    facts.lease->received_at = now;
    facts.lease->forwarded_trusted = event.forwarded_trusted;
    facts.lease->headers = std::make_shared<const Headers>(event.headers);
    facts.lease->body = std::make_shared<const std::string>(event.body);
    return deliveries_->insert(place, record);
  }
  facts.new_delivery = true;
  if (event.ordering_key && std::find(event.ordered.begin(), event.ordered.end(), name) != event.ordered.end()) {
    HK_ASSIGN(const bool first, lines_->join(place, source, *event.ordering_key));
    if (!first) record = held_delivery(now);
  }
  return deliveries_->insert(place, record);
}

Result<AcceptFacts> SqliteAccept::duplicate(const NewEvent& event, std::int64_t holder, Time now) {
  AcceptFacts facts;
  std::int64_t duplicates = 0;
  {
    Query query(find_event_);
    query.bind_integer(holder);
    HK_ASSIGN(const bool found, query.row());
    if (!found) return duplicate_of_pruned(event, holder);
    facts = {Verdict::kDuplicate, EventId(query.bytes<16>(0)), query.time(1),
             query.bytes<16>(2) == event.arrival.body_hash, false};
    duplicates = query.integer(3);
    facts.same_key = query.optional_blob(4) == event.key;
    facts.first = FirstArrival{query.time(5), static_cast<int>(query.integer(6)), query.bytes<16>(7)};
  }
  if (event.rearm) {
    HK_ASSIGN(const std::vector<PlacedDelivery> deliveries, deliveries_->of_event(holder));
    for (PlacedDelivery delivery : deliveries) {
      if (!rearm(delivery.record, now)) continue;
      HK_TRY(deliveries_->save(delivery.place, delivery.record));
      facts.verdict = Verdict::kRearmed;
      facts.new_delivery = true;
    }
  }
  {
    if (event.first_lease) {
      HK_ASSIGN(facts.reply, replies_->find(holder));
    }
    Query query(count_duplicate_);
    query.bind_integer(holder);
    HK_TRY(query.run());
  }
  const std::int64_t number = duplicates + 2;  // The first arrival is number 1.
  if (number <= kArrivalsMax) HK_TRY(record_arrival(event, holder, number, facts));
  return facts;
}

Result<AcceptFacts> SqliteAccept::duplicate_of_pruned(const NewEvent& event, std::int64_t holder) {
  Query query(find_pruned_);
  query.bind_integer(holder);
  HK_ASSIGN(const bool found, query.row());
  if (!found) return internal("the event that holds a dedup key is missing");
  return AcceptFacts{Verdict::kDuplicate, EventId(query.bytes<16>(0)), query.time(1),
                     query.bytes<16>(2) == event.arrival.body_hash, false};
}

Status SqliteAccept::record_arrival(const NewEvent& event, std::int64_t holder, std::int64_t number,
                                    const AcceptFacts& facts) {
  Query query(insert_arrival_);
  query.bind_integer(holder).bind_integer(number);
  query.bind_integer(static_cast<std::int64_t>(facts.verdict)).bind_flag(facts.same_body);
  query.bind_flag(facts.same_key);
  bind_arrival(query, event.arrival);
  return query.run();
}

}  // namespace hookonce
