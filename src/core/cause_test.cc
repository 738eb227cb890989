#include "core/cause.h"

#include <gtest/gtest.h>

namespace hookonce {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr Time kFirstAt{seconds(1790000000)};

Arrival arrival_after(Duration distance, int secret = 0, bool retry_header = false) {
  Arrival arrival;
  arrival.at = kFirstAt + distance;
  arrival.secret = secret;
  if (retry_header) arrival.retry = RetryHint{1, "http_timeout"};
  return arrival;
}

TEST(Cause, IsConcludedFromDistanceSecretAndRetryHeader) {
  struct Case {
    Duration distance;
    int secret;
    bool retry_header;
    Cause cause;
  };
  const Case cases[] = {
      {Duration::zero(), 0, false, Cause::kConcurrentTwin},
      {milliseconds(5), 0, false, Cause::kConcurrentTwin},
      {milliseconds(5), 1, false, Cause::kConcurrentTwin},
      {milliseconds(-5), 0, false, Cause::kConcurrentTwin},
      {seconds(1), 0, false, Cause::kConcurrentTwin},
      {seconds(1) + Duration(1), 0, false, Cause::kProviderRetry},
      {seconds(1) + Duration(1), 1, false, Cause::kSecondListener},
      {milliseconds(200), 0, true, Cause::kProviderRetry},
      {minutes(5), 0, true, Cause::kProviderRetry},
      {minutes(5), 0, false, Cause::kProviderRetry},
      {minutes(5), 1, false, Cause::kSecondListener},
      {minutes(30) - Duration(1), 0, false, Cause::kProviderRetry},
      {minutes(30), 0, false, Cause::kManualResend},
      {minutes(30), 1, false, Cause::kSecondListener},
      {minutes(600), 0, true, Cause::kProviderRetry},
  };
  for (const Case& c : cases) {
    for (const Verdict verdict : {Verdict::kDuplicate, Verdict::kRearmed}) {
      EXPECT_EQ(cause_of(arrival_after(Duration::zero()), arrival_after(c.distance, c.secret, c.retry_header), verdict),
                c.cause)
          << c.distance.count() << " us, secret " << c.secret << ", retry header " << c.retry_header;
    }
  }
}

TEST(Cause, ARetryWhoseFirstAttemptWasNeverStoredIsTheFirst) {
  const Arrival arrival = arrival_after(Duration::zero(), 0, true);
  EXPECT_EQ(cause_of(arrival, arrival, Verdict::kAccepted), Cause::kFirst);
}

TEST(Cause, HasTheContractsWords) {
  EXPECT_EQ(to_string(Cause::kFirst), "first");
  EXPECT_EQ(to_string(Cause::kConcurrentTwin), "concurrent_twin");
  EXPECT_EQ(to_string(Cause::kSecondListener), "second_listener");
  EXPECT_EQ(to_string(Cause::kProviderRetry), "provider_retry");
  EXPECT_EQ(to_string(Cause::kManualResend), "manual_resend");
}

}  // namespace
}  // namespace hookonce
