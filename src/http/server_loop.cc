#include "http/server_loop.h"

#include <boost/asio/post.hpp>
#include <iterator>
#include <utility>

#include "base/log.h"
#include "http/server_connection.h"
#include "http/server_exchange.h"

namespace hookonce {
namespace {

using std::chrono::milliseconds;

// Answer deadlines are exact to about this; a provider's deadline is seconds.
constexpr Duration kAnswerPeriod = milliseconds(10);
// Network time-outs are seconds, so that ten looks a second are plenty.
constexpr Duration kConnectionPeriod = milliseconds(100);

}  // namespace

Loop::Loop(ServerContext& context) : context_(context), work_(io_.get_executor()), timer_(io_) {}
Loop::~Loop() = default;

void Loop::run() {
  io_.run();
  std::vector<Task> dropped;
  {
    MutexLock lock(mutex_);
    ended_ = true;
    dropped.swap(posted_);
  }
  // Destroyed without the lock: a task may hold a responder, which answers by posting.
}

void Loop::post(std::vector<Task> tasks) {
  if (tasks.empty()) return;
  // The last owner besides us may be inside one of the tasks.
  const auto self = shared_from_this();
  bool wake = false;
  {
    MutexLock lock(mutex_);
    if (!ended_) {
      wake = posted_.empty();
      posted_.insert(posted_.end(), std::make_move_iterator(tasks.begin()), std::make_move_iterator(tasks.end()));
    }
  }
  if (wake) boost::asio::post(io_, [this] { run_posted(); });
}

void Loop::post_one(Task task) {
  std::vector<Task> tasks;
  tasks.push_back(std::move(task));
  post(std::move(tasks));
}

void Loop::run_posted() {
  std::vector<Task> tasks;
  {
    MutexLock lock(mutex_);
    tasks.swap(posted_);
  }
  const LogBatch lines;
  for (Task& task : tasks) {
    task();
    task = nullptr;  // What it holds goes before the next one runs, not at the batch's end.
  }
}

void Loop::adopt(Transport transport, std::string remote, bool overloaded) {
  if (closed_) {
    context_.connections.remove();
    return;
  }
  auto connection = std::make_shared<Connection>(*this, std::move(transport), std::move(remote), overloaded);
  connection->set_index(connections_.size());
  connections_.push_back(connection);
  arm_sweep();
  connection->start();
}

void Loop::remove(Connection& connection) {
  const std::size_t index = connection.index();
  connections_.back()->set_index(index);
  std::swap(connections_[index], connections_.back());
  connections_.pop_back();
  context_.connections.remove();
}

void Loop::watch(std::weak_ptr<Exchange> exchange) {
  watched_.push_back(std::move(exchange));
  if (sweep_period_ != kAnswerPeriod) arm_sweep();
}

void Loop::drain() {
  const auto connections = connections_;  // Draining one removes it.
  for (const auto& connection : connections) connection->drain();
}

void Loop::close_all() {
  closed_ = true;
  const auto connections = connections_;
  for (const auto& connection : connections) connection->close();
  timer_.cancel();
  work_.reset();
}

void Loop::arm_sweep() {
  const Duration period = !watched_.empty()       ? kAnswerPeriod
                          : !connections_.empty() ? kConnectionPeriod
                                                  : Duration::zero();
  // A sweep that comes soon enough is left alone: moving a timer costs as much as a request's other bookkeeping.
  if (closed_ || period == Duration::zero() || (sweep_period_ != Duration::zero() && sweep_period_ <= period)) return;
  sweep_period_ = period;
  timer_.expires_after(period);
  timer_.async_wait([this](const boost::system::error_code& error) {
    if (!error) sweep();
  });
}

void Loop::sweep() {
  sweep_period_ = Duration::zero();
  sweep_answers();
  if (const Duration now = steady_now(); now >= next_connections_) {
    next_connections_ = now + kConnectionPeriod;
    sweep_connections();
  }
  arm_sweep();
}

void Loop::sweep_answers() {
  const Time now = context_.clock.now();
  // Collected first: an answer runs the handler of the next request, which may watch or answer anything.
  std::vector<std::shared_ptr<Exchange>> due;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < watched_.size(); ++i) {
    auto exchange = watched_[i].lock();
    if (exchange == nullptr || exchange->is_answered()) continue;
    if (exchange->deadline() <= now) {
      due.push_back(std::move(exchange));
    } else {
      if (kept != i) watched_[kept] = std::move(watched_[i]);
      ++kept;
    }
  }
  watched_.resize(kept);
  for (const auto& exchange : due) exchange->expire();
}

void Loop::sweep_connections() {
  const Duration now = steady_now();
  std::vector<std::shared_ptr<Connection>> due;
  for (const auto& connection : connections_) {
    if (connection->deadline() <= now) due.push_back(connection);
  }
  for (const auto& connection : due) connection->expire();
}

}  // namespace hookonce
