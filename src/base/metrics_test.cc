#include "base/metrics.h"

#include <gtest/gtest.h>

#include <limits>
#include <thread>
#include <vector>

namespace hookonce {
namespace {

TEST(MetricsTest, CountersAndGaugesRenderWithHelpAndType) {
  Metrics registry;
  registry.counter("hookonce_accepted_total", "First arrivals", {{"source", "a"}}).add(2);
  registry.counter("hookonce_accepted_total", "First arrivals", {{"source", "b"}}).add();
  registry.gauge("hookonce_waiting", "Waiting").set(-3);
  EXPECT_EQ(registry.render(),
            "# HELP hookonce_accepted_total First arrivals\n"
            "# TYPE hookonce_accepted_total counter\n"
            "hookonce_accepted_total{source=\"a\"} 2\n"
            "hookonce_accepted_total{source=\"b\"} 1\n"
            "# HELP hookonce_waiting Waiting\n"
            "# TYPE hookonce_waiting gauge\n"
            "hookonce_waiting -3\n");
}

TEST(MetricsTest, OneNameAndOneSetOfLabelsIsOneObject) {
  Metrics registry;
  Counter& first = registry.counter("c", "h", {{"a", "1"}, {"b", "2"}});
  EXPECT_EQ(&first, &registry.counter("c", "h", {{"b", "2"}, {"a", "1"}}));
  EXPECT_NE(&first, &registry.counter("c", "h", {{"a", "2"}, {"b", "1"}}));
  EXPECT_NE(&first, &registry.counter("c", "h"));
}

TEST(MetricsTest, LabelsThatEscapeAlikeAreNotConfused) {
  Metrics registry;
  EXPECT_NE(&registry.counter("c", "h", {{"a", "1\",b=\"2"}}), &registry.counter("c", "h", {{"a", "1"}, {"b", "2"}}));
}

TEST(MetricsTest, LabelValuesAndHelpAreEscaped) {
  Metrics registry;
  registry.counter("c", "a \"quoted\" \\ help\nof two lines", {{"v", "q\" b\\ n\n \xFF"}}).add();
  EXPECT_EQ(registry.render(),
            "# HELP c a \"quoted\" \\\\ help\\nof two lines\n"
            "# TYPE c counter\n"
            "c{v=\"q\\\" b\\\\ n\\n \xEF\xBF\xBD\"} 1\n");
}

TEST(MetricsTest, HistogramsRenderCumulativeBucketsSumAndCount) {
  Metrics registry;
  Histogram& histogram = registry.histogram("h_seconds", "Latency", {{"s", "x"}});
  histogram.observe(0.0005);  // on a bound: in that bucket
  histogram.observe(0.0006);
  histogram.observe(61);
  const std::string text = registry.render();
  for (const char* line : {"# TYPE h_seconds histogram\n", "h_seconds_bucket{s=\"x\",le=\"0.0005\"} 1\n",
                           "h_seconds_bucket{s=\"x\",le=\"0.001\"} 2\n", "h_seconds_bucket{s=\"x\",le=\"1\"} 2\n",
                           "h_seconds_bucket{s=\"x\",le=\"60\"} 2\n", "h_seconds_bucket{s=\"x\",le=\"+Inf\"} 3\n",
                           "h_seconds_sum{s=\"x\"} 61.0011\n", "h_seconds_count{s=\"x\"} 3\n"}) {
    EXPECT_NE(text.find(line), std::string::npos) << line << text;
  }
}

TEST(MetricsTest, AnHistogramSurvivesAnyNumber) {
  Histogram histogram;
  for (const double odd :
       {-1.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(), 1e300}) {
    histogram.observe(odd);
  }
  EXPECT_EQ(histogram.count(), 4u);
  EXPECT_EQ(histogram.bucket(0), 2u);
}

TEST(MetricsTest, SeveralThreadsMayRegisterCountAndRenderAtOnce) {
  Metrics registry;
  constexpr int kThreads = 4;
  constexpr int kRounds = 500;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < kRounds; ++i) {
        registry.counter("c", "h", {{"i", std::to_string(i % 10)}}).add();
        registry.histogram("d", "h").observe(0.01);
        if (i % 100 == 0) {
          EXPECT_FALSE(registry.render().empty());
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::uint64_t sum = 0;
  for (int i = 0; i < 10; ++i) sum += registry.counter("c", "h", {{"i", std::to_string(i)}}).value();
  EXPECT_EQ(sum, std::uint64_t{kThreads} * kRounds);
}

TEST(MetricsDeathTest, OneNameHasOneType) {
  Metrics registry;
  registry.counter("x", "h");
  EXPECT_DEATH(registry.gauge("x", "h"), "check failed");
}

TEST(MetricsTest, TheProcesssRegistryIsOne) {
  EXPECT_EQ(&metrics(), &metrics());
}

}  // namespace
}  // namespace hookonce
