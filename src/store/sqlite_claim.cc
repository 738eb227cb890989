#include "store/sqlite_claim.h"

#include <algorithm>

#include "base/log.h"
#include "store/headers_codec.h"

namespace hookonce {

namespace {

// Less than this is how far a clock may be moved without anybody's noticing a late retry.
constexpr Duration kClockStepMin = std::chrono::seconds(10);

}  // namespace

Status SqliteClaim::prepare(Database& database, SqliteNames& sources, SqliteNames& destinations,
                            SqliteDeliveries& deliveries, SqliteLines& lines, SqliteReplies& replies,
                            SqlitePauses& pauses) {
  sources_ = &sources;
  destinations_ = &destinations;
  deliveries_ = &deliveries;
  lines_ = &lines;
  replies_ = &replies;
  pauses_ = &pauses;
  return prepare_all(
      database,
      {
          {&due_,
           "SELECT seq FROM deliveries INDEXED BY deliveries_open "
           "WHERE destination = ? AND due_at <= ? AND state IN (0, 1) "
           "ORDER BY due_at, seq LIMIT ?"},
          {&content_,
           "SELECT e.id, e.source, e.type, e.received_at, e.forwarded_trusted, c.headers, c.body, c.new_items "
           "FROM events e JOIN contents c ON c.seq = e.seq WHERE e.seq = ?"},
          {&seq_of_, "SELECT seq FROM events WHERE id = ?"},
          {&next_due_,
           "SELECT due_at FROM deliveries INDEXED BY deliveries_open "
           "WHERE destination = ? AND state IN (0, 1) "
           "ORDER BY due_at LIMIT 1"},
          {&newest_, "SELECT received_at FROM events ORDER BY seq DESC LIMIT 1"},
          {&bring_forward_,
           "UPDATE deliveries INDEXED BY deliveries_open SET due_at = max(?1, due_at - ?2) "
           "WHERE state IN (0, 1) AND state = 0 AND due_at > ?1 AND due_at < ?3"},
          {&end_leases_,
           "UPDATE deliveries INDEXED BY deliveries_open SET due_at = ?1 "
           "WHERE state IN (0, 1) AND state = 1 AND due_at > ?1"},
      });
}

Result<Claimed> SqliteClaim::claim(const ClaimRequest& request, Time now) {
  Claimed claimed;
  Contents contents;
  for (const ClaimDestination& destination : request.destinations) {
    HK_TRY(claim_for(destination, now, contents, claimed));
  }
  return claimed;
}

Status SqliteClaim::claim_for(const ClaimDestination& destination, Time now, Contents& contents, Claimed& claimed) {
  HK_ASSIGN(const auto name, destinations_->find(destination.name));
  if (!name) return {};
  HK_ASSIGN(const bool paused, pauses_->is_paused(*name));
  if (paused) return {};
  RetryPolicy policy;
  policy.attempts = destination.attempts;
  policy.give_up = destination.give_up;
  std::vector<DeliveryPlace> skipped;
  // Rounds after the first happen only where deliveries were buried; those in flight are never more than were leased
  // once.
  for (int slots = destination.slots; slots > 0;) {
    HK_ASSIGN(const std::vector<std::int64_t> seqs, due(*name, now, slots));
    if (seqs.empty()) break;
    for (std::int64_t seq : seqs) {
      const DeliveryPlace place{seq, *name};
      HK_ASSIGN(auto found, deliveries_->find(place));
      if (!found) return internal("a due delivery is missing");
      DeliveryRecord& record = *found;
      HK_ASSIGN(const Content* shared, content(seq, contents));
      if (lease_ran_out(record, now)) {
        HK_TRY(deliveries_->record_attempt(place, attempt_without_outcome(record)));
        if (used_up(policy, record.counted, now - record.armed_at)) {
          bury(record, now);
          HK_TRY(deliveries_->save(place, record));
          claimed.dead.push_back({shared->id, destination.name});
          if (leaves_line(record, destination.skip_dead)) skipped.push_back(place);
          continue;
        }
      }
      Lease lease = take_lease(record, destination.lease, now);
      HK_TRY(deliveries_->save(place, record));
      --slots;

      lease.event = shared->id;
      lease.destination = destination.name;
      lease.source = shared->source;
      lease.type = shared->type;
      lease.received_at = shared->received_at;
      lease.forwarded_trusted = shared->forwarded_trusted;
      lease.new_items = shared->new_items;
      lease.headers = shared->headers;
      lease.body = shared->body;
      claimed.leases.push_back(std::move(lease));
    }
  }
  for (const DeliveryPlace& place : skipped) {
    HK_ASSIGN(const bool freed, lines_->leave(place, now));
    (void)freed;
  }
  return {};
}

Result<std::vector<std::int64_t>> SqliteClaim::due(std::int64_t destination, Time now, int limit) {
  std::vector<std::int64_t> seqs;
  Query query(due_);
  query.bind_integer(destination).bind_time(now).bind_integer(std::int64_t{limit});
  while (true) {
    HK_ASSIGN(const bool more, query.row());
    if (!more) return seqs;
    seqs.push_back(query.integer(0));
  }
}

Result<const SqliteClaim::Content*> SqliteClaim::content(std::int64_t seq, Contents& contents) {
  const auto known = contents.find(seq);
  if (known != contents.end()) return &known->second;
  Query query(content_);
  query.bind_integer(seq);
  HK_ASSIGN(const bool found, query.row());
  if (!found) return internal("the event of a due delivery is missing");
  HK_ASSIGN(Headers headers, decode_headers(query.blob(5)));
  Content content;
  content.id = EventId(query.bytes<16>(0));
  HK_ASSIGN(content.source, sources_->name_of(query.integer(1)));
  content.type = query.blob(2);
  content.received_at = query.time(3);
  content.forwarded_trusted = query.flag(4);
  content.headers = std::make_shared<const Headers>(std::move(headers));
  content.body = std::make_shared<const std::string>(query.blob(6));
  content.new_items = query.blob(7);
  return &contents.emplace(seq, std::move(content)).first->second;
}

Result<SettleFacts> SqliteClaim::settle(const Settlement& settlement, Time now) {
  std::int64_t seq = 0;
  {
    Query query(seq_of_);
    query.bind_blob(settlement.event.bytes());
    HK_ASSIGN(const bool found, query.row());
    if (!found) return SettleFacts{};  // Pruned meanwhile: there is nothing left to change.
    seq = query.integer(0);
  }
  HK_ASSIGN(const auto destination, destinations_->find(settlement.destination));
  const DeliveryPlace place{seq, destination.value_or(0)};  // No name has the number 0.
  HK_ASSIGN(auto record, deliveries_->find(place));
  SettleFacts facts;
  if (record) {
    const Attempt attempt = settled_attempt(settlement);
    const bool taken = hookonce::settle(*record, settlement, now);
    facts.taken = taken || had_settled(*record, settlement);
    if (taken) {
      HK_TRY(deliveries_->save(place, *record));
      HK_TRY(deliveries_->record_attempt(place, attempt));
      if (settlement.next == Next::kDelivered && settlement.reply) HK_TRY(replies_->keep(seq, *settlement.reply));
      if (leaves_line(*record, settlement.skip_dead)) {
        HK_ASSIGN(facts.freed, lines_->leave(place, now));
      }
    } else {
      HK_TRY(deliveries_->correct_unknown(place, attempt));
    }
  }
  HK_ASSIGN(facts.event_state, deliveries_->event_state(seq));
  return facts;
}

Status SqliteClaim::follow_clock(Time now) {
  Query newest(newest_);
  HK_ASSIGN(const bool found, newest.row());
  const Duration step = found ? newest.time(0) - now : Duration::zero();
  if (step < kClockStepMin) return {};
  log_warn("store.clock_back",
           {{"seconds", std::chrono::duration_cast<std::chrono::seconds>(step).count()},
            {"reason", "the newest event is from the future; retries planned by that clock come as much earlier"}});
  Query query(bring_forward_);
  query.bind_time(now).bind_integer(step.count()).bind_time(kHeld);
  return query.run();
}

Status SqliteClaim::end_leases(Time now) {
  Query query(end_leases_);
  query.bind_time(now);
  return query.run();
}

Result<std::optional<Time>> SqliteClaim::next_due(const std::vector<std::string>& destinations, Time now) {
  std::optional<Time> next;
  for (const std::string& name : destinations) {
    HK_ASSIGN(const auto destination, destinations_->find(name));
    if (!destination) continue;
    HK_ASSIGN(const bool paused, pauses_->is_paused(*destination));
    if (paused) continue;
    Query query(next_due_);
    query.bind_integer(*destination);
    HK_ASSIGN(const bool found, query.row());
    if (!found || query.time(0) == kHeld) continue;
    const Time due = std::max(now, query.time(0));
    if (!next || due < *next) next = due;
  }
  return next;
}

}  // namespace hookonce
