#include "store/postgres_connection.h"

#include <libpq-fe.h>
#include <poll.h>

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "store/postgres_errors.h"

namespace hookonce {

namespace {

// Beyond the server's own limit, for an answer that comes late because the machine is busy.
constexpr Duration kGrace = std::chrono::seconds(3);  // and at most as much as that limit

// Set for each transaction anew, because the next one may run on another server connection. A weaker
// synchronous_commit would acknowledge what a crash can undo; a stronger one stays. Every statement has an index for
// its few rows, and a planner that has not counted the tables yet would walk them; writing functions plan theirs once a
// session, whatever a batch holds. A gateway that stands still, or
// whose machine is gone, holds its rows for a second: shorter than the others wait for a lock, so that none of them
// notices.
constexpr const char* kSettings =
    "SELECT set_config('search_path', $1, true), set_config('lock_timeout', $2, true), "
    "set_config('idle_in_transaction_session_timeout', '1s', true), "
    "set_config('statement_timeout', $3, true), set_config('jit', 'off', true), "
    "set_config('enable_seqscan', 'off', true), set_config('enable_hashjoin', 'off', true), "
    "set_config('enable_mergejoin', 'off', true), set_config('plan_cache_mode', $4, true), "
    "set_config('synchronous_commit', CASE WHEN current_setting('synchronous_commit') = 'remote_apply' "
    "THEN 'remote_apply' ELSE 'on' END, true)";

std::string milliseconds(Duration duration) {
  return fmt::format("{}ms", std::chrono::duration_cast<std::chrono::milliseconds>(duration).count());
}

// Waits until the socket can be read (or written, where wanted), or until `end`.
bool wait_for_socket(int socket, bool to_write, Duration end) {
  const Duration left = end - steady_now();
  if (socket < 0 || left <= Duration::zero()) return false;
  pollfd waiting{socket, static_cast<short>(POLLIN | (to_write ? POLLOUT : 0)), 0};
  const auto milliseconds_left = std::chrono::duration_cast<std::chrono::milliseconds>(left).count() + 1;
  return poll(&waiting, 1, static_cast<int>(milliseconds_left)) != 0;  // A signal counts as progress.
}

}  // namespace

PostgresConnection::PostgresConnection(pg_conn* connection, std::string shown)
    : connection_(connection), shown_(std::move(shown)) {
  PQsetNoticeReceiver(
      connection_,
      [](void* self, const pg_result* notice) {
        const char* severity = PQresultErrorField(notice, PG_DIAG_SEVERITY_NONLOCALIZED);
        if (severity != nullptr && std::string_view(severity) == "WARNING")
          static_cast<PostgresConnection*>(self)->warned_ = true;
      },
      this);
}

PostgresConnection::~PostgresConnection() {
  PQfinish(connection_);
}

Result<std::unique_ptr<PostgresConnection>> PostgresConnection::open(const PostgresTarget& target, Duration patience) {
  std::vector<const char*> keywords, values;
  const auto add = [&](const char* keyword, const char* value) {
    keywords.push_back(keyword);
    values.push_back(value);
  };
  // What the URL says about these wins, as the last of equal keywords counts.
  add("fallback_application_name", "hookonce");
  add("keepalives_idle", "5");
  add("keepalives_interval", "2");
  add("keepalives_count", "3");
  add("tcp_user_timeout", "10000");
  for (const auto& [keyword, value] : target.parameters) add(keyword.c_str(), value.c_str());
  add("client_encoding", "UTF8");
  add(nullptr, nullptr);

  const Duration end = steady_now() + patience;
  std::unique_ptr<PostgresConnection> opened(
      new PostgresConnection(PQconnectStartParams(keywords.data(), values.data(), 0), target.shown));
  pg_conn* const connection = opened->connection_;
  if (connection == nullptr) return unavailable("no memory for a connection to PostgreSQL");
  PostgresPollingStatusType step = PGRES_POLLING_WRITING;
  while (PQstatus(connection) != CONNECTION_BAD && step != PGRES_POLLING_OK && step != PGRES_POLLING_FAILED) {
    if (!wait_for_socket(PQsocket(connection), step == PGRES_POLLING_WRITING, end)) {
      return unavailable(fmt::format("{}: no answer within {} s", target.shown, patience / std::chrono::seconds(1)));
    }
    step = PQconnectPoll(connection);
  }
  if (PQstatus(connection) != CONNECTION_OK) return connect_error(target.shown, PQerrorMessage(connection));
  if (PQsetnonblocking(connection, 1) != 0 || PQenterPipelineMode(connection) != 1) {
    return unavailable(fmt::format("{}: {}", target.shown, one_line(PQerrorMessage(connection))));
  }
  return opened;
}

void PostgresConnection::begin(const PostgresTransaction& transaction) {
  read_only_ = transaction.read_only;
  patience_ = transaction.statement_timeout + std::min(transaction.statement_timeout, kGrace);
  add(transaction.read_only ? "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
                            : "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE");
  add(kSettings, PostgresParameters()
                     .add_text(transaction.schema)
                     .add_text(milliseconds(transaction.lock_timeout))
                     .add_text(milliseconds(transaction.statement_timeout))
                     .add_text(transaction.read_only ? "auto" : "force_generic_plan"));
  preamble_ = queued_;
}

void PostgresConnection::add(const char* sql, const PostgresParameters& parameters) {
  std::vector<Oid> types;
  std::vector<const char*> values;
  std::vector<int> lengths, formats;
  for (const PostgresParameters::Value& value : parameters.values()) {
    types.push_back(value.type);
    values.push_back(value.bytes ? value.bytes->data() : nullptr);
    lengths.push_back(value.bytes ? static_cast<int>(value.bytes->size()) : 0);
    formats.push_back(1);
  }
  const int sent = PQsendQueryParams(connection_, sql, static_cast<int>(types.size()), types.data(), values.data(),
                                     lengths.data(), formats.data(), 1);
  if (sent != 1) send_failed_ = true;
  ++queued_;
}

Result<std::vector<PostgresResult>> PostgresConnection::run() {
  trouble_ = PostgresTrouble::kNone;
  state_.clear();
  warned_ = false;
  const std::size_t wanted = std::exchange(queued_, 0);
  const std::size_t unread = std::exchange(preamble_, 0);
  if (send_failed_ || PQpipelineSync(connection_) != 1) return lost("cannot send");
  HK_ASSIGN(std::vector<PostgresResult> results, receive(wanted));
  results.erase(results.begin(), results.begin() + static_cast<std::ptrdiff_t>(unread));
  return results;
}

Result<std::vector<PostgresResult>> PostgresConnection::run_and_commit() {
  add("COMMIT");
  auto results = run();
  if (read_only_) {
    if (results.ok()) results->pop_back();
    return results;  // There was nothing to commit.
  }
  if (!results.ok()) {
    // Some of it may have reached the server, and its COMMIT too.
    if (trouble_ == PostgresTrouble::kLost) return unknown_outcome(results.status().message());
    return results;
  }
  // A wait for a synchronous standby that was cut short is told by a warning alone: committed here, perhaps not there.
  if (warned_) return unknown_outcome(shown_ + ": the server warned while it committed; a standby may not have it");
  if (!results->back().is_commit()) return unknown_outcome(shown_ + ": the COMMIT was answered as something else");
  results->pop_back();
  return results;
}

bool PostgresConnection::rollback() {
  if (trouble_ == PostgresTrouble::kLost || PQstatus(connection_) != CONNECTION_OK) return false;
  const PostgresTrouble trouble = trouble_;
  const std::string state = state_;
  if (queued_ > 0 && !run().ok() && trouble_ == PostgresTrouble::kLost) return false;
  add("ROLLBACK");
  const bool ended = run().ok();
  trouble_ = trouble;
  state_ = state;
  return ended;
}

bool PostgresConnection::alive() {
  if (PQstatus(connection_) != CONNECTION_OK || queued_ > 0 || send_failed_) return false;
  if (PQtransactionStatus(connection_) != PQTRANS_IDLE) return false;
  pollfd waiting{PQsocket(connection_), POLLIN, 0};
  if (poll(&waiting, 1, 0) == 0) return true;
  // Something came unasked: the end of the connection, or a notice.
  return PQconsumeInput(connection_) == 1 && PQstatus(connection_) == CONNECTION_OK;
}

int PostgresConnection::server_version() const {
  return PQserverVersion(connection_);
}

pg_result* PostgresConnection::next_result(Duration end, bool& in_time) {
  in_time = true;
  while (true) {
    const int unsent = PQflush(connection_);
    if (unsent < 0) return nullptr;
    if (PQisBusy(connection_) == 0) return PQgetResult(connection_);
    if (!wait_for_socket(PQsocket(connection_), unsent > 0, end)) {
      in_time = false;
      return nullptr;
    }
    if (PQconsumeInput(connection_) != 1) return nullptr;
  }
}

Result<std::vector<PostgresResult>> PostgresConnection::receive(std::size_t wanted) {
  std::vector<PostgresResult> results;
  Status failure;
  const Duration end = steady_now() + patience_;
  bool after_null = true;
  while (true) {
    bool in_time = true;
    pg_result* const raw = next_result(end, in_time);
    if (!in_time) return lost("no answer in time");
    if (raw == nullptr) {
      if (PQstatus(connection_) != CONNECTION_OK) return failure.ok() ? lost("connection lost") : failure;
      // Behind each statement's result stands one null; behind two, nothing more would come.
      if (std::exchange(after_null, true)) return lost("out of step");
      continue;
    }
    after_null = false;
    PostgresResult result(raw);
    switch (PQresultStatus(raw)) {
      case PGRES_PIPELINE_SYNC:
        if (!failure.ok()) return failure;
        return results.size() == wanted ? Result<std::vector<PostgresResult>>(std::move(results)) : lost("out of step");
      case PGRES_TUPLES_OK:
      case PGRES_COMMAND_OK:
        results.push_back(std::move(result));
        break;
      case PGRES_PIPELINE_ABORTED:
        break;
      default:
        if (failure.ok()) failure = failed(raw);
    }
    if (PQstatus(connection_) != CONNECTION_OK) {
      if (trouble_ == PostgresTrouble::kNone || trouble_ == PostgresTrouble::kServer) return lost("connection lost");
      return failure;
    }
  }
}

Status PostgresConnection::failed(const pg_result* result) {
  const char* state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
  const char* message = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
  state_ = state == nullptr ? "" : state;
  if (state_.empty()) return lost("connection lost");
  const PostgresFailure failure = classify(state_, message == nullptr ? "" : message);
  trouble_ = failure.trouble;
  return failure.status.with_context(shown_);
}

Status PostgresConnection::lost(const char* what) {
  trouble_ = PostgresTrouble::kLost;
  const std::string reason = one_line(PQerrorMessage(connection_));
  return unavailable(fmt::format("{}: {}{}{}", shown_, what, reason.empty() ? "" : ": ", reason));
}

}  // namespace hookonce
