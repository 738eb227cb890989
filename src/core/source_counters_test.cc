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
    counters.refused(static_cast<Refusal>(i)).add();
    codes.insert(to_string(static_cast<Refusal>(i)));
  }
  EXPECT_EQ(codes.size(), kRefusals);
  EXPECT_EQ(counters.rejected(), 5u);
  EXPECT_EQ(counters.unavailable(), 2u);
}

}  // namespace
}  // namespace hookonce
