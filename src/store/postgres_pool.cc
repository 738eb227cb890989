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
  const Duration end = steady_now() + kBorrowPatience;
  if (!await_place(end)) return exhausted(target_.shown + ": all connections are in use");
  for (;; opening = Opening::kAllowed) {
    std::unique_ptr<PostgresConnection> connection;
    while (opening != Opening::kFresh && (connection = take_idle()) != nullptr) {
      if (connection->alive()) return Loan(*this, std::move(connection), false);
    }
    if (opening == Opening::kOnlyIdle) {
      take_back(nullptr);
      return unavailable(target_.shown + ": not connected");
    }
    auto opened = PostgresConnection::open(target_, kConnectPatience);
    if (opened.ok()) return Loan(*this, *std::move(opened), true);
    if (opened.code() == Code::kExhausted && await_idle(end)) continue;
    const bool is_only = take_back(nullptr);
    return opened.code() == Code::kExhausted && is_only ? precondition(opened.status().message()) : opened.status();
  }
}

bool PostgresPool::await_place(Duration end) {
  MutexLock lock(mutex_);
  for (Duration left = end - steady_now(); lent_ >= size_; left = end - steady_now()) {
    if (left <= Duration::zero()) return false;
    freed_.wait_for(mutex_, left);
  }
  ++lent_;
  return true;
}

bool PostgresPool::await_idle(Duration end) {
  MutexLock lock(mutex_);
  for (Duration left = end - steady_now(); idle_.empty(); left = end - steady_now()) {
    if (lent_ <= 1 || left <= Duration::zero()) return false;
    freed_.wait_for(mutex_, left);
  }
  return true;
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

bool PostgresPool::take_back(std::unique_ptr<PostgresConnection> connection) {
  MutexLock lock(mutex_);
  --lent_;
  if (connection) idle_.push_back(std::move(connection));
  freed_.notify_all();  // some wait for a place, some for a connection
  return lent_ == 0 && idle_.empty();
}

}  // namespace hookonce
