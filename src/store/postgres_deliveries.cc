#include "store/postgres_deliveries.h"

#include <fmt/format.h>

#include <algorithm>

namespace hookonce {

namespace {

// One array per column of deliveries, in the order seq, destination, kDeliveryColumns.
PostgresParameters record_columns(const std::map<PostgresPlace, DeliveryRecord>& records) {
  PostgresColumn seq(PostgresType::kBigint), destination(PostgresType::kBytea), state(PostgresType::kInteger);
  PostgresColumn due_at(PostgresType::kTimestamp), attempt(PostgresType::kInteger), counted(PostgresType::kInteger);
  PostgresColumn armed_at(PostgresType::kTimestamp), claimed_at(PostgresType::kTimestamp);
  PostgresColumn unsettled(PostgresType::kBool), delivered_at(PostgresType::kTimestamp);
  PostgresColumn ended_at(PostgresType::kTimestamp), replay(PostgresType::kBool);
  PostgresColumn new_key(PostgresType::kInteger), new_keys(PostgresType::kInteger);
  for (const auto& [place, record] : records) {
    seq.add(place.first);
    destination.add(std::string_view(place.second));
    state.add(static_cast<int>(record.state));
    due_at.add(record.due_at);
    attempt.add(record.attempt);
    counted.add(record.counted);
    armed_at.add(record.armed_at);
    claimed_at.add(record.claimed_at);
    unsettled.add(record.unsettled);
    delivered_at.add(record.delivered_at);
    ended_at.add(record.ended_at);
    replay.add(record.replay);
    new_key.add(record.new_key);
    new_keys.add(record.new_keys);
  }
  PostgresParameters parameters;
  for (PostgresColumn* column : {&seq, &destination, &state, &due_at, &attempt, &counted, &armed_at, &claimed_at,
                                 &unsettled, &delivered_at, &ended_at, &replay, &new_key, &new_keys}) {
    parameters.add_column(std::move(*column));
  }
  return parameters;
}

// In the order seq, destination, number, started_at, duration, outcome, status, error, response.
PostgresParameters attempt_columns(const std::map<std::pair<PostgresPlace, int>, Attempt>& attempts) {
  PostgresColumn seq(PostgresType::kBigint), destination(PostgresType::kBytea), number(PostgresType::kInteger);
  PostgresColumn started_at(PostgresType::kTimestamp), duration(PostgresType::kBigint);
  PostgresColumn outcome(PostgresType::kInteger), status(PostgresType::kInteger);
  PostgresColumn error(PostgresType::kBytea), response(PostgresType::kBytea);
  for (const auto& [place, attempt] : attempts) {
    seq.add(place.first.first);
    destination.add(std::string_view(place.first.second));
    number.add(attempt.number);
    started_at.add(attempt.started_at);
    if (attempt.duration) {
      duration.add(std::int64_t{attempt.duration->count()});
    } else {
      duration.add_null();
    }
    outcome.add(static_cast<int>(attempt.outcome.value_or(Outcome::kUnknown)));
    status.add(attempt.status);
    error.add(std::string_view(attempt.error));
    response.add(std::string_view(attempt.response));
  }
  PostgresParameters parameters;
  for (PostgresColumn* column :
       {&seq, &destination, &number, &started_at, &duration, &outcome, &status, &error, &response})
    parameters.add_column(std::move(*column));
  return parameters;
}

constexpr const char* kRecordRows =
    "unnest($1::bigint[], $2::bytea[], $3::integer[], $4::timestamptz[], $5::integer[], $6::integer[], "
    "$7::timestamptz[], $8::timestamptz[], $9::boolean[], $10::timestamptz[], $11::timestamptz[], $12::boolean[], "
    "$13::integer[], $14::integer[])";

constexpr const char* kAttemptRows =
    "unnest($1::bigint[], $2::bytea[], $3::integer[], $4::timestamptz[], $5::bigint[], $6::integer[], $7::integer[], "
    "$8::bytea[], $9::bytea[]) AS n (seq, destination, number, started_at, duration, outcome, status, error, response)";

const std::string& insert_records_sql() {
  static const std::string sql = fmt::format(
      "INSERT INTO deliveries (seq, destination, {}) SELECT * FROM {} ON CONFLICT (seq, destination) DO NOTHING",
      kDeliveryColumns, kRecordRows);
  return sql;
}

constexpr const char* kSaveRecords =
    "SELECT save_deliveries($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)";
constexpr const char* kRecordAttempts = "SELECT record_attempts($1, $2, $3, $4, $5, $6, $7, $8, $9)";

// Outcome 2 is Outcome::kUnknown.
const std::string& correct_attempts_sql() {
  static const std::string sql = fmt::format(
      "UPDATE attempts a SET (started_at, duration, outcome, status, error, response) = "
      "(n.started_at, n.duration, n.outcome, n.status, n.error, n.response) FROM {} "
      "WHERE a.seq = n.seq AND a.destination = n.destination AND a.number = n.number AND a.outcome = 2",
      kAttemptRows);
  return sql;
}

constexpr const char* kTrimAttempts =
    "DELETE FROM attempts WHERE seq = $1 AND destination = $2 AND number <= ("
    "SELECT number FROM attempts WHERE seq = $1 AND destination = $2 ORDER BY number DESC LIMIT 1 OFFSET $3)";

}  // namespace

DeliveryRecord read_record(const PostgresResult& result, int row, int column) {
  DeliveryRecord record;
  record.state = static_cast<DeliveryState>(result.integer(row, column));
  record.due_at = result.time(row, column + 1);
  record.attempt = result.integer(row, column + 2);
  record.counted = result.integer(row, column + 3);
  record.armed_at = result.time(row, column + 4);
  record.claimed_at = result.time(row, column + 5);
  record.unsettled = result.flag(row, column + 6);
  record.delivered_at = result.optional_time(row, column + 7);
  record.ended_at = result.time(row, column + 8);
  record.replay = result.flag(row, column + 9);
  record.new_key = result.integer(row, column + 10);
  record.new_keys = result.integer(row, column + 11);
  return record;
}

std::optional<Hold> read_hold(const PostgresResult& result, int row, int column, DeliveryState state) {
  if (state != DeliveryState::kPending) return std::nullopt;
  std::optional<EventId> head;
  if (!result.is_null(row, column + 1)) head = EventId(result.uuid(row, column + 1));
  return hold_of(result.flag(row, column), head);
}

void lock_deliveries(PostgresConnection& connection, const std::vector<std::int64_t>& seqs) {
  static const std::string sql = fmt::format(
      "SELECT seq, destination, {} FROM deliveries WHERE seq = ANY ($1::bigint[]) "
      "ORDER BY seq, destination FOR NO KEY UPDATE",
      kDeliveryColumns);
  PostgresColumn column(PostgresType::kBigint);
  for (std::int64_t seq : seqs) column.add(seq);
  connection.add(sql, PostgresParameters().add_column(std::move(column)));
}

std::map<PostgresPlace, DeliveryRecord> read_deliveries(const PostgresResult& result) {
  std::map<PostgresPlace, DeliveryRecord> records;
  for (int row = 0; row < result.rows(); ++row) {
    records.emplace(PostgresPlace(result.bigint(row, 0), result.bytes(row, 1)), read_record(result, row, 2));
  }
  return records;
}

void PostgresChanges::insert(const PostgresPlace& place, const DeliveryRecord& record) {
  inserted_.emplace(place, record);
}

void PostgresChanges::save(const PostgresPlace& place, const DeliveryRecord& record) {
  saved_[place] = record;
}

void PostgresChanges::record_attempt(const PostgresPlace& place, Attempt attempt) {
  const int number = attempt.number;
  recorded_[{place, number}] = std::move(attempt);
}

void PostgresChanges::correct_unknown(const PostgresPlace& place, Attempt attempt) {
  const int number = attempt.number;
  corrected_.emplace(AttemptPlace{place, number}, std::move(attempt));
}

void PostgresChanges::queue(PostgresConnection& connection) const {
  if (!inserted_.empty()) connection.add(insert_records_sql(), record_columns(inserted_));
  if (!saved_.empty()) connection.add(kSaveRecords, record_columns(saved_));
  if (!recorded_.empty()) connection.add(kRecordAttempts, attempt_columns(recorded_));
  for (const auto& [place, attempt] : recorded_) {
    if (attempt.number <= kAttemptsShown) continue;
    connection.add(kTrimAttempts, PostgresParameters()
                                      .add_bigint(place.first.first)
                                      .add_bytes(std::string_view(place.first.second))
                                      .add_bigint(std::int64_t{kAttemptsShown}));
  }
  if (!corrected_.empty()) connection.add(correct_attempts_sql(), attempt_columns(corrected_));
}

Attempt read_attempt(const PostgresResult& result, int row, int column) {
  Attempt attempt;
  attempt.number = result.integer(row, column);
  attempt.started_at = result.time(row, column + 1);
  if (!result.is_null(row, column + 2)) attempt.duration = Duration(result.bigint(row, column + 2));
  attempt.outcome = static_cast<Outcome>(result.integer(row, column + 3));
  attempt.status = result.integer(row, column + 4);
  attempt.error = result.bytes(row, column + 5);
  attempt.response = result.bytes(row, column + 6);
  return attempt;
}

}  // namespace hookonce
