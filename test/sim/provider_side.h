// The provider: signs events, sends each until it hears 2xx, in several copies where it pleases, and later once more.
#pragma once

#include <string>
#include <vector>

#include "test/sim/process.h"
#include "test/sim/world.h"

namespace hookonce::sim {

class ProviderSide {
 public:
  // REQUIRES: world outlives this.
  explicit ProviderSide(World& world) : world_(world) {}

  // What is sent in one step: a new event, a retry, a resend of something old, a forgery; each in one to three copies.
  std::vector<Request> traffic();
  // Requests of what nobody has acknowledged yet and is due to be sent again, now that the world has healed.
  std::vector<Request> retries();
  void hear(const Answer& answer);
  // Everything that can be stored at all was acknowledged.
  bool content() const;
  Time next_retry() const { return next_retry_; }

 private:
  struct Event {
    int source = 0;
    std::string key;
    std::string alias;  // another key of the same event; empty: none
    std::string also;   // what both share, for dedup_also; empty: none
    std::string body;
    int sends = 0;
    bool acknowledged = false;
  };

  Event& make_event();
  Request request_of(Event& event);
  Request forgery();

  World& world_;
  std::vector<Event> events_;
  int requests_ = 0;
  Time next_retry_{};
};

}  // namespace hookonce::sim
