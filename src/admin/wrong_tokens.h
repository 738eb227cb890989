// Slows down those who guess the admin token: after some wrong ones each further wrong one is answered late, and only
// so many may wait for their answer at once. Whose they are does not matter, because a guesser has many addresses.
//
//   if (wrong_tokens.is_full(now)) return too_many_answer();          // of wrong ones; the right one is always taken
//   ... judged, and wrong:
//   wrong_tokens.answer_late(std::move(responder), unauthorized_answer(), now);
//
// So at most kHeldMax guesses in kHold are judged. A right token waits for nothing, unless that many guesses are under
// way. Used on the admin server's thread alone.
#pragma once

#include <deque>

#include "base/clock.h"
#include "base/http_handler.h"

namespace hookonce {

class WrongTokens {
 public:
  static constexpr int kFree = 10;  // in kRemembered: a person's slips, a script's first tries
  static constexpr Duration kRemembered = std::chrono::minutes(1);
  static constexpr Duration kHold = std::chrono::seconds(1);
  static constexpr std::size_t kHeldMax = 16;

  // Whether as many answers are held as may be.
  bool is_full(Time now);

  // Answers a wrong token, at once or in kHold. REQUIRES: called on the connection's own thread, !is_full(now).
  void answer_late(Responder responder, HttpResponse answer, Time now);

 private:
  struct Held {
    Time until{};
    Responder responder;  // answered by its deadline; kept so that it is not answered before
  };
  void let_go(Time now);

  std::deque<Time> recent_;  // the newest wrong ones, kFree at most
  std::deque<Held> held_;    // the next to be let go first
};

}  // namespace hookonce
