#include "cli/live_lines.h"

#include <gmock/gmock.h>

#include "test/support/manual_clock.h"

namespace hookonce {
namespace {

using testing::HasSubstr;

struct Lines {
  int wakes = 0;
  ManualClock clock;
  LiveLines lines{clock, false, "/in/shop", [this] { ++wakes; }};
};

Lease lease() {
  Lease lease;
  lease.destination = "backend";
  lease.type = "invoice.paid";
  lease.attempt = 2;
  return lease;
}

TEST(LiveLines, TellWhatArrived) {
  Lines live;
  const std::string source = "shop", type = "invoice.paid", none;
  const std::optional<std::string> key = "evt_1", no_key;
  AcceptFacts facts;
  live.lines.arrived({source, type, key, facts});
  facts.verdict = Verdict::kDuplicate;
  live.lines.arrived({source, none, no_key, facts, Cause::kConcurrentTwin, std::chrono::milliseconds(5)});
  live.lines.rejected("shop", "signature_mismatch", "no secret\nmade this");
  const std::string text = live.lines.take();
  EXPECT_THAT(text, HasSubstr("  accepted    shop  invoice.paid  evt_1  00000000-"));
  EXPECT_THAT(text,
              HasSubstr("  duplicate   shop  -  -  00000000-0000-0000-0000-000000000000  concurrent twin +5 ms\n"));
  EXPECT_THAT(text, HasSubstr("  rejected    shop  signature_mismatch: no secret\\x0amade this\n"));
  EXPECT_EQ(live.wakes, 3);
  EXPECT_EQ(live.lines.take(), "");
}

TEST(LiveLines, TellWhatWasFoundOutAboutARejectedRequest) {
  Lines live;
  live.lines.explained("shop", "the body was\nchanged");
  EXPECT_THAT(live.lines.take(), HasSubstr("  because     shop  the body was\\x0achanged\n"));
}

TEST(LiveLines, TellOfARequestToAWrongPath) {
  Lines live;
  live.lines.misdirected("POST", "/in/\nstripe");
  EXPECT_THAT(live.lines.take(),
              HasSubstr("  no source   POST /in/\\x0astripe  404; this gateway listens on /in/shop\n"));
  EXPECT_EQ(live.wakes, 1);
}

TEST(LiveLines, TellHowAnAttemptEnded) {
  Lines live;
  Settlement settlement;
  settlement.next = Next::kRetry;
  settlement.delay = std::chrono::milliseconds(1100);
  settlement.result.status = 500;
  settlement.result.duration = std::chrono::milliseconds(12);
  live.lines.settled(lease(), settlement, {true, EventState::kPending});
  EXPECT_THAT(live.lines.take(), HasSubstr("  failed      backend  invoice.paid  00000000-0000-0000-0000-000000000000  "
                                           "attempt 2  12 ms  500  again in 1.1 s\n"));
  settlement.next = Next::kDelivered;
  live.lines.settled(lease(), settlement, {true, EventState::kDelivered});
  EXPECT_THAT(live.lines.take(), HasSubstr("  delivered   backend"));
}

TEST(LiveLines, LeaveOutAnOutcomeThatChangedNothing) {
  Lines live;
  live.lines.settled(lease(), Settlement(), {false, EventState::kPending});
  EXPECT_EQ(live.lines.take(), "");
  EXPECT_EQ(live.wakes, 0);
}

TEST(LiveLines, CountWhatATerminalThatStandsStillMissed) {
  Lines live;
  for (std::size_t i = 0; i < kLiveLinesMax + 3; ++i) live.lines.rejected("shop", "c", "m");
  const std::string text = live.lines.take();
  EXPECT_THAT(text, testing::EndsWith("3 lines not shown\n"));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), static_cast<std::ptrdiff_t>(kLiveLinesMax + 1));
}

}  // namespace
}  // namespace hookonce
