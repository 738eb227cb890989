#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace hookonce {

void check_failed(const char* condition, const char* file, int line) {
  // Straight to the descriptor: whatever state the log is in, this line must come out.
  std::fprintf(stderr, "hookonce: check failed: %s (%s:%d)\n", condition, file, line);
  std::fflush(stderr);
  std::abort();
}

}  // namespace hookonce
