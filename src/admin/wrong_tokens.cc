#include "admin/wrong_tokens.h"

#include <utility>

namespace hookonce {

bool WrongTokens::is_full(Time now) {
  let_go(now);
  return held_.size() >= kHeldMax;
}

void WrongTokens::answer_late(Responder responder, HttpResponse answer, Time now) {
  while (!recent_.empty() && recent_.front() + kRemembered <= now) recent_.pop_front();
  const bool late = recent_.size() >= kFree;
  if (late) recent_.pop_front();
  recent_.push_back(now);
  if (!late) {
    responder.respond(std::move(answer));
    return;
  }
  responder.set_deadline(now + kHold, std::move(answer));
  held_.push_back({now + kHold, std::move(responder)});
}

void WrongTokens::let_go(Time now) {
  // The server looks at deadlines every few milliseconds. A responder that goes unanswered answers 500, so each stays
  // for a while longer than its deadline; one that hung up counts as long as one that waits.
  constexpr Duration kGrace = std::chrono::milliseconds(500);
  while (!held_.empty() && held_.front().until + kGrace <= now) held_.pop_front();
}

}  // namespace hookonce
