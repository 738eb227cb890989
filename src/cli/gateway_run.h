// What `serve` and `forward` share: how a gateway of this process is announced, and how it ends.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "app/gateway.h"
#include "base/sync.h"

namespace hookonce {

inline constexpr std::string_view kNothingStarted = ", nothing was started";

// "hookonce: ready ingest=IP:PORT[,IP:PORT] admin=IP:PORT" and its line end.
std::string ready_line(const Gateway& gateway);

// Complains of every mistake of the configuration, warnings among them, and of how many mistakes there were: "2
// mistakes"
// + ending.
void complain_of_config(const CheckedConfig& checked, std::string_view ending);

// Complains of a gateway that did not start; the exit status is 2 where a person must mend something, else 1.
int complain_of_start(const Status& status);

// Where Gateway::Options::failed leaves word for the main thread.
class FailureNote {
 public:
  // `wake` is called on the gateway's thread.
  explicit FailureNote(std::function<void()> wake) : wake_(std::move(wake)) {}
  void put(const Status& status);  // any thread; the first one stays
  bool happened() const { return get().has_value(); }
  std::optional<Status> get() const;

 private:
  const std::function<void()> wake_;
  mutable Mutex mutex_;
  std::optional<Status> status_ GUARDED_BY(mutex_);
};

// Gateway::Options::overdue of these commands: says so, and ends the process with 0: the drain is over, as it was asked
// for.
[[noreturn]] void end_overdue_drain();

// Drains, and gives the exit status: 1 where the store gave up, else 0.
int drain(Gateway& gateway, const FailureNote& failure);

}  // namespace hookonce
