#include "core/source_counters.h"

#include <gtest/gtest.h>

#include <set>

namespace hookonce {
namespace {

Time at(int second) {
  return Time(std::chrono::seconds(1790000000 + second));
}

TEST(MinuteMeter, CountsTheLastSixtySecondsAndForgetsOlderOnes) {
  MinuteMeter meter;
  for (int second = 0; second < 200; ++second) {
    meter.add(at(second));
    meter.add(at(second));
  }
  EXPECT_EQ(meter.last_minute(at(199)), 120u);
  EXPECT_EQ(meter.last_minute(at(229)), 60u);
  EXPECT_EQ(meter.last_minute(at(259)), 0u);
}

TEST(MinuteMeter, IsEmptyAtFirst) {
  EXPECT_EQ(MinuteMeter().last_minute(at(0)), 0u);
}

TEST(SourceCounters, AreTheSameForTheSameSource) {
  source_counters("source_counters_test").accepted.add(3);
  EXPECT_EQ(source_counters("source_counters_test").accepted.value(), 3u);
  EXPECT_EQ(source_counters("source_counters_test_other").accepted.value(), 0u);
}

TEST(SourceCounters, CountDuplicatesByTheirCause) {
  SourceCounters& counters = source_counters("source_counters_test_causes");
  EXPECT_EQ(counters.duplicates(), 0u);
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < kDuplicateCauses.size(); ++i) {
    counters.duplicate(kDuplicateCauses[i]).add(i + 1);
    sum += i + 1;
  }
  for (std::size_t i = 0; i < kDuplicateCauses.size(); ++i) {
    EXPECT_EQ(counters.duplicate(kDuplicateCauses[i]).value(), i + 1);
  }
  EXPECT_EQ(counters.duplicates(), sum);
}

TEST(SourceCounters, TellTheSendersFaultsFromOurs) {
  SourceCounters& counters = source_counters("source_counters_test_refusals");
  std::set<std::string_view> codes;
  for (std::size_t i = 0; i < kRefusals; ++i) {
    counters.refuse(static_cast<Refusal>(i), at(0));
    codes.insert(to_string(static_cast<Refusal>(i)));
  }
  EXPECT_EQ(codes.size(), kRefusals);
  EXPECT_EQ(counters.rejected(), 5u);
  EXPECT_EQ(counters.unavailable(), 2u);
}

TEST(SourceCounters, ABurstOfRejectionsIsAnAlarmUntilAMinuteHasFewer) {
  SourceCounters& counters = source_counters("source_counters_test_alarm");
  const Gauge& gauge = metrics().gauge("hookonce_source_alarm", "", {{"source", "source_counters_test_alarm"}});
  for (std::uint64_t i = 0; i + 1 < kAlarmRejections; ++i) counters.refuse(Refusal::kSignatureMissing, at(0));
  for (int i = 0; i < 100; ++i) counters.refuse(Refusal::kOverloaded, at(0));
  EXPECT_EQ(counters.judge_alarm(at(0)), AlarmChange::kNone);
  EXPECT_FALSE(counters.alarm(at(0)));
  EXPECT_EQ(gauge.value(), 0);

  counters.refuse(Refusal::kSignatureMismatch, at(30));
  EXPECT_EQ(counters.judge_alarm(at(30)), AlarmChange::kBegan);
  EXPECT_EQ(counters.judge_alarm(at(31)), AlarmChange::kNone) << "it begins once";
  const auto alarm = counters.alarm(at(31));
  ASSERT_TRUE(alarm);
  EXPECT_EQ(alarm->since, at(30));
  EXPECT_EQ(alarm->rejected_last_minute, kAlarmRejections);
  EXPECT_EQ(alarm->code, Refusal::kSignatureMissing) << "the most frequent one";
  EXPECT_EQ(gauge.value(), 1);

  EXPECT_EQ(counters.judge_alarm(at(60)), AlarmChange::kNone) << "fewer, and not yet a minute of it";
  EXPECT_EQ(counters.alarm(at(60))->rejected_last_minute, 1u);
  EXPECT_EQ(counters.judge_alarm(at(90)), AlarmChange::kEnded);
  EXPECT_EQ(counters.judge_alarm(at(91)), AlarmChange::kNone) << "it ends once";
  EXPECT_FALSE(counters.alarm(at(91)));
  EXPECT_EQ(gauge.value(), 0);
}

TEST(SourceCounters, AnAlarmLastsWhileTheRejectionsGoOn) {
  SourceCounters& counters = source_counters("source_counters_test_long_alarm");
  int changes = 0;
  for (int second = 0; second < 600; ++second) {
    if (second % 6 == 0) counters.refuse(Refusal::kMalformed, at(second));
    if (counters.judge_alarm(at(second)) != AlarmChange::kNone) ++changes;
  }
  EXPECT_EQ(changes, 1);
  ASSERT_TRUE(counters.alarm(at(600)));
  EXPECT_EQ(counters.alarm(at(600))->code, Refusal::kMalformed);
}

TEST(ClockSkew, IsTheMedianOfTheNewest) {
  ClockSkew skew;
  EXPECT_FALSE(skew.median());
  skew.add(std::chrono::seconds(412));
  EXPECT_NEAR(static_cast<double>(skew.median()->count()), 412e6, 1);
  for (int i = 0; i < 100; ++i) skew.add(std::chrono::seconds(-i));
  // The newest 64 are -36 to -99.
  EXPECT_NEAR(static_cast<double>(skew.median()->count()), -67e6, 0.6e6);
  skew.add(std::chrono::hours(24));
  EXPECT_NEAR(static_cast<double>(skew.median()->count()), -67e6, 1.1e6) << "one that is far off moves nothing";
}

TEST(ClockSkew, ClocksThatAgreeAreADifferenceToo) {
  ClockSkew skew;
  skew.add(Duration::zero());
  ASSERT_TRUE(skew.median());
  EXPECT_LE(*skew.median(), Duration(1));
}

}  // namespace
}  // namespace hookonce
