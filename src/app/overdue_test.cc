#include "app/overdue.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <memory>
#include <thread>

namespace hookonce {
namespace {

constexpr Duration kNever = std::chrono::hours(1);  // longer than any test

TEST(Overdue, TellsOnceOnAThreadOfItsOwnWhenTheLimitHasPassed) {
  std::promise<std::thread::id> told;
  std::atomic<int> times{0};
  const Duration began = steady_now();
  {
    const Overdue watch(std::chrono::milliseconds(5), [&] {
      ++times;
      told.set_value(std::this_thread::get_id());
    });
    EXPECT_NE(told.get_future().get(), std::this_thread::get_id());
    EXPECT_GE(steady_now() - began, std::chrono::milliseconds(5));
  }
  EXPECT_EQ(times, 1);
}

TEST(Overdue, TellsNobodyWhatEndedInTime) {
  bool told = false;
  const Duration began = steady_now();
  {
    const Overdue watch(kNever, [&told] { told = true; });
  }
  EXPECT_FALSE(told);
  EXPECT_LT(steady_now() - began, kNever) << "its end does not wait for the limit";
}

TEST(Overdue, ALimitThatIsOverAlreadyIsToldAtOnce) {
  std::promise<void> told;
  const Overdue watch(Duration::zero(), [&told] { told.set_value(); });
  told.get_future().wait();
}

TEST(Overdue, WaitsForTheTellingThatHasBegun) {
  std::promise<void> telling;
  std::promise<void> go_on;
  std::atomic<bool> ended{false};
  auto watch = std::make_unique<Overdue>(Duration::zero(), [&] {
    telling.set_value();
    go_on.get_future().wait();
    ended = true;
  });
  telling.get_future().wait();
  std::promise<bool> seen;
  std::thread ending([&] {
    watch.reset();
    seen.set_value(ended);
  });
  go_on.set_value();
  EXPECT_TRUE(seen.get_future().get());
  ending.join();
}

TEST(Overdue, NobodyToTellMeansNoWatch) {
  const Overdue watch(Duration::zero(), nullptr);
}

}  // namespace
}  // namespace hookonce
