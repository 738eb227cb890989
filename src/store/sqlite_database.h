// One SQLite connection, its prepared statements and its transactions as values that clean up after themselves.
//
//   HK_ASSIGN(Statement find, database.prepare("SELECT seq FROM events WHERE id = ?"));
//   Query query(find);                    // resets the statement when it goes, so that no read outlives its scope
//   query.bind_blob(id);                  // parameters from left to right
//   HK_ASSIGN(const bool found, query.row());
//   if (found) use(query.integer(0));
//
// A connection and what was prepared on it belong to one thread at a time; the owner guards them with a mutex.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace hookonce {

class Statement {
 public:
  Statement() = default;

 private:
  friend class Database;
  friend class Query;
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  std::unique_ptr<sqlite3_stmt, Finalize> handle_;
};

// One run of a statement. Bound bytes are not copied: they must live until the run ends.
class Query {
 public:
  explicit Query(Statement& statement) : statement_(statement.handle_.get()) {}
  ~Query();
  Query(const Query&) = delete;
  Query& operator=(const Query&) = delete;

  Query& bind_null();
  Query& bind_integer(std::int64_t value);
  Query& bind_integer(std::optional<std::int64_t> value);
  Query& bind_time(Time value) { return bind_integer(value.time_since_epoch().count()); }
  Query& bind_time(std::optional<Time> value);
  Query& bind_flag(bool value) { return bind_integer(std::int64_t{value}); }
  Query& bind_blob(std::string_view bytes);
  Query& bind_blob(const std::string& bytes) { return bind_blob(std::string_view(bytes)); }
  Query& bind_blob(const std::optional<std::string>& bytes);
  template <std::size_t n>
  Query& bind_blob(const std::array<std::uint8_t, n>& bytes) {
    return bind_blob(std::string_view(reinterpret_cast<const char*>(bytes.data()), n));
  }

  Result<bool> row();  // the next row is there
  Status run();        // to the end, for statements without rows

  // Of the current row. Views live until the next row().
  bool is_null(int column) const;
  std::int64_t integer(int column) const;
  Time time(int column) const { return Time(Duration(integer(column))); }
  std::optional<Time> optional_time(int column) const;
  bool flag(int column) const { return integer(column) != 0; }
  std::string_view blob(int column) const;
  std::optional<std::string> optional_blob(int column) const;
  template <std::size_t n>
  std::array<std::uint8_t, n> bytes(int column) const {
    std::array<std::uint8_t, n> out{};
    blob(column).copy(reinterpret_cast<char*>(out.data()), n);
    return out;
  }

 private:
  sqlite3_stmt* statement_;
  int next_ = 1;  // parameter to bind
  int bind_error_ = 0;
};

class Database;

// For prepare_all(): several statements at once, each into its place.
struct StatementText {
  Statement* statement;
  std::string_view sql;
};
Status prepare_all(Database& database, std::initializer_list<StatementText> texts);

class Database {
 public:
  enum class Mode { kCreate, kExisting };
  // Opens with the settings that every connection of ours has. `busy_wait`: how long a lock of another connection is
  // waited for.
  static Result<std::unique_ptr<Database>> open(const std::string& path, Mode mode, Duration busy_wait);

  Status execute(const char* sql);  // one or several statements without parameters
  Result<Statement> prepare(std::string_view sql);
  Result<std::int64_t> integer(std::string_view sql);  // the one value of a one-row query
  // Copies the whole log into the file, syncs it, and empties the log. kUnavailable where a reader stays in the way.
  Status checkpoint_whole();
  // Syncs the log and copies what no reader needs; waits for nobody.
  Status checkpoint_part();

  // Whether COMMIT syncs the log (as it does at first). REQUIRES: outside of a transaction.
  Status set_synced(bool synced);

  void set_busy_wait(Duration wait);
  Duration busy_wait() const { return busy_wait_; }

  int changes() const;  // rows changed by the last INSERT, UPDATE or DELETE
  bool read_only() const;
  bool busy() const;  // the last call failed because another connection holds a lock
  sqlite3* handle() const { return handle_.get(); }

 private:
  struct Close {
    void operator()(sqlite3* handle) const;
  };
  std::unique_ptr<sqlite3, Close> handle_;
  Duration busy_wait_{};
  bool synced_ = true;
};

// The last error of a connection as a Status: kUnavailable where it may pass, kPrecondition where the file needs a
// person, kInternal where the one statement is at fault.
Status sqlite_status(sqlite3* handle, int code, std::string_view doing);

// BEGIN ... COMMIT; rolls back unless committed.
class Transaction {
 public:
  enum class Kind { kRead, kWrite };
  explicit Transaction(Database& database) : database_(database) {}
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;

  Status begin(Kind kind);
  // kUnknown where it fails: what was written may be found after opening again.
  Status commit();

 private:
  Database& database_;
  bool open_ = false;
};

}  // namespace hookonce
