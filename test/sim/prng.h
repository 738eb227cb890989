// The simulation's only source of chance: the same seed gives the same numbers on every machine.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/clock.h"

namespace hookonce::sim {

// SplitMix64: one addition and one mix per number, and neighbouring seeds have nothing in common.
class Prng {
 public:
  explicit Prng(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15u;
    std::uint64_t mixed = state_;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9u;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebu;
    return mixed ^ (mixed >> 31);
  }
  // In [0, bound). REQUIRES: bound > 0.
  std::size_t below(std::size_t bound) { return static_cast<std::size_t>(next() % bound); }
  // In [low, high].
  int between(int low, int high) { return low + static_cast<int>(below(static_cast<std::size_t>(high - low + 1))); }
  Duration between(Duration low, Duration high) {
    return low + Duration(static_cast<Duration::rep>(next() % static_cast<std::uint64_t>((high - low).count() + 1)));
  }
  bool percent(int chance) { return between(1, 100) <= chance; }
  double unit() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }
  std::array<std::uint8_t, 10> bytes() {
    std::array<std::uint8_t, 10> bytes{};
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(next());
    return bytes;
  }

 private:
  std::uint64_t state_;
};

}  // namespace hookonce::sim
