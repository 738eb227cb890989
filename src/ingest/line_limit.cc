#include "ingest/line_limit.h"

#include <algorithm>
#include <utility>

namespace hookonce {

std::optional<std::uint64_t> LineLimit::admit(Time now) {
  MutexLock lock(mutex_);
  if (filled_at_ && now > *filled_at_) {
    tokens_ = std::min(kBurst, tokens_ + std::chrono::duration<double>(now - *filled_at_).count() * kPerSecond);
  }
  if (!filled_at_ || now > *filled_at_) filled_at_ = now;
  if (tokens_ < 1) {
    ++held_back_;
    return std::nullopt;
  }
  tokens_ -= 1;
  return std::exchange(held_back_, 0);
}

}  // namespace hookonce
