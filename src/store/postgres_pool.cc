#include "store/postgres_pool.h"

#include <utility>

namespace hookonce {

namespace {

constexpr Duration kConnectPatience = std::chrono::seconds(5);
constexpr Duration kBorrowPatience = std::chrono::seconds(5);

}  // namespace

PostgresPool::Loan::Loan(PostgresPool& pool, std::unique_ptr<PostgresConnection> connection, bool fresh)
    : pool_(&pool), connection_(std::move(connection)), fresh_(fresh) {}

PostgresPool::Loan::~Loan() {
  if (!pool_) return;
  if (!keep_) connection_.reset();
  pool_->take_back(std::move(connection_));
}

Result<PostgresPool::Loan> PostgresPool::borrow(Opening opening) {
  {
    MutexLock lock(mutex_);
    const Duration end = steady_now() + kBorrowPatience;
    while (lent_ >= size_) {
      const Duration left = end - steady_now();
      if (left <= Duration::zero()) return exhausted(target_.shown + ": all connections are in use");
      freed_.wait_for(mutex_, left);
    }
    ++lent_;
  }
  std::unique_ptr<PostgresConnection> connection;
  while (opening != Opening::kFresh && (connection = take_idle()) != nullptr) {
    if (connection->alive()) return Loan(*this, std::move(connection), false);
  }
  if (opening == Opening::kOnlyIdle) {
    take_back(nullptr);
    return unavailable(target_.shown + ": not connected");
  }
  auto opened = PostgresConnection::open(target_, kConnectPatience);
  if (!opened.ok()) {
    take_back(nullptr);
    return opened.status();
  }
  return Loan(*this, *std::move(opened), true);
}

void PostgresPool::clear() {
  std::vector<std::unique_ptr<PostgresConnection>> closing;  // outside the lock: closing talks to the server
  {
    MutexLock lock(mutex_);
    closing.swap(idle_);
  }
}

std::unique_ptr<PostgresConnection> PostgresPool::take_idle() {
  MutexLock lock(mutex_);
  if (idle_.empty()) return nullptr;
  auto connection = std::move(idle_.back());
  idle_.pop_back();
  return connection;
}

void PostgresPool::take_back(std::unique_ptr<PostgresConnection> connection) {
  MutexLock lock(mutex_);
  --lent_;
  if (connection) idle_.push_back(std::move(connection));
  freed_.notify_one();
}

}  // namespace hookonce
