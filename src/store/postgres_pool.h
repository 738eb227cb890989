// Connections to one server, each used by one thread at a time, opened when first needed and kept.
//
//   HK_ASSIGN(PostgresPool::Loan loan, pool.borrow(PostgresPool::Opening::kAllowed));
//   loan.connection().begin(...);
//   loan.keep();                 // else it is closed: who does not know its state, does not give it back
//
// Safe from any thread.
#pragma once

#include <memory>
#include <vector>

#include "base/result.h"
#include "base/sync.h"
#include "store/postgres_connection.h"

namespace hookonce {

class PostgresPool {
 public:
  class Loan {
   public:
    Loan(PostgresPool& pool, std::unique_ptr<PostgresConnection> connection, bool fresh);
    ~Loan();
    Loan(Loan&& other) = default;
    Loan& operator=(Loan&& other) = delete;

    PostgresConnection& connection() { return *connection_; }
    bool fresh() const { return fresh_; }  // opened for this loan
    void keep() { keep_ = true; }

   private:
    struct Nothing {
      void operator()(PostgresPool*) const {}
    };
    std::unique_ptr<PostgresPool, Nothing> pool_;  // null where it was moved from
    std::unique_ptr<PostgresConnection> connection_;
    bool fresh_ = false;
    bool keep_ = false;
  };

  // REQUIRES: target outlives this.
  PostgresPool(const PostgresTarget& target, int size) : target_(target), size_(size) {}

  enum class Opening { kAllowed, kOnlyIdle, kFresh };
  // kFresh: a new connection rather than an idle one. Where the server takes no more of them, those that are there
  // serve. kExhausted: all are lent, and stay so for a while. kUnavailable, kPrecondition: as
  // PostgresConnection::open(); kPrecondition too where the server refuses the only one.
  Result<Loan> borrow(Opening opening) LOCKS_EXCLUDED(mutex_);
  void clear() LOCKS_EXCLUDED(mutex_);  // closes the idle ones

 private:
  // Until there is a place among those that may be lent, or an idle connection where others are lent; false: in vain.
  bool await_place(Duration end) LOCKS_EXCLUDED(mutex_);
  bool await_idle(Duration end) LOCKS_EXCLUDED(mutex_);
  std::unique_ptr<PostgresConnection> take_idle() LOCKS_EXCLUDED(mutex_);
  // Whether nothing is left: neither lent nor idle.
  bool take_back(std::unique_ptr<PostgresConnection> connection) LOCKS_EXCLUDED(mutex_);

  const PostgresTarget& target_;
  const int size_;
  Mutex mutex_;
  CondVar freed_;
  int lent_ GUARDED_BY(mutex_) = 0;
  std::vector<std::unique_ptr<PostgresConnection>> idle_ GUARDED_BY(mutex_);
};

}  // namespace hookonce
