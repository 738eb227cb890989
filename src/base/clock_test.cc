#include "base/clock.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>

namespace hookonce {
namespace {

Time at(std::int64_t seconds, std::int64_t micros = 0) {
  return Time(std::chrono::seconds(seconds) + std::chrono::microseconds(micros));
}

TEST(SystemClock, NowNeverGoesBackAndBeginsAtTheWall) {
  const Clock& clock = system_clock();
  Time last = clock.now();
  for (int i = 0; i < 10'000; ++i) {
    const Time next = clock.now();
    ASSERT_GE(next, last);
    last = next;
  }
  // A test machine whose wall is set by an hour between start and here is not one to measure on.
  EXPECT_LT(std::chrono::abs(clock.wall() - clock.now()), std::chrono::hours(1));
}

TEST(SystemClock, CpuTimeGrowsWithWork) {
  const Duration before = process_cpu_time();
  volatile unsigned sum = 0;
  while (process_cpu_time() == before) sum = sum + 1;
  EXPECT_GT(process_cpu_time(), before);
}

TEST(Rfc3339, TimesAreWrittenInUtcWithMilliseconds) {
  EXPECT_EQ(to_rfc3339(at(0)), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(to_rfc3339(at(1'767'323'045, 678'999)), "2026-01-02T03:04:05.678Z");
  EXPECT_EQ(to_rfc3339(at(951'782'400)), "2000-02-29T00:00:00.000Z");
  EXPECT_EQ(to_rfc3339(at(-1, 999'000)), "1969-12-31T23:59:59.999Z");
}

TEST(Rfc3339, WhatIsWrittenIsReadBack) {
  for (std::int64_t day = -30'000; day < 60'000; day += 13) {
    const Time time = at(day * 86'400 + day * 7 % 86'400, 123'000);
    EXPECT_EQ(parse_rfc3339(to_rfc3339(time)), time);
  }
}

TEST(Rfc3339, OffsetsFractionsAndLetterCaseAreRead) {
  const Time noon = at(1'767'355'200);
  EXPECT_EQ(parse_rfc3339("2026-01-02T12:00:00Z"), noon);
  EXPECT_EQ(parse_rfc3339("2026-01-02t12:00:00z"), noon);
  EXPECT_EQ(parse_rfc3339("2026-01-02T14:30:00+02:30"), noon);
  EXPECT_EQ(parse_rfc3339("2026-01-02T00:00:00-12:00"), noon);
  EXPECT_EQ(parse_rfc3339("2026-01-03T11:59:00+23:59"), noon);
  EXPECT_EQ(parse_rfc3339("2026-01-02T12:00:00-00:00"), noon);
  EXPECT_EQ(parse_rfc3339("2026-01-02T12:00:00.5Z"), noon + std::chrono::milliseconds(500));
  EXPECT_EQ(parse_rfc3339("2026-01-02T12:00:00.000001Z"), noon + Duration(1));
  EXPECT_EQ(parse_rfc3339("2026-01-02T12:00:00.123456789Z"), noon + Duration(123'456));
}

TEST(Rfc3339, ALeapSecondStandsOnlyAtTheEndOfAUtcDay) {
  const Time midnight = at(1'483'228'800);
  EXPECT_EQ(parse_rfc3339("2016-12-31T23:59:60Z"), midnight);
  EXPECT_EQ(parse_rfc3339("2017-01-01T00:59:60+01:00"), midnight);
  EXPECT_EQ(parse_rfc3339("2016-12-31T12:00:60Z"), std::nullopt);
  EXPECT_EQ(parse_rfc3339("2016-12-31T23:59:60+01:00"), std::nullopt);
}

TEST(Rfc3339, AnythingElseIsRefused) {
  for (const char* text : {"",
                           "2026",
                           "2026-01-02",
                           "2026-01-02T12:00:00",
                           "2026-01-02 12:00:00Z",
                           "2026-1-2T12:00:00Z",
                           "2026-13-01T12:00:00Z",
                           "2026-00-01T12:00:00Z",
                           "2026-01-00T12:00:00Z",
                           "2026-02-29T12:00:00Z",
                           "2026-04-31T12:00:00Z",
                           "2026-01-02T24:00:00Z",
                           "2026-01-02T12:60:00Z",
                           "2026-01-02T12:00:61Z",
                           "2026-01-02T12:00:00.Z",
                           "2026-01-02T12:00:00.1234567890Z",
                           "2026-01-02T12:00:00,5Z",
                           "2026-01-02T12:00:00+0100",
                           "2026-01-02T12:00:00+24:00",
                           "2026-01-02T12:00:00+01:60",
                           "2026-01-02T12:00:00+1:00",
                           "2026-01-02T12:00:00ZZ",
                           " 2026-01-02T12:00:00Z",
                           "2026-01-02T12:00:00Z ",
                           "+026-01-02T12:00:00Z",
                           "2026-01-02T12:00Z",
                           "2026-01-02T1a:00:00Z"}) {
    EXPECT_EQ(parse_rfc3339(text), std::nullopt) << text;
  }
}

TEST(LocalTime, IsOfTheMachinesZone) {
  const char* before = std::getenv("TZ");
  const std::string kept = before == nullptr ? "" : before;
  ::setenv("TZ", "UTC-5", 1);  // POSIX writes zones east of Greenwich with a minus
  ::tzset();
  EXPECT_EQ(to_local(at(1'767'323'045, 678'999)), "2026-01-02 08:04:05.678");
  before == nullptr ? ::unsetenv("TZ") : ::setenv("TZ", kept.c_str(), 1);
  ::tzset();
}

TEST(HttpDate, ThePreferredFormIsRead) {
  EXPECT_EQ(parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT"), at(784'111'777));
  EXPECT_EQ(parse_http_date("Thu, 01 Jan 1970 00:00:00 GMT"), at(0));
  EXPECT_EQ(parse_http_date("Tue, 29 Feb 2000 23:59:59 GMT"), at(951'868'799));
  EXPECT_EQ(parse_http_date("Sat, 31 Dec 2016 23:59:60 GMT"), at(1'483'228'800));
}

TEST(HttpDate, AnythingElseIsRefused) {
  for (const char* text :
       {"", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994", "Mon, 06 Nov 1994 08:49:37 GMT",
        "sun, 06 Nov 1994 08:49:37 GMT", "Sun, 6 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 UTC",
        "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 GMT ", "Sun, 06 Nov 1994 24:49:37 GMT",
        "Wed, 30 Feb 2000 00:00:00 GMT", "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 94 08:49:37 GMT", "120"}) {
    EXPECT_EQ(parse_http_date(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace hookonce
