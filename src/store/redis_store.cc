#include "store/redis_store.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "base/bytes.h"
#include "base/log.h"
#include "core/dedup.h"
#include "store/commit_watch.h"
#include "store/delivery_list.h"
#include "store/event_filter.h"
#include "store/headers_codec.h"
#include "store/redis_codec.h"
#include "store/redis_copy.h"
#include "store/redis_holds.h"
#include "store/redis_read.h"

namespace hookonce {

namespace {

using Use = RedisServer::Use;

constexpr int kStepRows = 500;            // events of one run of the list script: about a millisecond of the server
constexpr int kSearchRowsMax = 10000;     // events that one call looks at
constexpr std::size_t kNameMax = 255;     // a destination's name in its record has one byte for its length
constexpr std::size_t kNamesMax = 65535;  // destinations of one batch have two, and so have its shapes

// Names that a batch speaks of, each sent once. What they view must outlive them.
class Names {
 public:
  std::size_t place_of(std::string_view name) {  // from 1, as Lua counts
    const auto [found, is_new] = places_.emplace(name, names_.size() + 1);
    if (is_new) names_.push_back(name);
    return found->second;
  }
  void add_to(RedisCommand& call) const {
    call.add_integer(static_cast<std::int64_t>(names_.size()));
    for (std::string_view name : names_) call.add(name);
  }
  Status check() const {
    if (names_.size() > kNamesMax) return internal("too many destinations in one batch");
    for (std::string_view name : names_) {
      if (name.size() > kNameMax) return internal("a name of more than 255 bytes");
    }
    return {};
  }

 private:
  std::map<std::string_view, std::size_t> places_;
  std::vector<std::string_view> names_;
};

// What events of a batch have in common, and the script works out once: most batches have one shape.
class Shapes {
 public:
  // The event outlives this.
  std::size_t place_of(const NewEvent& event) {  // from 1, as Lua counts
    if (last_ != 0 && same_shape(*shapes_[last_ - 1], event)) return last_;
    const auto found = std::find_if(shapes_.begin(), shapes_.end(),
                                    [&event](const NewEvent* shape) { return same_shape(*shape, event); });
    last_ = static_cast<std::size_t>(found - shapes_.begin()) + 1;
    if (found == shapes_.end()) shapes_.push_back(&event);
    return last_;
  }
  const std::vector<const NewEvent*>& all() const { return shapes_; }

 private:
  static bool same_shape(const NewEvent& a, const NewEvent& b) {
    return a.source == b.source && a.rule == b.rule && a.rearm == b.rearm && a.window == b.window &&
           a.first_lease == b.first_lease && a.destinations == b.destinations && a.ordered == b.ordered &&
           a.ordering_key.has_value() == b.ordering_key.has_value();
  }

  std::vector<const NewEvent*> shapes_;
  std::size_t last_ = 0;
};

void add_shape(RedisCommand& call, const NewEvent& event, Names& destinations) {
  call.add(event.source).add_flag(event.rule == KeyRule::kEach).add_flag(event.rearm);
  call.add_integer(event.window.count());
  if (event.first_lease) {
    call.add_integer(event.first_lease->count());
  } else {
    call.add("");
  }
  std::string places;
  for (const std::string& name : event.destinations) {
    const std::size_t place = destinations.place_of(name);
    places.push_back(static_cast<char>(place >> 8));
    places.push_back(static_cast<char>(place & 0xff));
    const auto& ordered = event.ordered;
    places.push_back(event.ordering_key && std::find(ordered.begin(), ordered.end(), name) != ordered.end() ? 1 : 0);
  }
  call.add_own(std::move(places));
}

void add_event(RedisCommand& call, const NewEvent& event, std::size_t shape) {
  const std::string arrival = encode_arrival(event.arrival);
  call.add_own(encode_head(event, shape, arrival.size())).add_own(encode_fixed(event) + arrival);
  call.add_own(encode_headers(event.headers)).add(event.body);
}

void add_settlement(RedisCommand& call, const Settlement& settlement, Names& destinations) {
  call.add_own(encode_id(settlement.event));
  call.add_integer(static_cast<std::int64_t>(destinations.place_of(settlement.destination)));
  call.add_integer(settlement.attempt).add_integer(static_cast<std::int64_t>(settlement.next));
  call.add_integer(settlement.delay.count())
      .add_flag(settlement.skip_dead)
      .add_own(encode_attempt(settled_attempt(settlement)));
  call.add_own(settlement.reply ? encode_reply(*settlement.reply) : std::string());
}

// Of a first arrival that was leased at once.
void fill(Lease& lease, const NewEvent& event, const AcceptFacts& facts) {
  lease.event = event.id;
  lease.destination = event.destinations.at(0);
  lease.source = event.source;
  lease.type = event.type;
  lease.received_at = facts.first_at;
  lease.forwarded_trusted = event.forwarded_trusted;
  lease.headers = std::make_shared<const Headers>(event.headers);
  lease.body = std::make_shared<const std::string>(event.body);
}

class RedisStore final : public Store {
 public:
  RedisStore(RedisTarget target, RedisClock clock, OpenFor use) : server_(std::move(target), clock, use) {}

  Status open() { return server_.open(); }

  Result<CommitFacts> commit(std::span<const NewEvent> events, std::span<const Settlement> settlements,
                             Time now) override;

  Result<std::optional<AcceptFacts>> find_duplicate(const NewEvent& event, Time now) override {
    RedisCommand call = server_.new_call(RedisScript::kFindDuplicate, now);
    call.add(event.source).add_flag(event.rule == KeyRule::kEach).add_flag(event.rearm);
    call.add_own(encode_keys(event.keys));
    HK_ASSIGN(const RedisAnswer answer, server_.run(call, Use::kRead));
    if ((*answer).is_nil()) return std::optional<AcceptFacts>();
    HK_ASSIGN(const RedisHolder holder, decode_holder((*answer).text()));
    AcceptFacts facts;
    facts.verdict = Verdict::kDuplicate;
    facts.id = holder.id;
    facts.first_at = holder.first_at;
    facts.same_body = holder.body_hash == event.arrival.body_hash;
    return std::optional(facts);
  }

  Result<Claimed> claim(const ClaimRequest& request, Time now) override;

  // The server's clock says for how long nothing is due, and the answer is by the caller's.
  Result<std::optional<Time>> next_due(const std::vector<std::string>& destinations, Time now) override {
    RedisCommand call = server_.new_call(RedisScript::kNextDue, now);
    call.add_integer(static_cast<std::int64_t>(destinations.size()));
    for (const std::string& name : destinations) call.add(name);
    HK_ASSIGN(const RedisAnswer answer, server_.run(call, Use::kRead));
    if ((*answer).is_nil()) return std::optional<Time>();
    return std::optional(now + Duration((*answer).integer()));
  }

  Result<bool> set_paused(const std::string& destination, bool paused) override {
    RedisCommand call = server_.new_call(RedisScript::kSetPaused, Time());
    call.add(destination).add_flag(paused);
    HK_ASSIGN(const RedisAnswer answer, server_.run(call, Use::kWrite));
    return (*answer).integer() != 0;
  }

  Result<std::optional<ReplyState>> reply(const EventId& id) override {
    RedisCommand call = server_.new_call(RedisScript::kReply, Time());
    call.add_own(encode_id(id));
    HK_ASSIGN(const RedisAnswer answer, server_.run(call, Use::kRead));
    if ((*answer).is_nil()) return std::optional<ReplyState>();
    HK_ASSIGN(ReplyState state, read_reply_state((*answer)[0], (*answer)[1]));
    return std::optional(std::move(state));
  }

  Result<std::optional<EventDetail>> get(const EventId& id) override {
    RedisCommand call = server_.new_call(RedisScript::kGet, Time());
    call.add_own(encode_id(id));
    HK_ASSIGN(const RedisAnswer answer, server_.run(call, Use::kRead));
    if ((*answer).is_nil()) return std::optional<EventDetail>();
    HK_ASSIGN(EventDetail detail, read_detail(id, (*answer)[0], (*answer)[1]));
    std::vector<RedisWaiting> waiting;
    for (Delivery& delivery : detail.deliveries) {
      if (delivery.state != DeliveryState::kPending) continue;
      waiting.push_back({id, detail.summary.source, delivery.destination,
                         delivery.next_attempt_at ? std::nullopt : detail.ordering_key, delivery.held});
    }
    HK_TRY(add_holds(server_, waiting));
    return std::optional(std::move(detail));
  }

  bool searches_bodies() const override { return false; }

  Result<EventPage> list(const EventFilter& filter, int limit, const std::optional<std::string>& cursor) override {
    EventPage page;
    HK_ASSIGN(Found found, find(filter, false, limit, cursor));
    for (RedisRow& row : found.rows) page.items.push_back(std::move(row.summary));
    page.next = std::move(found.next);
    if (page.next) page.searched_until = found.looked_until;
    return page;
  }

  Result<DeliveryPage> deliveries(const DeliveryFilter& filter, int limit,
                                  const std::optional<std::string>& cursor) override;
  Result<StoreStats> stats(Time now) override;
  Result<Replayed> replay(const ReplayRequest& request, Time now) override;

  Result<bool> apply_line_rule(const LineRule& rule, Time now) override {
    RedisCommand call = server_.new_call(RedisScript::kLineRule, now);
    call.add(rule.destination).add_flag(rule.ordered).add_flag(rule.skip_dead);
    HK_ASSIGN(const RedisAnswer answer, server_.run(call, Use::kWrite));
    return (*answer).integer() != 0;
  }

  Result<std::int64_t> prune(const PruneRequest& request) override {
    RedisCommand call = server_.new_call(RedisScript::kPrune, request.keys_now);
    const auto age = [&](Time before) { return (request.keys_now - before).count(); };
    call.add_integer(age(request.events_before)).add_integer(request.limit);
    call.add_integer(static_cast<std::int64_t>(request.events_before_of.size()));
    for (const auto& [source, before] : request.events_before_of) call.add(source).add_integer(age(before));
    HK_ASSIGN(const RedisAnswer answer, server_.run(call, Use::kSweep));
    return (*answer).integer();
  }

  Status health() override {
    HK_TRY(server_.health());
    return watch_.status();
  }
  Status recover(Time) override { return server_.recover(); }
  std::vector<std::string> weaknesses() override { return server_.weaknesses(); }
  InboxRecords* records() override { return &records_; }

 private:
  struct Found {
    std::vector<RedisRow> rows;
    std::optional<std::string> next;
    std::optional<Time> looked_until;  // EventPage::searched_until
  };

  // Newest first, at most `limit`. `dead_deliveries`: events without a dead one need not be looked at.
  Result<Found> find(const EventFilter& filter, bool dead_deliveries, int limit,
                     const std::optional<std::string>& cursor);
  Result<std::vector<RedisRow>> rows_below(std::int64_t before, int wanted, const EventFilter& filter,
                                           std::string_view index);
  Result<Replayed> replay_ids(const ReplayRequest& request, const std::vector<EventId>& ids, Time now);
  Status add_contents(std::vector<Lease>& leases);
  Status add_last_attempts(DeliveryList& list);

  RedisServer server_;
  CommitWatch watch_;
  RedisRecords records_{server_};
};

Result<CommitFacts> RedisStore::commit(std::span<const NewEvent> events, std::span<const Settlement> settlements,
                                       Time now) {
  if (events.empty() && settlements.empty()) return CommitFacts();
  const CommitWatch::Running running = watch_.begin();
  // The names come first in the call, and are known only when all else has been looked at.
  Names destinations;
  Shapes shapes;
  std::vector<std::size_t> shape_of_event;
  for (const NewEvent& event : events) shape_of_event.push_back(shapes.place_of(event));
  for (const NewEvent* shape : shapes.all()) {
    for (const std::string& name : shape->destinations) destinations.place_of(name);
  }
  for (const Settlement& settlement : settlements) destinations.place_of(settlement.destination);
  HK_TRY(destinations.check());
  if (shapes.all().size() > kNamesMax) return internal("too many kinds of events in one batch");
  RedisCommand call = server_.new_call(RedisScript::kCommit, now);
  destinations.add_to(call);
  call.add_integer(static_cast<std::int64_t>(shapes.all().size()));
  for (const NewEvent* shape : shapes.all()) add_shape(call, *shape, destinations);
  call.add_integer(static_cast<std::int64_t>(events.size()));
  for (std::size_t i = 0; i < events.size(); ++i) add_event(call, events[i], shape_of_event[i]);
  call.add_integer(static_cast<std::int64_t>(settlements.size()));
  for (const Settlement& settlement : settlements) add_settlement(call, settlement, destinations);

  HK_ASSIGN(const RedisAnswer answer, server_.run(call, Use::kWrite));
  CommitFacts facts;
  HK_ASSIGN(facts.accepts, decode_accepts((*answer)[0].text()));
  HK_ASSIGN(facts.settles, decode_settles((*answer)[1].text()));
  HK_CHECK(facts.accepts.size() == events.size() && facts.settles.size() == settlements.size());
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (facts.accepts[i].lease) fill(*facts.accepts[i].lease, events[i], facts.accepts[i]);
  }
  return facts;
}

Result<Claimed> RedisStore::claim(const ClaimRequest& request, Time now) {
  Claimed claimed;
  if (request.destinations.empty()) return claimed;
  RedisCommand call = server_.new_call(RedisScript::kClaim, now);
  call.add_own(encode_attempt_end(attempt_without_outcome(DeliveryRecord())));
  call.add_integer(static_cast<std::int64_t>(request.destinations.size()));
  for (const ClaimDestination& destination : request.destinations) {
    call.add(destination.name).add_integer(destination.slots).add_integer(destination.lease.count());
    call.add_integer(destination.attempts).add_integer(destination.give_up.count()).add_flag(destination.skip_dead);
  }
  HK_ASSIGN(const RedisAnswer answer, server_.run(call, Use::kWrite));
  const auto name_at = [&request](std::int64_t place) {
    return request.destinations.at(static_cast<std::size_t>(place - 1)).name;
  };
  const RedisReply leases = (*answer)[0], dead = (*answer)[1];
  for (std::size_t i = 0; i < leases.size(); ++i) {
    HK_ASSIGN(Lease lease, decode_lease(leases[i][3].text()));
    HK_ASSIGN(lease.event, decode_id(leases[i][1].text()));
    lease.source = leases[i][0].text();
    lease.destination = name_at(leases[i][2].integer());
    claimed.leases.push_back(std::move(lease));
  }
  for (std::size_t i = 0; i < dead.size(); ++i) {
    HK_ASSIGN(const EventId id, decode_id(dead[i][0].text()));
    claimed.dead.push_back({id, name_at(dead[i][1].integer())});
  }
  HK_TRY(add_contents(claimed.leases));
  return claimed;
}

// Behind the script, not in it: what never changes need not pass through Lua, and a leased event is not pruned. Where
// this fails, the leases run out.
Status RedisStore::add_contents(std::vector<Lease>& leases) {
  if (leases.empty()) return {};
  std::vector<RedisCommand> commands;
  for (const Lease& lease : leases) {
    commands.push_back({"HMGET"});
    commands.back()
        .add_own(server_.event_name(lease.source, encode_id(lease.event)))
        .add("s")
        .add("h")
        .add("b")
        .add("i");
  }
  HK_ASSIGN(const std::vector<RedisAnswer> answers, server_.read(commands));
  for (std::size_t i = 0; i < leases.size(); ++i) HK_TRY(hookonce::add_event(leases[i], *answers[i]));
  return {};
}

Result<RedisStore::Found> RedisStore::find(const EventFilter& filter, bool dead_deliveries, int limit,
                                           const std::optional<std::string>& cursor) {
  HK_ASSIGN(std::int64_t before, parse_cursor(cursor));
  std::string_view index = "i";
  if (filter.state == EventState::kPending) index = "o";
  if (filter.state == EventState::kDead || (dead_deliveries && !filter.state)) index = "d";
  if (filter.key) index = "k";
  // One more than asked for shows whether there is a next page.
  const auto wanted = static_cast<std::size_t>(limit) + 1;
  Found found;
  for (int looked_at = 0; found.rows.size() < wanted;) {
    if (looked_at >= kSearchRowsMax) {
      found.next = format_cursor(before);
      return found;
    }
    // Without a search most rows match, so no more are read than are wanted.
    const bool all_match = filter.query.empty() && !filter.type && !filter.since && !filter.until;
    const int step = all_match ? std::min(kStepRows, static_cast<int>(wanted - found.rows.size()) + 1) : kStepRows;
    HK_ASSIGN(std::vector<RedisRow> rows, rows_below(before, step, filter, index));
    for (RedisRow& row : rows) {
      before = row.seq;
      if (row.is_there) found.looked_until = row.summary.received_at;
      const bool matches = row.is_there && matches_fields(filter, row.summary) &&
                           (!filter.state || *filter.state == row.summary.state) && matches_names(filter, row.summary);
      if (matches) found.rows.push_back(std::move(row));
      if (found.rows.size() == wanted) break;
    }
    looked_at += step;
    if (rows.size() < static_cast<std::size_t>(step) && found.rows.size() < wanted) return found;
  }
  found.rows.pop_back();
  found.next = format_cursor(found.rows.back().seq);
  found.looked_until = found.rows.back().summary.received_at;
  return found;
}

Result<std::vector<RedisRow>> RedisStore::rows_below(std::int64_t before, int wanted, const EventFilter& filter,
                                                     std::string_view index) {
  RedisCommand call = server_.new_call(RedisScript::kList, Time());
  call.add_integer(before).add_integer(wanted).add(index);
  call.add(filter.source ? std::string_view(*filter.source) : std::string_view());
  const std::vector<KeyHash> keys = filter.key ? hashes_of_text(*filter.key) : std::vector<KeyHash>();
  call.add_integer(static_cast<std::int64_t>(keys.size()));
  for (const KeyHash& key : keys) call.add_own(std::string(key.begin(), key.end()));
  HK_ASSIGN(const RedisAnswer answer, server_.run(call, Use::kRead));
  std::vector<RedisRow> rows;
  for (std::size_t i = 0; i < (*answer).size(); ++i) {
    HK_ASSIGN(rows.emplace_back(), read_row((*answer)[i]));
  }
  return rows;
}

Result<DeliveryPage> RedisStore::deliveries(const DeliveryFilter& filter, int limit,
                                            const std::optional<std::string>& cursor) {
  HK_ASSIGN(DeliveryPlaceInList place, parse_delivery_cursor(cursor));
  EventFilter events;
  events.source = filter.source;
  std::string_view index = "i";
  if (filter.state == DeliveryState::kPending || filter.state == DeliveryState::kInFlight) index = "o";
  if (filter.state == DeliveryState::kDead) index = "d";
  DeliveryList list{filter, static_cast<std::size_t>(limit), std::move(place), {}, {}};
  // Without a filter that the index does not know, most rows match, so no more are read than are wanted.
  const bool all_match = !filter.destination && (!filter.state || index != "i");
  bool exhausted = false;
  std::map<std::int64_t, std::string> ordering_keys;
  for (int looked_at = 0; !exhausted && !list.is_full() && looked_at < kSearchRowsMax;) {
    const int step = all_match ? std::min(kStepRows, limit + 1) : kStepRows;
    HK_ASSIGN(std::vector<RedisRow> rows, rows_below(list.place.below(), step, events, index));
    exhausted = rows.size() < static_cast<std::size_t>(step);
    looked_at += step;
    for (RedisRow& row : rows) {
      if (row.is_there) list.looked_until = row.summary.received_at;
      const std::size_t before = list.found.size();
      add_rows(list, row.seq, row.summary, std::move(row.deliveries));
      if (list.found.size() > before && row.ordering_key) ordering_keys[row.seq] = std::move(*row.ordering_key);
      if (list.is_full()) break;
    }
  }
  HK_TRY(add_last_attempts(list));
  std::vector<RedisWaiting> waiting;
  for (ListedDelivery& listed : list.found) {
    DeliverySummary& row = listed.row;
    if (row.state != DeliveryState::kPending) continue;
    const auto key = ordering_keys.find(listed.seq);
    waiting.push_back({row.event, row.source, row.destination, std::nullopt, row.held});
    if (!row.next_attempt_at && key != ordering_keys.end()) waiting.back().ordering_key = key->second;
  }
  HK_TRY(add_holds(server_, waiting));
  return page_of(std::move(list), exhausted);
}

Status RedisStore::add_last_attempts(DeliveryList& list) {
  std::vector<RedisCommand> commands;
  std::vector<std::pair<DeliverySummary*, int>> asked;  // with the attempt's number
  for (ListedDelivery& listed : list.found) {
    DeliverySummary& row = listed.row;
    const int ended = row.attempts - (row.state == DeliveryState::kInFlight ? 1 : 0);
    if (ended == 0) continue;
    commands.push_back({"HGET"});
    commands.back().add_own(server_.event_name(row.source, encode_id(row.event)));
    commands.back().add_own(fmt::format("t:{}:{}", row.destination, ended));
    asked.emplace_back(&row, ended);
  }
  if (commands.empty()) return {};
  HK_ASSIGN(const std::vector<RedisAnswer> answers, server_.read(commands));
  for (std::size_t i = 0; i < asked.size(); ++i) {
    if ((*answers[i]).is_nil()) continue;  // The event went meanwhile.
    HK_ASSIGN(const Attempt attempt, decode_attempt((*answers[i]).text(), asked[i].second));
    asked[i].first->last_status = attempt.status;
    asked[i].first->last_error = attempt.error;
  }
  return {};
}

Result<StoreStats> RedisStore::stats(Time now) {
  const RedisCommand call = server_.new_call(RedisScript::kStats, now);
  HK_ASSIGN(const RedisAnswer answer, server_.run(call, Use::kRead));
  const RedisReply numbers = *answer;
  StoreStats stats;
  stats.events = numbers[0].integer();
  stats.in_flight = numbers[1].integer();
  stats.dead = numbers[2].integer();
  if (!numbers[3].is_nil()) stats.oldest_pending = Time(Duration(numbers[3].integer()));
  std::map<std::string, std::int64_t> waiting;  // an answer has each source's queues by themselves
  const RedisReply queues = numbers[4];
  for (std::size_t i = 0; i + 1 < queues.size(); i += 2) {
    waiting[std::string(queues[i].text())] += queues[i + 1].integer();
  }
  for (const auto& [name, count] : waiting) {
    stats.pending += count;
    if (count > 0) stats.pending_by_destination.emplace_back(name, count);
  }
  stats.pending = std::max<std::int64_t>(0, stats.pending - stats.in_flight);
  for (std::size_t i = 0; i < numbers[5].size(); ++i) stats.paused.emplace_back(numbers[5][i].text());
  std::sort(stats.paused.begin(), stats.paused.end());
  return stats;
}

Result<Replayed> RedisStore::replay(const ReplayRequest& request, Time now) {
  if (request.ids.size() > static_cast<std::size_t>(kListMax)) return invalid("replay: at most 500 ids at once");
  std::vector<EventId> ids;
  if (!request.ids.empty()) {
    for (const EventId& id : request.ids) {
      if (std::find(ids.begin(), ids.end(), id) == ids.end()) ids.push_back(id);
    }
    return replay_ids(request, ids, now);
  }
  HK_ASSIGN(Found found, find(request.filter, request.dead_only, request.limit, request.cursor));
  for (const RedisRow& row : found.rows) ids.push_back(row.summary.id);
  HK_ASSIGN(Replayed replayed, replay_ids(request, ids, now));
  replayed.next = std::move(found.next);
  return replayed;
}

Result<Replayed> RedisStore::replay_ids(const ReplayRequest& request, const std::vector<EventId>& ids, Time now) {
  Replayed replayed;
  if (ids.empty()) return replayed;
  const bool by_id = !request.ids.empty();
  RedisCommand call = server_.new_call(RedisScript::kReplay, now);
  call.add_flag(request.new_key).add_flag(request.dead_only).add_flag(request.create_missing);
  call.add_flag(request.dry_run).add(request.destination ? std::string_view(*request.destination) : "");
  if (!by_id && request.filter.state) {
    call.add_integer(static_cast<std::int64_t>(*request.filter.state));
  } else {
    call.add("");
  }
  call.add_flag(by_id).add_integer(static_cast<std::int64_t>(ids.size()));
  for (const EventId& id : ids) call.add_own(encode_id(id));
  HK_ASSIGN(const RedisAnswer answer, server_.run(call, Use::kWrite));
  if ((*answer)[0].integer() == 0) {
    const EventId& unknown = ids.at(static_cast<std::size_t>((*answer)[1].integer() - 1));
    return not_found("event " + unknown.text() + ": no such event");
  }
  // In the order of the ids, and of the names for each of them.
  std::map<std::pair<std::int64_t, std::string>, DeliveryState> sorted;
  const RedisReply deliveries = (*answer)[1];
  for (std::size_t i = 0; i < deliveries.size(); ++i) {
    sorted[{deliveries[i][0].integer(), std::string(deliveries[i][1].text())}] =
        static_cast<DeliveryState>(deliveries[i][2].integer());
  }
  for (const auto& [place, before] : sorted) {
    replayed.deliveries.push_back({ids.at(static_cast<std::size_t>(place.first - 1)), place.second, before});
  }
  return replayed;
}

}  // namespace

Result<std::unique_ptr<Store>> open_redis_store(std::string_view url, RedisClock clock, OpenFor use) {
  HK_ASSIGN(RedisTarget target, parse_redis_url(url));
  const std::string shown = target.shown;
  auto store = std::make_unique<RedisStore>(std::move(target), clock, use);
  const Status opened = store->open();
  if (!opened.ok()) {
    // What the connection and the marker have to say names the server already.
    const bool is_named = opened.message().rfind(shown, 0) == 0;
    return opened.with_context(is_named ? "store" : fmt::format("store {}", shown));
  }
  log_info("store.opened", {{"store", shown}});
  return std::unique_ptr<Store>(std::move(store));
}

}  // namespace hookonce
