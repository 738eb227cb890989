// One connection to PostgreSQL, and the conversation on it: statements are queued and go out together, so that a batch
// costs a round trip or two.
//
//   connection.begin(settings);                       // queued
//   connection.add("SELECT ...", parameters);         // queued
//   HK_ASSIGN(auto results, connection.run());        // one round trip; a result for each add()
//   connection.add("UPDATE ...", more);
//   HK_ASSIGN(auto last, connection.run_and_commit());
//
// Statements have no names and nothing outlives the transaction, so that PgBouncer may give each transaction another
// server. Every wait has an end: the server's statement_timeout, and behind it our own, for a server that answers
// nothing at all. Used by one thread at a time.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "store/postgres_url.h"
#include "store/postgres_values.h"

struct pg_conn;

namespace hookonce {

// What a failed statement asks of the one who holds the connection.
enum class PostgresTrouble {
  kNone,
  kRepeat,  // deadlock or serialization failure: the same transaction goes through when it is repeated
  kBusy,    // a lock or a time limit: the store is well
  kItem,    // this batch cannot be stored, others can
  kServer,  // the server cannot serve now: no space, read-only, shutting down
  kLost,    // the connection is gone, and the transaction with it
};

struct PostgresTransaction {
  std::string schema;
  Duration lock_timeout{};       // zero: none of its own
  Duration statement_timeout{};  // of one statement, by the server
  bool read_only = false;        // and all statements see one moment
};

class PostgresConnection {
 public:
  // kPrecondition where a person must mend something (password, database, version), kExhausted where the server takes
  // no more connections, kUnavailable else.
  static Result<std::unique_ptr<PostgresConnection>> open(const PostgresTarget& target, Duration patience);
  ~PostgresConnection();
  PostgresConnection(const PostgresConnection&) = delete;
  PostgresConnection& operator=(const PostgresConnection&) = delete;

  void begin(const PostgresTransaction& transaction);
  void add(const char* sql, const PostgresParameters& parameters = {});
  void add(const std::string& sql, const PostgresParameters& parameters = {}) { add(sql.c_str(), parameters); }

  // Sends what is queued, and waits for all answers. After an error the transaction is over: rollback().
  Result<std::vector<PostgresResult>> run();
  // The same with a COMMIT behind it. kUnknown where it may have taken effect though nobody confirmed it.
  Result<std::vector<PostgresResult>> run_and_commit();
  // Ends a transaction that failed or is not wanted. False where the connection is of no use any more.
  bool rollback();

  PostgresTrouble trouble() const { return trouble_; }  // of the last run
  const std::string& state() const { return state_; }   // the SQLSTATE of the last error the server reported
  bool alive();  // whether nothing speaks against using it again: the server may have closed it while it was idle
  int server_version() const;

 private:
  PostgresConnection(pg_conn* connection, std::string shown);

  // The next result of the pipeline, or null; false in `in_time` where the server stayed silent.
  pg_result* next_result(Duration end, bool& in_time);
  Result<std::vector<PostgresResult>> receive(std::size_t wanted);
  Status failed(const pg_result* result);
  Status lost(const char* what);

  pg_conn* const connection_;
  const std::string shown_;
  std::size_t queued_ = 0;    // statements since the last run
  std::size_t preamble_ = 0;  // of those, the ones of begin(), whose results nobody reads
  Duration patience_{};       // for one round trip of this transaction
  bool read_only_ = false;    // this transaction
  bool send_failed_ = false;
  bool warned_ = false;  // the server sent a warning since the last run began
  PostgresTrouble trouble_ = PostgresTrouble::kNone;
  std::string state_;
};

}  // namespace hookonce
