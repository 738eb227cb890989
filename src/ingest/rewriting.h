// What a body may have been before something on the way wrote it anew: proxies and middlewares parse JSON and forms and
// write them again, in other bytes that say the same.
//
// Only the spelling differs: white space, escapes, line ends, what wraps the whole. What is lost in writing (the digits
// of a number, the order of names) can't be found again, and is not tried.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace hookonce {

struct Rewriting {
  std::string body;
  std::string how;  // for people: "the same JSON without white space"
};

// A larger body is not tried: hardly any webhook has one, and a form of many small fields takes a multiple of its size.
inline constexpr std::size_t kRewrittenMax = 256 * 1024;

// Shows `visit` what the body may have been, the likeliest first, each once and never the body itself: at most about a
// hundred, until it returns false. One is in memory at a time, at most about kJsonGrowthMax times the body. Pure.
void for_each_rewriting(std::string_view body, const std::function<bool(const Rewriting&)>& visit);

}  // namespace hookonce
