#include "core/rate.h"

#include <gtest/gtest.h>

namespace hookonce {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const Time kStart{seconds(1000)};

TEST(Rate, ANewBucketIsFull) {
  EXPECT_EQ(whole_tokens(refilled({}, 100, kStart)), 10);
  EXPECT_EQ(whole_tokens(refilled({}, 1, kStart)), 1);
  EXPECT_EQ(whole_tokens(refilled({}, 0.01, kStart)), 1) << "even a slow rate starts one";
}

TEST(Rate, StartsNoMoreThanTheRateOverEverySecond) {
  for (const double rate : {0.5, 1.0, 3.0, 10.0, 100.0, 2500.0}) {
    TokenBucket bucket;
    int started = 0;
    const int ms_total = 20'000;
    for (int ms = 0; ms < ms_total; ++ms) {
      bucket = refilled(bucket, rate, kStart + milliseconds(ms));
      const int now = whole_tokens(bucket);
      bucket.tokens -= now;
      started += now;
    }
    const double allowed = rate * ms_total / 1000 + std::max(1.0, rate * kBurstSeconds);
    EXPECT_LE(started, allowed + 1e-3) << rate;
    // What the last millisecond refilled has not started when the loop ends.
    EXPECT_GE(started, allowed - rate / 1000 - 1 - 1e-3) << rate;
  }
}

TEST(Rate, APauseSavesUpOneBurstAndNoMore) {
  TokenBucket bucket = refilled({}, 100, kStart);
  bucket.tokens = 0;
  EXPECT_EQ(whole_tokens(refilled(bucket, 100, kStart + seconds(3600))), 10);
}

TEST(Rate, TheNextTokenIsThereWhenItSaysAndNotBefore) {
  for (const double rate : {0.1, 0.7, 1.0, 3.0, 7.0, 99.0}) {
    TokenBucket bucket = refilled({}, rate, kStart);
    bucket.tokens -= whole_tokens(bucket);
    const Time at = next_token_at(bucket, rate, kStart);
    EXPECT_EQ(whole_tokens(refilled(bucket, rate, at)), 1) << rate;
    EXPECT_EQ(whole_tokens(refilled(bucket, rate, at - milliseconds(1))), 0) << rate;
  }
}

TEST(Rate, TimeThatStandsStillOrGoesBackAddsNothing) {
  TokenBucket bucket = refilled({}, 10, kStart);
  bucket.tokens = 0;
  EXPECT_EQ(whole_tokens(refilled(bucket, 10, kStart)), 0);
  EXPECT_EQ(whole_tokens(refilled(bucket, 10, kStart - seconds(5))), 0);
}

}  // namespace
}  // namespace hookonce
