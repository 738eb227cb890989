#include "core/config.h"

namespace hookonce {

// Greedy with one point of return: the last `*` seen takes one byte more whenever what follows it does not fit, which
// is enough because an earlier `*` never has to take more once a later one was reached.
bool type_matches(std::string_view pattern, std::string_view type) {
  std::size_t p = 0;
  std::size_t t = 0;
  std::size_t star = std::string_view::npos;
  std::size_t resume = 0;
  while (t < type.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = t;
    } else if (p < pattern.size() && pattern[p] == type[t]) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

}  // namespace hookonce
