#include "admin/wrong_tokens.h"

#include <algorithm>
#include <utility>

namespace hookonce {

bool WrongTokens::is_full(const std::string& address, Time now) {
  let_go(now);
  const auto found = guessers_.find(address);
  return found != guessers_.end() && found->second.held >= kHeldMax;
}

void WrongTokens::answer_late(const std::string& address, Responder responder, HttpResponse answer, Time now) {
  Guesser& guesser = this->guesser(address, now);
  std::deque<Time>& recent = guesser.recent;
  while (!recent.empty() && recent.front() + kRemembered <= now) recent.pop_front();
  const bool late = recent.size() >= kFree;
  if (late) recent.pop_front();
  recent.push_back(now);
  if (!late) {
    responder.respond(std::move(answer));
    return;
  }
  ++guesser.held;
  if (held_.size() >= kWaitingMax) {
    responder.respond(std::move(answer));
  } else {
    responder.set_deadline(now + kHold, std::move(answer));
  }
  held_.push_back({now + kHold, address, std::move(responder)});
}

void WrongTokens::let_go(Time now) {
  // The server looks at deadlines every few milliseconds. A responder that goes unanswered answers 500, so each stays
  // for a while longer than its deadline; one that hung up counts as long as one that waits.
  constexpr Duration kGrace = std::chrono::milliseconds(500);
  while (!held_.empty() && held_.front().until + kGrace <= now) {
    const auto found = guessers_.find(held_.front().address);
    if (found != guessers_.end() && found->second.held > 0) --found->second.held;
    held_.pop_front();
  }
}

WrongTokens::Guesser& WrongTokens::guesser(const std::string& address, Time now) {
  const auto found = guessers_.find(address);
  if (found != guessers_.end()) return found->second;
  if (guessers_.size() >= kAddressesMax) {
    const auto newest = [](const auto& item) { return item.second.recent.back(); };
    std::erase_if(guessers_, [&](const auto& item) { return newest(item) + kRemembered <= now; });
    if (guessers_.size() >= kAddressesMax) {
      guessers_.erase(std::min_element(guessers_.begin(), guessers_.end(),
                                       [&](const auto& a, const auto& b) { return newest(a) < newest(b); }));
    }
  }
  return guessers_[address];
}

}  // namespace hookonce
