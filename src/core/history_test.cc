#include "core/history.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "core/destination_counters.h"
#include "test/support/manual_clock.h"

namespace hookonce {
namespace {

class HistoryTest : public testing::Test {
 protected:
  void accept(const std::string& source, std::uint64_t count) {
    totals_.sources[source].accepted += count;
    history_.add(clock_.now(), totals_);
  }
  std::vector<std::uint64_t> accepted(int minutes) {
    std::vector<std::uint64_t> counts;
    for (const HistoryPoint& point : history_.last(minutes)) counts.push_back(point.arrivals.accepted);
    return counts;
  }
  using Counts = std::vector<std::uint64_t>;

  ManualClock clock_{Time(std::chrono::minutes(30'000'000)) + std::chrono::seconds(50)};
  Totals totals_;
  History history_{clock_.now(), {}};
};

TEST_F(HistoryTest, AYoungProcessHasFewerPointsThanAreAskedFor) {
  EXPECT_EQ(accepted(60), Counts{0});
  accept("shop", 2);
  clock_.advance(std::chrono::seconds(10));
  accept("shop", 3);
  clock_.advance(std::chrono::seconds(59));
  accept("shop", 4);
  EXPECT_EQ(accepted(60), (Counts{2, 7}));
  EXPECT_EQ(accepted(1), Counts{7}) << "the current minute is the last one";
  EXPECT_EQ(history_.last(2).front().at, Time(std::chrono::minutes(30'000'000)));
  EXPECT_EQ(history_.last(2).back().at, Time(std::chrono::minutes(30'000'001)));
}

TEST_F(HistoryTest, WhatWasCountedBeforeIsNobodysMinute) {
  totals_.sources["shop"].accepted = 1000;
  totals_.deliveries.dead = 1000;
  History history(clock_.now(), totals_);
  totals_.sources["shop"].accepted = 1001;
  totals_.sources["new"].accepted = 5;
  totals_.deliveries.dead = 1002;
  history.add(clock_.now(), totals_);
  ASSERT_EQ(history.last(60).size(), 1u);
  EXPECT_EQ(history.last(60)[0].arrivals.accepted, 6u);
  EXPECT_EQ(history.last(60)[0].deliveries->dead, 2u);
}

TEST_F(HistoryTest, EveryCountIsTheDifferenceToTheMinuteBefore) {
  ArrivalCounts& shop = totals_.sources["shop"];
  DeliveryCounts& deliveries = totals_.deliveries;
  for (std::uint64_t n : {1, 2}) {
    shop.accepted += n;
    shop.rejected += 10 * n;
    for (std::size_t i = 0; i < shop.duplicates.size(); ++i) shop.duplicates[i] += n + i;
    shop.answers[3] += n;
    deliveries.delivered += 3 * n;
    deliveries.dead += 4 * n;
    deliveries.seconds[7] += n;
    history_.add(clock_.now(), totals_);
    for (const auto& point : {history_.last(1)[0], history_.last(1, "shop")[0]}) {
      EXPECT_EQ(point.arrivals.accepted, n);
      EXPECT_EQ(point.arrivals.rejected, 10 * n);
      for (std::size_t i = 0; i < shop.duplicates.size(); ++i) EXPECT_EQ(point.arrivals.duplicates[i], n + i);
      EXPECT_EQ(point.arrivals.answers[3], n);
    }
    const auto counted = history_.last(1)[0].deliveries;
    EXPECT_EQ(counted->delivered, 3 * n);
    EXPECT_EQ(counted->dead, 4 * n);
    EXPECT_EQ(counted->seconds[7], n);
    clock_.advance(std::chrono::minutes(1));
  }
}

TEST_F(HistoryTest, OfOneSourceItHoldsItsArrivalsAndNoDeliveries) {
  accept("shop", 2);
  accept("other", 5);
  clock_.advance(std::chrono::minutes(1));
  accept("other", 7);
  const auto shop = history_.last(60, "shop");
  ASSERT_EQ(shop.size(), 2u);
  EXPECT_EQ(shop[0].arrivals.accepted, 2u);
  EXPECT_EQ(shop[1].arrivals.accepted, 0u);
  EXPECT_FALSE(shop[0].deliveries);
  EXPECT_EQ(history_.last(60, "nobody").size(), 2u);
  EXPECT_EQ(accepted(60), (Counts{7, 7}));
}

TEST_F(HistoryTest, MinutesInWhichNobodyAddedAreThereAndEmpty) {
  accept("shop", 1);
  clock_.advance(std::chrono::minutes(3));
  accept("shop", 2);
  EXPECT_EQ(accepted(60), (Counts{1, 0, 0, 2}));
}

TEST_F(HistoryTest, ADayIsKept) {
  for (int minute = 0; minute < kHistoryMinutesMax + 5; ++minute) {
    accept("shop", static_cast<std::uint64_t>(minute));
    clock_.advance(std::chrono::minutes(1));
  }
  const Counts counts = accepted(kHistoryMinutesMax);
  ASSERT_EQ(counts.size(), static_cast<std::size_t>(kHistoryMinutesMax));
  EXPECT_EQ(counts.front(), 5u);
  EXPECT_EQ(counts.back(), static_cast<std::uint64_t>(kHistoryMinutesMax + 4));
}

TEST_F(HistoryTest, AClockThatJumpsADayAheadLeavesAnEmptyDay) {
  accept("shop", 3);
  clock_.advance(std::chrono::hours(24 * 365));
  accept("shop", 4);
  const Counts counts = accepted(kHistoryMinutesMax);
  ASSERT_EQ(counts.size(), static_cast<std::size_t>(kHistoryMinutesMax));
  EXPECT_EQ(counts.back(), 4u);
  EXPECT_EQ(std::count(counts.begin(), counts.end(), 0u), kHistoryMinutesMax - 1);
  const auto points = history_.last(kHistoryMinutesMax);
  for (std::size_t i = 1; i < points.size(); ++i) EXPECT_EQ(points[i].at - points[i - 1].at, std::chrono::minutes(1));
}

TEST_F(HistoryTest, AClockThatJumpsBackCountsForTheCurrentMinute) {
  accept("shop", 3);
  clock_.advance(-std::chrono::hours(48));
  accept("shop", 4);
  EXPECT_EQ(accepted(60), Counts{7});
  clock_.advance(std::chrono::hours(48) + std::chrono::minutes(1));
  accept("shop", 5);
  EXPECT_EQ(accepted(60), (Counts{7, 5}));
}

// Two threads count, and the one that counted first adds last.
TEST_F(HistoryTest, OlderTotalsChangeNothing) {
  Totals older = totals_;
  older.sources["shop"].accepted = 2;
  accept("shop", 5);
  history_.add(clock_.now(), older);
  EXPECT_EQ(accepted(60), Counts{5});
  accept("shop", 1);
  EXPECT_EQ(accepted(60), Counts{6});
}

TEST_F(HistoryTest, WithManyBusySourcesTheOldestPartsGoAndTheSumsStay) {
  History history(clock_.now(), {}, 4);
  for (int minute = 0; minute < 3; ++minute) {
    for (const char* source : {"a", "b"}) ++totals_.sources[source].accepted;
    history.add(clock_.now(), totals_);
    clock_.advance(std::chrono::minutes(1));
  }
  const auto sums = history.last(60);
  ASSERT_EQ(sums.size(), 3u);
  for (const HistoryPoint& point : sums) EXPECT_EQ(point.arrivals.accepted, 2u);
  const auto parts = history.last(60, "a");
  ASSERT_EQ(parts.size(), 2u) << "a minute whose parts are gone is no empty minute";
  EXPECT_EQ(parts.front().at, sums[1].at);
  for (const HistoryPoint& point : parts) EXPECT_EQ(point.arrivals.accepted, 1u);
}

TEST(CountTotals, IsWhatTheCountersSay) {
  const Totals before = count_totals();
  SourceCounters& counters = source_counters("count_totals_test");
  counters.accepted.add(3);
  counters.duplicate(Cause::kProviderRetry).add(2);
  counters.refuse(Refusal::kSignatureMismatch, Time(std::chrono::seconds(1790000000)));
  counters.refuse(Refusal::kOverloaded, Time(std::chrono::seconds(1790000000)));
  counters.answer_seconds.observe(0.02);
  destination_counters("count_totals_test").delivered.add(4);
  delivery_counters().dead.add(5);
  delivery_counters().seconds.observe(1000);
  const Totals totals = count_totals();
  const ArrivalCounts& arrivals = totals.sources.at("count_totals_test");
  EXPECT_EQ(arrivals.accepted, 3u);
  EXPECT_EQ(arrivals.duplicates[0], 2u);
  EXPECT_EQ(arrivals.rejected, 1u);
  EXPECT_EQ(arrivals.answers, buckets_of(counters.answer_seconds));
  EXPECT_EQ(totals.deliveries.delivered - before.deliveries.delivered, 4u);
  EXPECT_EQ(totals.deliveries.dead - before.deliveries.dead, 5u);
  EXPECT_EQ(totals.deliveries.seconds.back() - before.deliveries.seconds.back(), 1u);
}

// Goal: nothing is lost or counted twice while the counters grow. Method: one thread counts, two add to the history.
TEST(CountTotals, WhatGrowsMeanwhileIsCountedOnce) {
  SourceCounters& counters = source_counters("count_totals_race");
  const Time now{std::chrono::seconds(1790000000)};
  History history(now, count_totals());
  std::atomic<bool> done{false};
  std::vector<std::thread> readers;
  for (int i = 0; i < 2; ++i) {
    readers.emplace_back([&] {
      while (!done) history.add(now, count_totals());
    });
  }
  constexpr std::uint64_t kMany = 100'000;
  for (std::uint64_t i = 0; i < kMany; ++i) {
    counters.accepted.add();
    counters.answer_seconds.observe(i % 100 == 0 ? 1000 : 0.02);
  }
  done = true;
  for (std::thread& reader : readers) reader.join();
  history.add(now, count_totals());
  const HistoryPoint point = history.last(1, "count_totals_race").at(0);
  EXPECT_EQ(point.arrivals.accepted, kMany);
  EXPECT_EQ(point.arrivals.answers.back(), kMany / 100);
  EXPECT_EQ(point.arrivals.answers[5], kMany - kMany / 100);
}

}  // namespace
}  // namespace hookonce
