#include "app/process_limits.h"

#include <sys/resource.h>

#include <limits>

namespace hookonce {

namespace {
constexpr std::size_t kOpenFilesAssumed = 1024;  // where the system does not say: the least that Linux gives by default
}  // namespace

std::size_t raise_open_files_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return kOpenFilesAssumed;
  if (limit.rlim_cur != limit.rlim_max) {
    rlimit raised = limit;
    raised.rlim_cur = limit.rlim_max;
    if (::setrlimit(RLIMIT_NOFILE, &raised) == 0) limit = raised;
  }
  if (limit.rlim_cur == RLIM_INFINITY) return std::numeric_limits<std::size_t>::max();
  return static_cast<std::size_t>(limit.rlim_cur);
}

}  // namespace hookonce
