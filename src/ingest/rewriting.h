// What a body may have been before something on the way wrote it anew: proxies and middlewares parse JSON and forms and
// write them again, in other bytes that say the same.
//
// Only the spelling differs: white space, escapes, line ends, what wraps the whole. What is lost in writing (the digits
// of a number, the order of names) can't be found again, and is not tried.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace hookonce {

struct Rewriting {
  std::string body;
  std::string how;  // for people: "the same JSON without white space"
};

// Shows `visit` what the body may have been, the likeliest first, each once and never the body itself: at most about a
// hundred, until it returns false. Each takes about as long as copying the body, and one is in memory at a time. Pure.
void for_each_rewriting(std::string_view body, const std::function<bool(const Rewriting&)>& visit);

}  // namespace hookonce
