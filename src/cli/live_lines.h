// What `forward` shows while it runs: one line per arrival, rejection and attempt.
//
// The gateway's threads only put lines into a bounded queue; the main thread takes and prints them, so that a terminal
// that stands still (a pager, ^S) never holds up an answer to a provider.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "app/gateway.h"
#include "base/clock.h"
#include "base/sync.h"

namespace hookonce {

inline constexpr std::size_t kLiveLinesMax = 10'000;  // unprinted ones; further are counted, not kept

class LiveLines final : public Ingest::Observer, public DeliveryPool::Observer {
 public:
  // `wake` is called on any thread when there is something to take; it must not block. REQUIRES: clock outlives this.
  // `listens_on` is the path that a provider must call.
  LiveLines(const Clock& clock, bool colour, std::string listens_on, std::function<void()> wake);

  void arrived(const Ingest::Arrived& arrived) override;
  void rejected(const std::string& source, const std::string& code, const std::string& message) override;
  void explained(const std::string& source, const std::string& reason) override;
  void misdirected(const std::string& method, const std::string& path) override;
  void settled(const Lease& lease, const Settlement& settlement, const SettleFacts& facts) override;

  // The lines since the last call, each with its line end.
  std::string take();

 private:
  void put(std::string line);

  const Clock& clock_;
  const bool colour_;
  const std::string listens_on_;
  const std::function<void()> wake_;
  Mutex mutex_;
  std::vector<std::string> lines_ GUARDED_BY(mutex_);
  std::size_t dropped_ GUARDED_BY(mutex_) = 0;
};

}  // namespace hookonce
