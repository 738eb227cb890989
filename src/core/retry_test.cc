#include "core/retry.h"

#include <cmath>
#include <limits>
#include <random>

#include <gtest/gtest.h>

namespace hookonce {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Time kNow{seconds(1790000000)};  // 2026-09-21 14:13:20 UTC, a Monday

TEST(Backoff, DoublesFromTheFirstToTheMaximum) {
  const RetryPolicy policy;
  EXPECT_EQ(backoff_without_jitter(policy, 1), seconds(1));
  EXPECT_EQ(backoff_without_jitter(policy, 2), seconds(2));
  EXPECT_EQ(backoff_without_jitter(policy, 11), seconds(1024));
  EXPECT_EQ(backoff_without_jitter(policy, 12), seconds(2048));
  EXPECT_EQ(backoff_without_jitter(policy, 13), hours(1));
  EXPECT_EQ(backoff_without_jitter(policy, std::numeric_limits<int>::max()), hours(1));
}

TEST(Backoff, CountsFromOneWhateverIsAsked) {
  EXPECT_EQ(backoff_without_jitter({}, 0), seconds(1));
  EXPECT_EQ(backoff_without_jitter({}, std::numeric_limits<int>::min()), seconds(1));
}

TEST(Backoff, JitterSpreadsToBothSides) {
  const RetryPolicy policy;
  EXPECT_EQ(backoff(policy, 1, 0.0), milliseconds(800));
  EXPECT_EQ(backoff(policy, 1, 0.5), seconds(1));
  EXPECT_EQ(backoff(policy, 1, 0.75), milliseconds(1100));
}

// Goal: no policy and no count gives a delay that is negative, shrinks, overflows, or leaves its jitter's bounds.
// Method: every combination of edge values, and of random ones.
void expect_sound(const RetryPolicy& policy, int counted, double jitter) {
  const Duration plain = backoff_without_jitter(policy, counted);
  EXPECT_GE(plain, Duration::zero());
  EXPECT_LE(plain, policy.max);
  const int later = counted == std::numeric_limits<int>::max() ? counted : counted + 1;
  EXPECT_LE(plain, backoff_without_jitter(policy, later));
  const Duration delay = backoff(policy, counted, jitter);
  EXPECT_GE(delay, Duration::zero());
  const auto micros = static_cast<double>(plain.count());
  EXPECT_GE(static_cast<double>(delay.count()) + 1, std::min(micros * (1 - policy.jitter), 4.0e18));
  EXPECT_LE(static_cast<double>(delay.count()), micros * (1 + policy.jitter) + 1);
}

TEST(Backoff, IsSoundAtTheEdgesOfEveryRange) {
  for (const Duration first :
       {Duration(0), Duration(1), Duration(milliseconds(1)), Duration(hours(24)), Duration::max()}) {
    for (const Duration max : {Duration(1), Duration(hours(1)), Duration(hours(24 * 30)), Duration::max()}) {
      for (const double factor : {1.0, 1.0001, 2.0, 100.0, 1e300}) {
        for (const double spread : {0.0, 0.2, 1.0}) {
          for (const int counted : {1, 2, 3, 20, 1000, 1'000'000, std::numeric_limits<int>::max()}) {
            for (const double jitter : {0.0, 0.5, std::nextafter(1.0, 0.0)}) {
              RetryPolicy policy;
              policy.first = std::min(first, max);
              policy.max = max;
              policy.factor = factor;
              policy.jitter = spread;
              expect_sound(policy, counted, jitter);
              ASSERT_FALSE(HasFailure()) << "first=" << first.count() << " max=" << max.count() << " factor=" << factor
                                         << " jitter=" << spread << " counted=" << counted << " at " << jitter;
            }
          }
        }
      }
    }
  }
}

TEST(Backoff, IsSoundForRandomPolicies) {
  const std::uint32_t seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> unit(0.0, 1.0);
  for (int i = 0; i < 20000; ++i) {
    RetryPolicy policy;
    policy.max = Duration(1 + static_cast<std::int64_t>(random() % 2'592'000'000'000ULL));
    policy.first = Duration(static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(policy.max.count())));
    policy.factor = 1.0 + 10.0 * unit(random);
    policy.jitter = unit(random);
    expect_sound(policy, 1 + static_cast<int>(random() % 60), unit(random));
    ASSERT_FALSE(HasFailure());
  }
}

TEST(RetryAfter, TakesSecondsUpToADay) {
  EXPECT_EQ(parse_retry_after("0", kNow), Duration::zero());
  EXPECT_EQ(parse_retry_after("120", kNow), seconds(120));
  EXPECT_EQ(parse_retry_after(" 120\t", kNow), seconds(120));
  EXPECT_EQ(parse_retry_after("86400", kNow), hours(24));
  EXPECT_EQ(parse_retry_after("86401", kNow), hours(24));
  EXPECT_EQ(parse_retry_after("99999999999999999999999999999999", kNow), hours(24));
}

TEST(RetryAfter, TakesADateUpToADayAhead) {
  EXPECT_EQ(parse_retry_after("Mon, 21 Sep 2026 14:15:20 GMT", kNow), seconds(120));
  EXPECT_EQ(parse_retry_after("Mon, 21 Sep 2026 14:13:19 GMT", kNow), Duration::zero());
  EXPECT_EQ(parse_retry_after("Thu, 01 Jan 1970 00:00:00 GMT", kNow), Duration::zero());
  EXPECT_EQ(parse_retry_after("Fri, 31 Dec 9999 23:59:59 GMT", kNow), hours(24));
}

TEST(RetryAfter, IgnoresWhatIsNeither) {
  for (const char* text : {"", " ", "-1", "+5", "1.5", "soon", "5s", "2026-09-21T14:15:20Z"}) {
    EXPECT_FALSE(parse_retry_after(text, kNow).has_value()) << text;
  }
}

}  // namespace
}  // namespace hookonce
