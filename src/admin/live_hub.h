// The live stream: facts as they happen, to everyone who watches (GET /api/v1/stream), as server-sent events.
//
//   LiveHub hub;
//   if (hub.wants_fact()) hub.publish({"accepted", source, type, key, fields});   // any thread, never blocks
//   response.stream = hub.watch(filter);                                          // null: too many watch already
//
// A watcher that reads slower than facts happen misses some, and is told how many: what waits for it is bounded, and
// nothing waits for it.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/http_message.h"
#include "base/json.h"
#include "base/sync.h"

namespace hookonce {

inline constexpr std::size_t kWatchersMax = 64;    // open dashboards and `tail`s; each costs its part of every fact
inline constexpr std::size_t kFactsWaiting = 200;  // per watcher; a person reads no more between two of its reads
inline constexpr Duration kWatcherKeepAlive = std::chrono::seconds(15);  // proxies close what is silent for a minute

struct LiveFilter {
  std::optional<std::string> source;
  std::optional<std::string> type;
  std::optional<std::string> key;
  std::optional<std::string> destination;
};

struct LiveFact {
  std::string_view name;  // "accepted" "duplicate" "rejected" "attempt" "delivered" "dead"
  std::string_view source;
  std::string_view type;                // empty: none
  std::optional<std::string_view> key;  // nullopt: none, or not known where the fact happened
  std::string_view destination;         // empty: it is not about one
  std::optional<std::string_view> event;
  json::object more;  // what the log line of the same fact says besides
};

class LiveHub {
 public:
  // REQUIRES: clock outlives this.
  explicit LiveHub(const Clock& clock);
  ~LiveHub();

  // Whether publish() would reach anyone; ask before making a fact. Where all watchers are behind, a fact costs no more
  // than this, and is counted as missed.
  bool wants_fact() {
    if (!watched_.load(std::memory_order_relaxed)) return false;
    if (!full_->load(std::memory_order_relaxed)) return true;
    missed_->fetch_add(1, std::memory_order_relaxed);
    return false;
  }
  void publish(LiveFact fact);

  // What a new watcher is answered with. Null where kWatchersMax watch already. It may outlive this. It ends as soon as
  // `allowed` (empty: always) says no, which is asked several times a second, on the connection's thread.
  std::shared_ptr<BodyStream> watch(LiveFilter filter, std::function<bool()> allowed = nullptr);

 private:
  class Watcher;

  const Clock& clock_;
  std::atomic<bool> watched_{false};
  // Shared with the watchers, which may outlive this.
  const std::shared_ptr<std::atomic<bool>> full_ = std::make_shared<std::atomic<bool>>(false);  // no watcher has room
  const std::shared_ptr<std::atomic<std::uint64_t>> missed_ = std::make_shared<std::atomic<std::uint64_t>>(0);
  Mutex mutex_;
  std::vector<std::weak_ptr<Watcher>> watchers_ GUARDED_BY(mutex_);
};

}  // namespace hookonce
