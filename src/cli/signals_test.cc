#include "cli/signals.h"

#include <gtest/gtest.h>
#include <signal.h>

namespace hookonce {
namespace {

TEST(Signals, BecomeEventsInTheirOrder) {
  Signals signals(Signals::Hangup::kReloads);
  ::raise(SIGHUP);
  signals.wake();
  signals.wake();
  ::raise(SIGTERM);
  EXPECT_EQ(signals.wait(), Signals::Event::kReload);
  EXPECT_EQ(signals.wait(), Signals::Event::kWoken);
  EXPECT_EQ(signals.wait(), Signals::Event::kStop) << "two wakes before a wait are one event";
}

TEST(Signals, TakeAHangupForAStopWhereThereIsNothingToReload) {
  Signals signals(Signals::Hangup::kStops);
  ::raise(SIGHUP);
  EXPECT_EQ(signals.wait(), Signals::Event::kStop);
}

TEST(Signals, WakeAgainAfterEachWait) {
  Signals signals(Signals::Hangup::kReloads);
  for (int i = 0; i < 3; ++i) {
    signals.wake();
    EXPECT_EQ(signals.wait(), Signals::Event::kWoken);
  }
}

TEST(SignalsDeathTest, TheSecondStopEndsTheProcessAtOnce) {
  const auto stop_twice = [](int first, int second) {
    Signals signals(Signals::Hangup::kReloads);
    ::raise(first);
    ::raise(second);
  };
  EXPECT_EXIT(stop_twice(SIGTERM, SIGINT), testing::ExitedWithCode(128 + SIGINT), "");
  EXPECT_EXIT(stop_twice(SIGINT, SIGTERM), testing::ExitedWithCode(128 + SIGTERM), "");
}

TEST(SignalsDeathTest, AHangupBetweenIsNoSecondStop) {
  const auto stop_and_hang_up = [] {
    Signals signals(Signals::Hangup::kReloads);
    ::raise(SIGTERM);
    ::raise(SIGHUP);
    ::_exit(7);
  };
  EXPECT_EXIT(stop_and_hang_up(), testing::ExitedWithCode(7), "");
}

TEST(SignalsDeathTest, TheDefaultsReturn) {
  const auto after = [] {
    { Signals signals(Signals::Hangup::kReloads); }
    ::raise(SIGTERM);
  };
  EXPECT_EXIT(after(), testing::KilledBySignal(SIGTERM), "");
}

}  // namespace
}  // namespace hookonce
