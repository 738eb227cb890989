#include "store/postgres_claim.h"

#include <fmt/format.h>

#include <algorithm>

#include "store/headers_codec.h"

namespace hookonce {

namespace {

// What another instance has locked is its own; the longest due of the rest, per destination. The place in the request
// comes first, so that the answer is in its order.
const std::string& due_sql() {
  static const std::string sql = fmt::format(
      "WITH moment AS MATERIALIZED (SELECT coalesce($1, clock_timestamp()) AS now) "
      "SELECT r.place, m.now, d.seq, d.destination, {}, e.id, e.source, e.type, e.received_at, e.forwarded_trusted, "
      "c.headers, c.body "
      "FROM moment m CROSS JOIN unnest($2::bytea[], $3::integer[]) WITH ORDINALITY AS r (destination, slots, place) "
      "CROSS JOIN LATERAL (SELECT * FROM deliveries WHERE destination = r.destination AND state IN (0, 1) "
      "AND due_at <= m.now ORDER BY due_at, seq LIMIT r.slots FOR NO KEY UPDATE SKIP LOCKED) d "
      "JOIN events e ON e.seq = d.seq JOIN contents c ON c.seq = d.seq "
      "ORDER BY r.place, d.due_at, d.seq",
      kDeliveryColumns);
  return sql;
}
constexpr int kRecordColumn = 4;
constexpr int kEventColumn = kRecordColumn + kDeliveryColumnCount;

constexpr const char* kNextDue =
    "WITH moment AS MATERIALIZED (SELECT coalesce($1, clock_timestamp()) AS now) "
    "SELECT m.now, min(d.due_at) FROM moment m LEFT JOIN (unnest($2::bytea[]) AS r (destination) "
    "CROSS JOIN LATERAL (SELECT due_at FROM deliveries WHERE destination = r.destination AND state IN (0, 1) "
    "ORDER BY due_at LIMIT 1) d) ON true GROUP BY m.now";

// The lease without its delivery's part.
Result<Lease> read_event(const PostgresResult& result, int row, Lease lease) {
  HK_ASSIGN(Headers headers, decode_headers(result.bytes(row, kEventColumn + 5)));
  lease.event = EventId(result.uuid(row, kEventColumn));
  lease.source = result.bytes(row, kEventColumn + 1);
  lease.type = result.bytes(row, kEventColumn + 2);
  lease.received_at = result.time(row, kEventColumn + 3);
  lease.forwarded_trusted = result.flag(row, kEventColumn + 4);
  lease.headers = std::make_shared<const Headers>(std::move(headers));
  lease.body = std::make_shared<const std::string>(result.bytes(row, kEventColumn + 6));
  return lease;
}

struct Round {
  std::vector<int> slots;  // free ones, by place in the request
  PostgresChanges changes;
  bool buried = false;
  std::vector<PostgresPlace> skipped;  // of those, the ones whose line goes on
};

Status claim_row(const PostgresResult& due, int row, const ClaimRequest& request, Round& round, Claimed& claimed) {
  const std::size_t place = static_cast<std::size_t>(due.bigint(row, 0)) - 1;
  const Time now = due.time(row, 1);
  const ClaimDestination& destination = request.destinations.at(place);
  const PostgresPlace delivery(due.bigint(row, 2), due.bytes(row, 3));
  DeliveryRecord record = read_record(due, row, kRecordColumn);
  if (lease_ran_out(record, now)) {
    round.changes.record_attempt(delivery, attempt_without_outcome(record));
    RetryPolicy policy;
    policy.attempts = destination.attempts;
    policy.give_up = destination.give_up;
    if (used_up(policy, record.counted, now - record.armed_at)) {
      bury(record, now);
      round.changes.save(delivery, record);
      round.buried = true;
      if (leaves_line(record, destination.skip_dead)) round.skipped.push_back(delivery);
      claimed.dead.push_back({EventId(due.uuid(row, kEventColumn)), destination.name});
      return {};
    }
  }
  HK_ASSIGN(Lease lease, read_event(due, row, take_lease(record, destination.lease, now)));
  round.changes.save(delivery, record);
  lease.destination = destination.name;
  claimed.leases.push_back(std::move(lease));
  --round.slots[place];
  return {};
}

}  // namespace

Result<Claimed> claim_due(PostgresConnection& connection, const PostgresTransaction& transaction,
                          const ClaimRequest& request, PostgresClockTime clock) {
  Claimed claimed;
  std::vector<int> slots;
  for (const ClaimDestination& destination : request.destinations) slots.push_back(std::max(0, destination.slots));
  std::vector<PostgresPlace> skipped;
  Time now{};  // valid where something is skipped
  connection.begin(transaction);
  // Rounds after the first happen only where deliveries were buried; those in flight are never more than were leased
  // once.
  while (true) {
    PostgresColumn names(PostgresType::kBytea), limits(PostgresType::kInteger);
    for (std::size_t i = 0; i < slots.size(); ++i) {
      names.add(std::string_view(request.destinations[i].name));
      limits.add(slots[i]);
    }
    connection.add(due_sql(),
                   PostgresParameters().add_time(clock).add_column(std::move(names)).add_column(std::move(limits)));
    HK_ASSIGN(const auto results, connection.run());
    const PostgresResult& due = results.at(0);
    Round round{slots, {}, false, {}};
    if (due.rows() > 0) now = due.time(0, 1);
    for (int row = 0; row < due.rows(); ++row) HK_TRY(claim_row(due, row, request, round, claimed));
    round.changes.queue(connection);
    slots = round.slots;
    skipped.insert(skipped.end(), round.skipped.begin(), round.skipped.end());
    if (!round.buried) break;
    HK_TRY(connection.run().status());
  }
  if (!skipped.empty()) {
    PostgresChanges freed;
    HK_TRY(leave_lines(connection, skipped, now, freed).status());
    freed.queue(connection);
  }
  HK_TRY(connection.run_and_commit().status());
  // A second round stands behind the first one; what belongs to one destination belongs together.
  const auto place = [&request](const std::string& name) {
    return std::find_if(request.destinations.begin(), request.destinations.end(),
                        [&name](const ClaimDestination& destination) { return destination.name == name; });
  };
  const auto earlier = [&place](const auto& a, const auto& b) { return place(a.destination) < place(b.destination); };
  std::stable_sort(claimed.leases.begin(), claimed.leases.end(), earlier);
  std::stable_sort(claimed.dead.begin(), claimed.dead.end(), earlier);
  return claimed;
}

Result<std::optional<Time>> find_next_due(PostgresConnection& connection, const PostgresTransaction& transaction,
                                          const std::vector<std::string>& destinations, PostgresClockTime clock,
                                          Time now) {
  PostgresColumn names(PostgresType::kBytea);
  for (const std::string& name : destinations) names.add(std::string_view(name));
  connection.begin(transaction);
  connection.add(kNextDue, PostgresParameters().add_time(clock).add_column(std::move(names)));
  HK_ASSIGN(const auto results, connection.run_and_commit());
  const PostgresResult& answer = results.at(0);
  const std::optional<Time> due = answer.optional_time(0, 1);
  if (!due || *due == kHeld) return std::optional<Time>();
  return std::optional(now + std::max(Duration::zero(), *due - answer.time(0, 0)));
}

void PostgresSettle::queue_lock(PostgresConnection& connection) const {
  static const std::string events = "SELECT id, seq, ordering_key IS NOT NULL FROM events WHERE id = ANY ($1::uuid[])";
  // All deliveries of these events: the state of an event comes from all of them.
  static const std::string deliveries = fmt::format(
      "SELECT seq, destination, {} FROM deliveries "
      "WHERE seq IN (SELECT seq FROM events WHERE id = ANY ($1::uuid[])) ORDER BY seq, destination FOR NO KEY UPDATE",
      kDeliveryColumns);
  PostgresColumn ids(PostgresType::kUuid);
  for (const Settlement& settlement : settlements_) ids.add(settlement.event.bytes());
  PostgresParameters parameters;
  parameters.add_column(std::move(ids));
  connection.add(events, parameters);
  connection.add(deliveries, parameters);
}

void PostgresSettle::read(std::span<const PostgresResult> results, std::map<PostgresPlace, DeliveryRecord>& records) {
  HK_CHECK(results.size() == kQueries);
  for (int row = 0; row < results[0].rows(); ++row) {
    seqs_[EventId(results[0].uuid(row, 0))] = {results[0].bigint(row, 1), results[0].flag(row, 2)};
  }
  records.merge(read_deliveries(results[1]));
}

std::vector<SettleFacts> PostgresSettle::decide(std::map<PostgresPlace, DeliveryRecord>& records,
                                                PostgresChanges& changes, Time now) {
  std::vector<SettleFacts> all;
  for (std::size_t i = 0; i < settlements_.size(); ++i) {
    const Settlement& settlement = settlements_[i];
    SettleFacts& facts = all.emplace_back();
    const auto event = seqs_.find(settlement.event);
    if (event == seqs_.end()) continue;  // Pruned meanwhile: there is nothing left to change.
    const std::int64_t seq = event->second.seq;
    const auto found = records.find({seq, settlement.destination});
    if (found != records.end()) {
      const auto& [place, record] = *found;
      facts.taken = settle(found->second, settlement, now);
      if (facts.taken) {
        changes.save(place, record);
        changes.record_attempt(place, settled_attempt(settlement));
        if (settlement.next == Next::kDelivered && settlement.reply) replies_.emplace(seq, &*settlement.reply);
        if (event->second.has_line && leaves_line(record, settlement.skip_dead)) leaving_[place] = i;
      } else {
        changes.correct_unknown(place, settled_attempt(settlement));
      }
    }
    EventStateOf state;
    for (auto it = records.lower_bound({seq, ""}); it != records.end() && it->first.first == seq; ++it) {
      state.add(it->second.state);
    }
    facts.event_state = state.value();
  }
  return all;
}

void PostgresSettle::queue_replies(PostgresConnection& connection) const {
  if (replies_.empty()) return;
  PostgresColumn seq(PostgresType::kBigint), status(PostgresType::kInteger), content_type(PostgresType::kBytea);
  PostgresColumn body(PostgresType::kBytea);
  for (const auto& [number, reply] : replies_) {
    seq.add(number);
    status.add(reply->status);
    content_type.add(std::string_view(reply->content_type));
    body.add(std::string_view(reply->body));
  }
  connection.add(
      "INSERT INTO replies (seq, status, content_type, body) "
      "SELECT * FROM unnest($1::bigint[], $2::integer[], $3::bytea[], $4::bytea[]) ON CONFLICT (seq) DO NOTHING",
      PostgresParameters()
          .add_column(std::move(seq))
          .add_column(std::move(status))
          .add_column(std::move(content_type))
          .add_column(std::move(body)));
}

Status PostgresSettle::leave(PostgresConnection& connection, Time now, std::vector<SettleFacts>& facts) const {
  std::vector<std::pair<std::size_t, PostgresPlace>> in_order;
  for (const auto& [place, index] : leaving_) in_order.emplace_back(index, place);
  std::sort(in_order.begin(), in_order.end());
  std::vector<PostgresPlace> leaving;
  for (const auto& [index, place] : in_order) leaving.push_back(place);
  PostgresChanges changes;
  HK_ASSIGN(const std::set<PostgresPlace> freed, leave_lines(connection, leaving, now, changes));
  for (const PostgresPlace& place : freed) facts[leaving_.at(place)].freed = true;
  changes.queue(connection);
  return {};
}

}  // namespace hookonce
