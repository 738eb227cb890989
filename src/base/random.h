// Randomness from the operating system: the one place that asks for it. Thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace hookonce {

void fill_random(std::span<std::uint8_t> out);

// Uniform in [0, 1), for jitter.
double random_unit();

}  // namespace hookonce
