#include "core/quantile.h"

#include <gtest/gtest.h>

#include <numeric>

namespace hookonce {
namespace {

TEST(Quantile, OfNothingIsNone) {
  EXPECT_EQ(quantile({}, 0.5), std::nullopt);
}

TEST(Quantile, LiesWithinItsBucketByItsRank) {
  Histogram histogram;
  for (int i = 0; i < 90; ++i) histogram.observe(0.02);  // 10 to 25 ms
  for (int i = 0; i < 10; ++i) histogram.observe(0.3);   // 250 to 500 ms
  const BucketCounts counts = buckets_of(histogram);
  EXPECT_NEAR(*quantile(counts, 0.5), 0.010 + 0.015 * 50 / 90, 1e-9);
  EXPECT_NEAR(*quantile(counts, 0.9), 0.025, 1e-9);
  EXPECT_NEAR(*quantile(counts, 0.99), 0.250 + 0.250 * 9 / 10, 1e-9);
}

TEST(Quantile, BelowTheFirstBoundBeginsAtZero) {
  Histogram histogram;
  histogram.observe(0.0001);
  EXPECT_NEAR(*quantile(buckets_of(histogram), 0.5), 0.00025, 1e-9);
}

TEST(Quantile, AboveTheLastBoundIsTheLastBound) {
  Histogram histogram;
  histogram.observe(0.001);
  for (int i = 0; i < 3; ++i) histogram.observe(1000);
  const BucketCounts counts = buckets_of(histogram);
  EXPECT_EQ(counts.back(), 3u);
  EXPECT_EQ(std::accumulate(counts.begin(), counts.end(), std::uint64_t{0}), 4u);
  EXPECT_EQ(*quantile(counts, 0.99), 60.0);
}

}  // namespace
}  // namespace hookonce
