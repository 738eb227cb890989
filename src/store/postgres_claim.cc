#include "store/postgres_claim.h"

#include <fmt/format.h>

#include <algorithm>

#include "store/headers_codec.h"
#include "store/postgres_pauses.h"

namespace hookonce {

namespace {

const std::string& due_sql() {
  static const std::string sql = fmt::format(
      "SELECT place, moment, seq, destination, {}, id, source, type, received_at, forwarded_trusted, headers, body, "
      "new_items FROM claim_due_items($1, $2, (SELECT array_agg("
      "CASE WHEN p.destination IS NULL THEN w.slots ELSE 0 END "
      "ORDER BY w.place) FROM unnest($2::bytea[], $3::integer[]) WITH ORDINALITY AS w (destination, slots, place) "
      "LEFT JOIN pauses p ON p.destination = w.destination))",
      kDeliveryColumns);
  return sql;
}
constexpr int kRecordColumn = 4;
constexpr int kEventColumn = kRecordColumn + kDeliveryColumnCount;

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
  lease.new_items = result.bytes(row, kEventColumn + 7);
  return lease;
}

struct Round {
  std::vector<int> slots;  // free ones, by place in the request
  PostgresChanges changes;
  bool buried = false;
  std::vector<PostgresPlace> skipped;  // of those, the ones whose line goes on
};

struct DueRow {
  const ClaimDestination& destination;
  PostgresPlace place;
  DeliveryRecord record;
  Time now{};
  bool ran_out = false;
  bool ends = false;  // as dead: the policy is used up
};

DueRow read_due(const PostgresResult& due, int row, const ClaimRequest& request) {
  DueRow read{request.destinations.at(static_cast<std::size_t>(due.bigint(row, 0)) - 1),
              {due.bigint(row, 2), std::string(due.bytes(row, 3))},
              read_record(due, row, kRecordColumn),
              due.time(row, 1)};
  RetryPolicy policy;
  policy.attempts = read.destination.attempts;
  policy.give_up = read.destination.give_up;
  read.ran_out = lease_ran_out(read.record, read.now);
  read.ends = read.ran_out && used_up(policy, read.record.counted, read.now - read.record.armed_at);
  return read;
}

// Of those that would leave their lines here, the ones whose line somebody else has locked: left for the next claim,
// since waiting for a line behind the locks of deliveries could deadlock.
Result<std::set<PostgresPlace>> find_blocked(PostgresConnection& connection, const PostgresResult& due,
                                             const ClaimRequest& request) {
  std::vector<PostgresPlace> leaving;
  for (int row = 0; row < due.rows(); ++row) {
    const DueRow read = read_due(due, row, request);
    if (read.ends && read.destination.skip_dead) leaving.push_back(read.place);
  }
  if (leaving.empty()) return std::set<PostgresPlace>();
  return try_lock_lines(connection, leaving);
}

Status claim_row(const PostgresResult& due, int row, const ClaimRequest& request, Round& round, Claimed& claimed) {
  DueRow read = read_due(due, row, request);
  const ClaimDestination& destination = read.destination;
  const PostgresPlace& delivery = read.place;
  DeliveryRecord& record = read.record;
  const Time now = read.now;
  if (read.ran_out) round.changes.record_attempt(delivery, attempt_without_outcome(record));
  if (read.ends) {
    bury(record, now);
    round.changes.save(delivery, record);
    round.buried = true;
    if (leaves_line(record, destination.skip_dead)) round.skipped.push_back(delivery);
    claimed.dead.push_back({EventId(due.uuid(row, kEventColumn)), destination.name});
    return {};
  }
  HK_ASSIGN(Lease lease, read_event(due, row, take_lease(record, destination.lease, now)));
  round.changes.save(delivery, record);
  lease.destination = destination.name;
  claimed.leases.push_back(std::move(lease));
  --round.slots[static_cast<std::size_t>(due.bigint(row, 0)) - 1];
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
    lock_pauses(connection);
    connection.add(due_sql(),
                   PostgresParameters().add_time(clock).add_column(std::move(names)).add_column(std::move(limits)));
    HK_ASSIGN(const auto results, connection.run());
    const PostgresResult& due = results.back();
    Round round{slots, {}, false, {}};
    if (due.rows() > 0) now = due.time(0, 1);
    HK_ASSIGN(const std::set<PostgresPlace> blocked, find_blocked(connection, due, request));
    for (int row = 0; row < due.rows(); ++row) {
      if (!blocked.empty() && blocked.contains({due.bigint(row, 2), std::string(due.bytes(row, 3))})) continue;
      HK_TRY(claim_row(due, row, request, round, claimed));
    }
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
  connection.add(
      "SELECT * FROM find_next_due($1, (SELECT coalesce(array_agg(w.destination), '{}') "
      "FROM unnest($2::bytea[]) AS w (destination) "
      "WHERE NOT EXISTS (SELECT FROM pauses p WHERE p.destination = w.destination)))",
      PostgresParameters().add_time(clock).add_column(std::move(names)));
  HK_ASSIGN(const auto results, connection.run_and_commit());
  const PostgresResult& answer = results.at(0);
  const std::optional<Time> due = answer.optional_time(0, 1);
  if (!due || *due == kHeld) return std::optional<Time>();
  return std::optional(now + std::max(Duration::zero(), *due - answer.time(0, 0)));
}

void PostgresSettle::queue_lock(PostgresConnection& connection) const {
  static const std::string sql =
      fmt::format("SELECT id, in_line, seq, destination, {} FROM lock_settled($1)", kDeliveryColumns);
  PostgresColumn ids(PostgresType::kUuid);
  for (const Settlement& settlement : settlements_) ids.add(settlement.event.bytes());
  PostgresParameters parameters;
  parameters.add_column(std::move(ids));
  connection.add(sql, parameters);
}

void PostgresSettle::read(const PostgresResult& result, std::map<PostgresPlace, DeliveryRecord>& records) {
  for (int row = 0; row < result.rows(); ++row) {
    const PostgresPlace place(result.bigint(row, 2), result.bytes(row, 3));
    seqs_[EventId(result.uuid(row, 0))] = place.first;
    if (result.flag(row, 1)) in_line_.insert(place);
    records.emplace(place, read_record(result, row, 4));
  }
}

std::vector<SettleFacts> PostgresSettle::decide(std::map<PostgresPlace, DeliveryRecord>& records,
                                                PostgresChanges& changes, Time now) {
  std::vector<SettleFacts> all;
  for (std::size_t i = 0; i < settlements_.size(); ++i) {
    const Settlement& settlement = settlements_[i];
    SettleFacts& facts = all.emplace_back();
    const auto event = seqs_.find(settlement.event);
    if (event == seqs_.end()) continue;  // Pruned meanwhile: there is nothing left to change.
    const std::int64_t seq = event->second;
    const auto found = records.find({seq, settlement.destination});
    if (found != records.end()) {
      const auto& [place, record] = *found;
      const bool taken = settle(found->second, settlement, now);
      facts.taken = taken || had_settled(record, settlement);
      if (taken) {
        changes.save(place, record);
        changes.record_attempt(place, settled_attempt(settlement));
        if (settlement.next == Next::kDelivered && settlement.reply) replies_.emplace(seq, &*settlement.reply);
        if (in_line_.contains(place) && may_leave(settlement) && leaves_line(record, settlement.skip_dead))
          leaving_[place] = i;
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
