#include "store/commit_watch.h"

#include <gtest/gtest.h>

#include "test/support/asserts.h"

namespace hookonce {
namespace {

TEST(CommitWatch, OneThatRunsLongerThanAnybodyWaitsIsToldUntilItHasEnded) {
  CommitWatch watch;
  const Duration much_later = steady_now() + std::chrono::hours(1);
  EXPECT_OK(watch.status(much_later));
  {
    const CommitWatch::Running running = watch.begin();
    EXPECT_OK(watch.status());
    EXPECT_EQ(watch.status(much_later).code(), Code::kUnavailable);
  }
  EXPECT_OK(watch.status(much_later));
}

}  // namespace
}  // namespace hookonce
