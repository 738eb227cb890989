#include "base/random.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <vector>

namespace hookonce {
namespace {

TEST(Random, FillsAllBytesAndNeverRepeats) {
  std::array<std::uint8_t, 32> a{}, b{};
  fill_random(a);
  fill_random(b);
  EXPECT_NE(a, b);
  fill_random({});
  // More than one call of the system returns at once. No long run of zeros: odds of 2^-256.
  std::vector<std::uint8_t> large(1'000'000, 0);
  fill_random(large);
  EXPECT_NE(std::vector<std::uint8_t>(large.end() - 32, large.end()), std::vector<std::uint8_t>(32, 0));
}

TEST(Random, UnitsLieInTheirRangeAndSpread) {
  constexpr int kDraws = 20'000;
  double sum = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double unit = random_unit();
    ASSERT_GE(unit, 0.0);
    ASSERT_LT(unit, 1.0);
    sum += unit;
  }
  // Twenty standard deviations of the mean: a fair source never gets there.
  EXPECT_LT(std::abs(sum / kDraws - 0.5), 20 * 0.289 / std::sqrt(kDraws));
}

}  // namespace
}  // namespace hookonce
