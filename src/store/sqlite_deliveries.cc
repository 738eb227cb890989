#include "store/sqlite_deliveries.h"

#include <fmt/format.h>

namespace hookonce {

namespace {

constexpr const char* kColumns =
    "state, due_at, attempt, counted, armed_at, claimed_at, unsettled, delivered_at, ended_at, replay, new_key, "
    "new_keys";

void bind_record(Query& query, const DeliveryRecord& record) {
  query.bind_integer(static_cast<std::int64_t>(record.state))
      .bind_time(record.due_at)
      .bind_integer(std::int64_t{record.attempt})
      .bind_integer(std::int64_t{record.counted})
      .bind_time(record.armed_at)
      .bind_time(record.claimed_at)
      .bind_flag(record.unsettled)
      .bind_time(record.delivered_at)
      .bind_time(record.ended_at)
      .bind_flag(record.replay)
      .bind_integer(std::int64_t{record.new_key})
      .bind_integer(std::int64_t{record.new_keys});
}

DeliveryRecord read_record(const Query& query, int column) {
  DeliveryRecord record;
  record.state = static_cast<DeliveryState>(query.integer(column));
  record.due_at = query.time(column + 1);
  record.attempt = static_cast<int>(query.integer(column + 2));
  record.counted = static_cast<int>(query.integer(column + 3));
  record.armed_at = query.time(column + 4);
  record.claimed_at = query.time(column + 5);
  record.unsettled = query.flag(column + 6);
  record.delivered_at = query.optional_time(column + 7);
  record.ended_at = query.time(column + 8);
  record.replay = query.flag(column + 9);
  record.new_key = static_cast<int>(query.integer(column + 10));
  record.new_keys = static_cast<int>(query.integer(column + 11));
  return record;
}

// In the order that record_attempt_ and correct_unknown_ name.
void bind_attempt(Query& query, DeliveryPlace place, const Attempt& attempt) {
  query.bind_integer(place.seq).bind_integer(place.destination).bind_integer(std::int64_t{attempt.number});
  query.bind_time(attempt.started_at);
  query.bind_integer(attempt.duration ? std::optional(std::int64_t{attempt.duration->count()}) : std::nullopt);
  query.bind_integer(static_cast<std::int64_t>(attempt.outcome.value_or(Outcome::kUnknown)));
  query.bind_integer(std::int64_t{attempt.status}).bind_blob(attempt.error).bind_blob(attempt.response);
}

}  // namespace

Status SqliteDeliveries::prepare(Database& database) {
  const std::string find = fmt::format("SELECT {} FROM deliveries WHERE seq = ? AND destination = ?", kColumns);
  const std::string of_event =
      fmt::format("SELECT destination, {} FROM deliveries WHERE seq = ? ORDER BY destination", kColumns);
  const std::string insert = fmt::format(
      "INSERT INTO deliveries (seq, destination, {}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) "
      "ON CONFLICT (seq, destination) DO NOTHING",
      kColumns);
  const std::string save = fmt::format(
      "UPDATE deliveries SET ({}) = (?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14) "
      "WHERE seq = ?1 AND destination = ?2",
      kColumns);
  return prepare_all(
      database,
      {
          {&find_, find},
          {&of_event_, of_event},
          {&event_state_, "SELECT state FROM deliveries WHERE seq = ?"},
          {&attempts_,
           "SELECT number, started_at, duration, outcome, status, error, response FROM attempts "
           "WHERE seq = ? AND destination = ? ORDER BY number"},
          {&insert_, insert},
          {&save_, save},
          {&record_attempt_,
           "INSERT INTO attempts (seq, destination, number, started_at, duration, outcome, status, error, response) "
           "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) "
           "ON CONFLICT (seq, destination, number) DO UPDATE SET started_at = excluded.started_at, "
           "duration = excluded.duration, outcome = excluded.outcome, status = excluded.status, error = "
           "excluded.error, "
           "response = excluded.response"},
          {&trim_attempts_,
           "DELETE FROM attempts WHERE seq = ?1 AND destination = ?2 AND number <= ("
           "SELECT number FROM attempts WHERE seq = ?1 AND destination = ?2 ORDER BY number DESC LIMIT 1 OFFSET ?3)"},
          {&correct_unknown_,
           "UPDATE attempts SET started_at = ?4, duration = ?5, outcome = ?6, status = ?7, error = ?8, response = ?9 "
           "WHERE seq = ?1 AND destination = ?2 AND number = ?3 AND outcome = 2"},
          {&remove_deliveries_, "DELETE FROM deliveries WHERE seq = ?"},
          {&remove_attempts_, "DELETE FROM attempts WHERE seq = ?"},
      });
}

Result<std::optional<DeliveryRecord>> SqliteDeliveries::find(DeliveryPlace place) {
  Query query(find_);
  query.bind_integer(place.seq).bind_integer(place.destination);
  HK_ASSIGN(const bool found, query.row());
  return found ? std::optional(read_record(query, 0)) : std::nullopt;
}

Result<std::vector<PlacedDelivery>> SqliteDeliveries::of_event(std::int64_t seq) {
  std::vector<PlacedDelivery> deliveries;
  Query query(of_event_);
  query.bind_integer(seq);
  while (true) {
    HK_ASSIGN(const bool more, query.row());
    if (!more) return deliveries;
    deliveries.push_back({{seq, query.integer(0)}, read_record(query, 1)});
  }
}

Result<EventState> SqliteDeliveries::event_state(std::int64_t seq) {
  EventStateOf state;
  Query query(event_state_);
  query.bind_integer(seq);
  while (true) {
    HK_ASSIGN(const bool more, query.row());
    if (!more) return state.value();
    state.add(static_cast<DeliveryState>(query.integer(0)));
  }
}

Result<std::vector<Attempt>> SqliteDeliveries::attempts(DeliveryPlace place) {
  std::vector<Attempt> attempts;
  Query query(attempts_);
  query.bind_integer(place.seq).bind_integer(place.destination);
  while (true) {
    HK_ASSIGN(const bool more, query.row());
    if (!more) return attempts;
    Attempt attempt;
    attempt.number = static_cast<int>(query.integer(0));
    attempt.started_at = query.time(1);
    if (!query.is_null(2)) attempt.duration = Duration(query.integer(2));
    attempt.outcome = static_cast<Outcome>(query.integer(3));
    attempt.status = static_cast<int>(query.integer(4));
    attempt.error = query.blob(5);
    attempt.response = query.blob(6);
    attempts.push_back(std::move(attempt));
  }
}

Status SqliteDeliveries::insert(DeliveryPlace place, const DeliveryRecord& record) {
  Query query(insert_);
  query.bind_integer(place.seq).bind_integer(place.destination);
  bind_record(query, record);
  return query.run();
}

Status SqliteDeliveries::save(DeliveryPlace place, const DeliveryRecord& record) {
  Query query(save_);
  query.bind_integer(place.seq).bind_integer(place.destination);
  bind_record(query, record);
  return query.run();
}

Status SqliteDeliveries::record_attempt(DeliveryPlace place, const Attempt& attempt) {
  {
    Query query(record_attempt_);
    bind_attempt(query, place, attempt);
    HK_TRY(query.run());
  }
  if (attempt.number <= kAttemptsShown) return {};
  Query trim(trim_attempts_);
  trim.bind_integer(place.seq).bind_integer(place.destination).bind_integer(std::int64_t{kAttemptsShown});
  return trim.run();
}

Status SqliteDeliveries::correct_unknown(DeliveryPlace place, const Attempt& attempt) {
  Query query(correct_unknown_);
  bind_attempt(query, place, attempt);
  return query.run();
}

Status SqliteDeliveries::remove_of_event(std::int64_t seq) {
  for (Statement* statement : {&remove_deliveries_, &remove_attempts_}) {
    Query query(*statement);
    query.bind_integer(seq);
    HK_TRY(query.run());
  }
  return {};
}

}  // namespace hookonce
