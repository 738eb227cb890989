// One I/O thread of the HTTP server: an event loop with its connections and one coarse sweep over their deadlines.
//
// A timer per operation costs more than the operation: instead the loop looks around every 10 ms while an answer
// deadline is set, every 100 ms while there are connections, and never else.
#pragma once

#include <array>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/executor.h"
#include "base/sync.h"
#include "http/response_text.h"
#include "http/server_context.h"
#include "http/server_transport.h"

namespace hookonce {

class Connection;
class Exchange;

class Loop final : public Executor, public std::enable_shared_from_this<Loop> {
 public:
  // `context` must outlive run(); after that only post() is still allowed, and drops what it gets.
  explicit Loop(ServerContext& context);
  ~Loop() override;

  void run();  // the thread's whole life; returns after close_all()

  // Any thread.
  void post(std::vector<Task> tasks) override;
  void post_one(Task task);
  bool is_own_thread() { return io_.get_executor().running_in_this_thread(); }
  boost::asio::io_context& io() { return io_; }

  // The loop's own thread only.
  void adopt(Transport transport, std::string remote, bool overloaded);
  void remove(Connection& connection);
  void watch(std::weak_ptr<Exchange> exchange);  // its answer deadline
  void drain();                                  // closes what is idle
  void close_all();                              // closes everything and lets run() return
  std::span<char> read_buffer() { return read_buffer_; }
  const std::string& date() { return date_.at(context_.clock.wall()); }
  ServerContext& context() { return context_; }

 private:
  void run_posted();
  void arm_sweep();
  void sweep();
  void sweep_answers();
  void sweep_connections();

  // Room for a whole usual request and for large bodies at a good pace. One per loop, so that no idle connection holds
  // any.
  static constexpr std::size_t kReadBuffer = 64 * 1024;

  ServerContext& context_;
  boost::asio::io_context io_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;
  boost::asio::steady_timer timer_;

  std::vector<std::shared_ptr<Connection>> connections_;
  std::vector<std::weak_ptr<Exchange>> watched_;
  Duration sweep_period_{};      // zero: no sweep is planned
  Duration next_connections_{};  // steady time of the next look at all connections
  bool closed_ = false;
  HttpDate date_;
  std::array<char, kReadBuffer> read_buffer_;

  Mutex mutex_;
  std::vector<Task> posted_ GUARDED_BY(mutex_);
  bool ended_ GUARDED_BY(mutex_) = false;
};

}  // namespace hookonce
