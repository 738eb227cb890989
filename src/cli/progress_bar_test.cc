#include "cli/progress_bar.h"

#include <gtest/gtest.h>

namespace hookonce {
namespace {

TEST(ProgressBar, ShowsTheWayInFullAtBothEnds) {
  EXPECT_EQ(bar_text("events", 0, 20), "  events  [                    ]   0 %  0 of 20");
  EXPECT_EQ(bar_text("events", 10, 20), "  events  [##########          ]  50 %  10 of 20");
  EXPECT_EQ(bar_text("events", 20, 20), "  events  [####################] 100 %  20 of 20");
  EXPECT_EQ(bar_text("events", 0, 0), "  events  [####################] 100 %  0 of 0");
}

TEST(ProgressBar, PlainFormPrintsAtMostTenLinesAndTheLast) {
  for (std::size_t total : {1u, 2u, 7u, 10u, 99u, 1000u}) {
    std::size_t lines = 0;
    for (std::size_t done = 1; done <= total; ++done) lines += is_milestone(done - 1, done, total) ? 1 : 0;
    EXPECT_LE(lines, 10u) << total;
    EXPECT_TRUE(is_milestone(total - 1, total, total)) << total;
    EXPECT_FALSE(is_milestone(0, 0, total)) << total;
  }
}

TEST(ProgressBar, StepsOfManyPassNoMilestoneUnseen) {
  EXPECT_TRUE(is_milestone(50, 350, 1000));
  EXPECT_FALSE(is_milestone(310, 390, 1000));
  EXPECT_TRUE(is_milestone(990, 1000, 1000));
}

}  // namespace
}  // namespace hookonce
