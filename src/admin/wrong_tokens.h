// Slows down those who guess the admin token, each address by itself: after some wrong ones each further wrong one of
// the address is answered late, and where so many of its answers are late that kHeldMax stand open, nothing that it
// brings is judged.
//
//   if (wrong_tokens.is_full(address, now)) return too_many_answer();          // judged is neither wrong nor right
//   ... judged, and wrong:
//   wrong_tokens.answer_late(address, std::move(responder), unauthorized_answer(), now);
//
// So at most kHeldMax guesses of an address are judged in kHold. The right token of another address waits for nothing;
// that of the same address comes through as soon as a guess before it has been let go. Used on the admin server's
// thread alone.
#pragma once

#include <deque>
#include <map>
#include <string>

#include "base/clock.h"
#include "base/http_handler.h"

namespace hookonce {

class WrongTokens {
 public:
  static constexpr int kFree = 10;  // in kRemembered: a person's slips, a script's first tries
  static constexpr Duration kRemembered = std::chrono::minutes(1);
  static constexpr Duration kHold = std::chrono::seconds(1);
  static constexpr std::size_t kHeldMax = 16;         // of one address
  static constexpr std::size_t kWaitingMax = 64;      // of all: each keeps one of the admin listener's connections
  static constexpr std::size_t kAddressesMax = 1024;  // remembered; with one more the one that was quiet longest goes

  // Whether as many answers to `address` are late as may be.
  bool is_full(const std::string& address, Time now);

  // Answers a wrong token, at once or in kHold. Where kWaitingMax wait already it is answered at once, and counts for
  // its address as if it were late. REQUIRES: called on the connection's own thread, !is_full(address, now).
  void answer_late(const std::string& address, Responder responder, HttpResponse answer, Time now);

 private:
  struct Guesser {
    std::deque<Time> recent;  // the newest wrong ones, kFree at most
    std::size_t held = 0;     // of held_
  };
  struct Held {
    Time until{};
    std::string address;
    Responder responder;  // answered by its deadline; kept so that it is not answered before. Empty: it did not wait
  };
  void let_go(Time now);
  Guesser& guesser(const std::string& address, Time now);

  std::map<std::string, Guesser> guessers_;
  std::deque<Held> held_;  // the next to be let go first
};

}  // namespace hookonce
