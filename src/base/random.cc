#include "base/random.h"

#include <sys/random.h>

#include <cerrno>
#include <cstring>

#include "base/check.h"

namespace hookonce {

void fill_random(std::span<std::uint8_t> out) {
  while (!out.empty()) {
    const ssize_t n = ::getrandom(out.data(), out.size(), 0);
    // A kernel without getrandom() is one on which no id would be safe to hand out.
    HK_CHECK(n > 0 || errno == EINTR);
    if (n > 0) out = out.subspan(static_cast<std::size_t>(n));
  }
}

double random_unit() {
  std::array<std::uint8_t, sizeof(std::uint64_t)> bytes;
  fill_random(bytes);
  std::uint64_t bits = 0;
  std::memcpy(&bits, bytes.data(), sizeof bits);
  // 53 bits are what a double holds exactly, so 1.0 itself can't come out of rounding.
  return static_cast<double>(bits >> 11) * 0x1.0p-53;
}

}  // namespace hookonce
