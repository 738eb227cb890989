#include "store/sqlite_database.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <unistd.h>

#include <cerrno>

#include "base/check.h"

namespace hookonce {

namespace {

// Durable on COMMIT (G1). Checkpoints are ours alone (sqlite_checkpointer.h). A large page cache costs at every commit
// and wins nothing over the system's own cache.
constexpr const char* kSettings =
    "PRAGMA synchronous = FULL;"
    "PRAGMA wal_autocheckpoint = 0;"
    "PRAGMA cache_size = -16384;"
    "PRAGMA temp_store = MEMORY;"
    "PRAGMA trusted_schema = OFF;";

Code code_of(int sqlite_code, int system_error) {
  switch (sqlite_code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_FULL:
    case SQLITE_IOERR:
    case SQLITE_NOMEM:
    case SQLITE_INTERRUPT:
    case SQLITE_PROTOCOL:
      return Code::kUnavailable;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return Code::kPrecondition;
    case SQLITE_CANTOPEN:
      // No file descriptor or no memory may pass; what a person must mend does not.
      return system_error == EMFILE || system_error == ENFILE || system_error == ENOMEM || system_error == ENOSPC
                 ? Code::kUnavailable
                 : Code::kPrecondition;
    default:
      return Code::kInternal;
  }
}

// Bodies and headers are for their owner's eyes; the log and its index take over the mode. An existing file is not
// opened (closing it would drop locks that this process holds on it), and what goes wrong here SQLite meets again and
// reports.
void create_private(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file >= 0) ::close(file);
}

}  // namespace

Status sqlite_status(sqlite3* handle, int code, std::string_view doing) {
  const int primary = code & 0xff;
  const char* hint = primary == SQLITE_FULL   ? " (no space left)"
                     : primary == SQLITE_BUSY ? " (another process holds its lock)"
                                              : "";
  const char* text = handle != nullptr ? sqlite3_errmsg(handle) : sqlite3_errstr(code);
  const int system_error = handle != nullptr ? sqlite3_system_errno(handle) : 0;
  return {code_of(code, system_error), fmt::format("{}: {}{} (sqlite {})", doing, text, hint, code)};
}

void Statement::Finalize::operator()(sqlite3_stmt* statement) const {
  sqlite3_finalize(statement);
}

Query::~Query() {
  sqlite3_reset(statement_);  // Its result repeats the error that row() returned.
  sqlite3_clear_bindings(statement_);
}

Query& Query::bind_null() {
  ++next_;  // An unbound parameter is NULL.
  return *this;
}

Query& Query::bind_integer(std::int64_t value) {
  const int code = sqlite3_bind_int64(statement_, next_++, value);
  if (bind_error_ == SQLITE_OK) bind_error_ = code;
  return *this;
}

Query& Query::bind_integer(std::optional<std::int64_t> value) {
  if (value) return bind_integer(*value);
  return bind_null();
}

Query& Query::bind_time(std::optional<Time> value) {
  if (value) return bind_time(*value);
  return bind_null();
}

Query& Query::bind_blob(std::string_view bytes) {
  const char* data = bytes.data() != nullptr ? bytes.data() : "";  // A null pointer would bind NULL.
  const int code = sqlite3_bind_blob64(statement_, next_++, data, bytes.size(), SQLITE_STATIC);
  if (bind_error_ == SQLITE_OK) bind_error_ = code;
  return *this;
}

Query& Query::bind_blob(const std::optional<std::string>& bytes) {
  if (bytes) return bind_blob(std::string_view(*bytes));
  return bind_null();
}

Result<bool> Query::row() {
  if (bind_error_ != SQLITE_OK) return sqlite_status(sqlite3_db_handle(statement_), bind_error_, "bind");
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return sqlite_status(sqlite3_db_handle(statement_), code, "statement");
}

Status Query::run() {
  HK_ASSIGN(const bool more, row());
  HK_CHECK(!more);
  return {};
}

bool Query::is_null(int column) const {
  return sqlite3_column_type(statement_, column) == SQLITE_NULL;
}
std::int64_t Query::integer(int column) const {
  return sqlite3_column_int64(statement_, column);
}

std::optional<Time> Query::optional_time(int column) const {
  if (is_null(column)) return std::nullopt;
  return time(column);
}

std::string_view Query::blob(int column) const {
  const void* data = sqlite3_column_blob(statement_, column);
  const int size = sqlite3_column_bytes(statement_, column);
  return data == nullptr ? std::string_view()
                         : std::string_view(static_cast<const char*>(data), static_cast<std::size_t>(size));
}

std::optional<std::string> Query::optional_blob(int column) const {
  if (is_null(column)) return std::nullopt;
  return std::string(blob(column));
}

void Database::Close::operator()(sqlite3* handle) const {
  sqlite3_close_v2(handle);
}

namespace {

// Statistics of memory that nobody reads would take a mutex at each allocation. Before the library's first use; later
// it is refused and changes nothing.
void leave_out_statistics() {
  static const int once = sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
  (void)once;
}

}  // namespace

Result<std::unique_ptr<Database>> Database::open(const std::string& path, Mode mode, Duration busy_wait) {
  leave_out_statistics();
  if (mode == Mode::kCreate) create_private(path);
  // Never SQLITE_OPEN_URI: a path is a path. The owner's mutex serialises, so SQLite's own mutexes would only cost.
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE |
                    (mode == Mode::kCreate ? SQLITE_OPEN_CREATE : 0);
  sqlite3* handle = nullptr;
  const int code = sqlite3_open_v2(path.c_str(), &handle, flags, nullptr);
  auto database = std::make_unique<Database>();
  database->handle_.reset(handle);
  if (code != SQLITE_OK) return sqlite_status(handle, code, "open");
  database->set_busy_wait(busy_wait);
  // The log stays behind at close: the truncating checkpoint at opening is the one place that decides what it holds.
  sqlite3_db_config(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  HK_TRY(database->execute(kSettings));
  return database;
}

Status Database::execute(const char* sql) {
  const int code = sqlite3_exec(handle_.get(), sql, nullptr, nullptr, nullptr);
  return code == SQLITE_OK ? Status() : sqlite_status(handle_.get(), code, "statement");
}

Result<Statement> Database::prepare(std::string_view sql) {
  sqlite3_stmt* prepared = nullptr;
  const int code = sqlite3_prepare_v3(handle_.get(), sql.data(), static_cast<int>(sql.size()),
                                      SQLITE_PREPARE_PERSISTENT, &prepared, nullptr);
  if (code != SQLITE_OK) return sqlite_status(handle_.get(), code, "prepare");
  Statement statement;
  statement.handle_.reset(prepared);
  return statement;
}

Result<std::int64_t> Database::integer(std::string_view sql) {
  HK_ASSIGN(Statement statement, prepare(sql));
  Query query(statement);
  HK_ASSIGN(const bool found, query.row());
  return found ? query.integer(0) : 0;
}

Status Database::checkpoint_whole() {
  const int code = sqlite3_wal_checkpoint_v2(handle_.get(), "main", SQLITE_CHECKPOINT_TRUNCATE, nullptr, nullptr);
  return code == SQLITE_OK ? Status() : sqlite_status(handle_.get(), code, "checkpoint");
}

Status Database::checkpoint_part() {
  const int code = sqlite3_wal_checkpoint_v2(handle_.get(), "main", SQLITE_CHECKPOINT_PASSIVE, nullptr, nullptr);
  return code == SQLITE_OK || code == SQLITE_BUSY ? Status() : sqlite_status(handle_.get(), code, "checkpoint");
}

Status Database::set_synced(bool synced) {
  if (synced == synced_) return {};
  HK_TRY(execute(synced ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL"));
  synced_ = synced;
  return {};
}

void Database::set_busy_wait(Duration wait) {
  busy_wait_ = wait;
  const auto milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(wait).count();
  sqlite3_busy_timeout(handle_.get(), static_cast<int>(milliseconds));
}

int Database::changes() const {
  return sqlite3_changes(handle_.get());
}
bool Database::read_only() const {
  return sqlite3_db_readonly(handle_.get(), "main") == 1;
}

bool Database::busy() const {
  return (sqlite3_errcode(handle_.get()) & 0xff) == SQLITE_BUSY;
}

Status prepare_all(Database& database, std::initializer_list<StatementText> texts) {
  for (const StatementText& text : texts) {
    HK_ASSIGN(*text.statement, database.prepare(text.sql));
  }
  return {};
}

Transaction::~Transaction() {
  // Where ROLLBACK fails, the error that led here has already rolled back.
  if (open_) (void)database_.execute("ROLLBACK");
}

Status Transaction::begin(Kind kind) {
  HK_TRY(database_.execute(kind == Kind::kWrite ? "BEGIN IMMEDIATE" : "BEGIN"));
  open_ = true;
  return {};
}

Status Transaction::commit() {
  const Status status = database_.execute("COMMIT");
  if (status.ok()) {
    open_ = false;
    return {};
  }
  return unknown_outcome("commit failed: " + status.message());
}

}  // namespace hookonce
