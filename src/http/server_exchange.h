// One request's way back: what the Responder of a handler talks to. Made per request, may outlive connection and
// server.
#pragma once

#include <atomic>
#include <functional>
#include <memory>

#include "base/clock.h"
#include "base/http_handler.h"

namespace hookonce {

class Connection;
class Loop;

class Exchange final : public Responder::Channel, public std::enable_shared_from_this<Exchange> {
 public:
  Exchange(std::shared_ptr<Loop> loop, std::weak_ptr<Connection> connection);

  void respond(HttpResponse response) override;
  void set_deadline(Time at, HttpResponse fallback, std::function<void()> passed) override;
  Executor& executor() override;

  // The loop's own thread only.
  Time deadline() const { return deadline_; }
  void expire();  // sends the fallback where nothing was answered yet
  bool is_answered() const { return answered_.load(std::memory_order_relaxed); }

 private:
  static void deliver(const std::weak_ptr<Connection>& connection, HttpResponse response);

  const std::shared_ptr<Loop> loop_;
  const std::weak_ptr<Connection> connection_;  // locked on the loop's thread alone, where connections die
  std::atomic<bool> answered_{false};
  Time deadline_ = Time::max();  // the loop's thread only, as the fallback
  HttpResponse fallback_;        // valid once a deadline is set
  std::function<void()> passed_;
};

}  // namespace hookonce
