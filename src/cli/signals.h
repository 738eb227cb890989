// Signals of the operating system as events of the main thread.
//
//   Signals signals(Signals::Hangup::kReloads);
//   for (;;) switch (signals.wait()) { ... }
//
// SIGTERM and SIGINT are kStop; a second one of either ends the process at once with status 128 + its number, whatever
// the main thread is doing. At most one object lives at a time.
#pragma once

#include <atomic>

namespace hookonce {

class Signals {
 public:
  enum class Event { kStop, kReload, kWoken };
  enum class Hangup { kReloads, kStops };  // what SIGHUP means

  explicit Signals(Hangup hangup);
  ~Signals();  // the default handlers again
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  Event wait();                // blocks
  bool asked_to_stop() const;  // for work on the main thread that looks between two of its parts
  void wake();                 // any thread: wait() returns kWoken once for all calls since the last one

 private:
  int read_end_ = -1;
  std::atomic<bool> woken_{false};
};

}  // namespace hookonce
