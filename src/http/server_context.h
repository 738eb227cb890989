// What all loops and connections of one HTTP server share.
#pragma once

#include <atomic>
#include <cstddef>

#include "base/clock.h"
#include "base/http_handler.h"
#include "base/sync.h"
#include "http/server.h"

namespace hookonce {

// How many connections are open, and the signal that the last one has gone. Thread-safe.
class ConnectionCount {
 public:
  std::size_t add() {
    MutexLock lock(mutex_);
    return ++open_;
  }
  void remove() {
    MutexLock lock(mutex_);
    if (--open_ == 0) none_.notify_all();
  }
  // Returns when none is open or `limit` has passed.
  void wait_for_none(Duration limit) {
    const Duration end = steady_now() + limit;
    MutexLock lock(mutex_);
    for (Duration now = steady_now(); open_ > 0 && now < end; now = steady_now()) none_.wait_for(mutex_, end - now);
  }

 private:
  Mutex mutex_;
  CondVar none_;
  std::size_t open_ GUARDED_BY(mutex_) = 0;
};

struct ServerContext {
  const HttpServerOptions options;
  HttpHandler& handler;
  const Clock& clock;
  std::atomic<bool> draining{false};  // stop() has begun: each answer is its connection's last
  ConnectionCount connections;
};

}  // namespace hookonce
