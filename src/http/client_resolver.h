// Host names into addresses without ever blocking the client's loop.
//
// getaddrinfo() blocks for as long as a name server likes and cannot be stopped. So each lookup has a thread of its
// own, there are at most `threads_max` of them, and of one name at most one: however many attempts wait for a dead
// name, it costs one thread, and the other names go on. What a lookup found serves for kNameKept; a failure serves
// those who wait for it and nobody else.
//
//   const Resolver::Answer* known = resolver.find(host, now);    // null: look_up(host), then wait for collect() to
//   name it
//
// Everything but the lookups themselves happens on the loop's thread. Lookups that hang when the resolver goes away end
// by themselves.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "http/client_wakeup.h"

namespace hookonce {

// Long enough to spare a busy destination its lookups, short enough that a moved one is found again.
inline constexpr Duration kNameKept = std::chrono::seconds(30);

class Resolver {
 public:
  struct Answer {
    std::vector<std::string> addresses;  // in the system's order of preference; empty: it failed
    std::string error;                   // for people, where it failed
  };
  struct Found {
    std::string host;
    Answer answer;
  };

  Resolver(int threads_max, std::shared_ptr<ClientWakeup> wakeup);
  ~Resolver();

  // What is known about `host` and still fresh; valid until the next call.
  const Answer* find(const std::string& host, Duration now);
  // Starts (or queues) a lookup unless one for `host` is on its way.
  void look_up(const std::string& host);
  // Lookups that have ended since the last call. The successful ones are kept.
  std::vector<Found> collect(Duration now);
  // The addresses of `host` did not answer: the next attempt asks anew.
  void forget(const std::string& host);

 private:
  struct Shared;
  struct Kept {
    Answer answer;
    Duration until{};
  };
  void start(const std::string& host);

  const int threads_max_;
  std::shared_ptr<Shared> shared_;
  std::map<std::string, Kept> kept_;
  std::set<std::string> running_;
  std::deque<std::string> queued_;
};

}  // namespace hookonce
