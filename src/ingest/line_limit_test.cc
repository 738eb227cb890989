#include "ingest/line_limit.h"

#include <gtest/gtest.h>

namespace hookonce {
namespace {

constexpr Time kStart{std::chrono::seconds(1790000000)};

int admitted(LineLimit& limit, int lines, Time now) {
  int count = 0;
  for (int i = 0; i < lines; ++i) count += limit.admit(now).has_value();
  return count;
}

TEST(LineLimit, LetsABurstThroughAndHoldsBackTheRest) {
  LineLimit limit;
  EXPECT_EQ(admitted(limit, 1000, kStart), static_cast<int>(LineLimit::kBurst));
}

TEST(LineLimit, LetsLinesThroughAgainWithTime) {
  LineLimit limit;
  admitted(limit, 1000, kStart);
  EXPECT_EQ(admitted(limit, 1000, kStart + std::chrono::seconds(2)), static_cast<int>(2 * LineLimit::kPerSecond));
  EXPECT_EQ(admitted(limit, 1000, kStart + std::chrono::hours(1)), static_cast<int>(LineLimit::kBurst));
}

TEST(LineLimit, TellsHowManyWereHeldBackOnce) {
  LineLimit limit;
  EXPECT_EQ(limit.admit(kStart), 0u);
  admitted(limit, 100, kStart);
  const auto held_back = static_cast<std::uint64_t>(101 - LineLimit::kBurst);
  EXPECT_EQ(limit.admit(kStart + std::chrono::minutes(1)), held_back);
  EXPECT_EQ(limit.admit(kStart + std::chrono::minutes(1)), 0u);
}

TEST(LineLimit, ATimeThatGoesBackGivesNothing) {
  LineLimit limit;
  admitted(limit, 1000, kStart);
  EXPECT_FALSE(limit.admit(kStart - std::chrono::hours(1)));
  EXPECT_FALSE(limit.admit(kStart));
}

}  // namespace
}  // namespace hookonce
