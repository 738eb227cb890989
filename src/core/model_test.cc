#include "core/model.h"

#include <gtest/gtest.h>

namespace hookonce {
namespace {

using std::chrono::milliseconds;

constexpr std::array<std::uint8_t, 10> kAllOnes = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};

TEST(EventId, IsAVersionSevenUuidWithItsTimeInFront) {
  const EventId id = EventId::make(Time(milliseconds(0x017f22e279b0)), kAllOnes);
  EXPECT_EQ(id.text(), "017f22e2-79b0-7fff-bfff-ffffffffffff");
}

TEST(EventId, ReadsBackWhatItWritesInEitherLetterCase) {
  const EventId id = EventId::make(Time(milliseconds(1790000000123)));
  EXPECT_EQ(EventId::parse(id.text()), id);
  EXPECT_EQ(EventId::parse("017F22E2-79B0-7FFF-BFFF-FFFFFFFFFFFF")->text(), "017f22e2-79b0-7fff-bfff-ffffffffffff");
}

TEST(EventId, RefusesWhatIsNoUuid) {
  for (const char* text : {"", "evt_1", "017f22e279b07fffbfffffffffffffffffff", "017f22e2-79b0-7fff-bfff-fffffffffff",
                           "017f22e2-79b0-7fff-bfff-ffffffffffffa", "017f22e2-79b0-7fff-bfff-fffffffffffg",
                           "017f22e-279b0-7fff-bfff-ffffffffffff", "017f22e2-79b0-7fff-bfff--fffffffffff"}) {
    EXPECT_FALSE(EventId::parse(text).has_value()) << text;
  }
}

TEST(EventId, SortsByTimeAndDiffersWithinOneMillisecond) {
  const Time now(milliseconds(1790000000123));
  EXPECT_LT(EventId::make(now, kAllOnes), EventId::make(now + milliseconds(1), {}));
  EXPECT_NE(EventId::make(now), EventId::make(now));
}

TEST(EventId, ATimeBeforeTheEpochCountsAsTheEpoch) {
  EXPECT_EQ(EventId::make(Time(milliseconds(-5)), {}).text(), "00000000-0000-7000-8000-000000000000");
}

TEST(Model, StatesReadBackWhatTheyWrite) {
  for (const EventState state : {EventState::kPending, EventState::kDelivered, EventState::kDead}) {
    EXPECT_EQ(parse_event_state(to_string(state)), state);
  }
  EXPECT_EQ(to_string(DeliveryState::kPending), "pending");
  EXPECT_EQ(to_string(DeliveryState::kInFlight), "in_flight");
  EXPECT_EQ(to_string(DeliveryState::kDelivered), "delivered");
  EXPECT_EQ(to_string(DeliveryState::kDead), "dead");
  EXPECT_EQ(to_string(HeldBy::kLine), "line");
  EXPECT_EQ(to_string(HeldBy::kPaused), "paused");
  EXPECT_FALSE(parse_event_state("in_flight").has_value());
}

TEST(Model, ItemsAreWrittenAndReadAlike) {
  std::string items;
  for (const std::size_t index : {0, 3, 999}) add_item(items, index);
  EXPECT_EQ(items, "0,3,999");
  EXPECT_EQ(parse_items(items), (std::vector<std::size_t>{0, 3, 999}));
  EXPECT_TRUE(parse_items("").empty());
  EXPECT_TRUE(parse_items("1,x").empty());
}

TEST(Model, OutcomesAndVerdictsHaveTheContractsWords) {
  EXPECT_EQ(to_string(Outcome::kSuccess), "success");
  EXPECT_EQ(to_string(Outcome::kFailed), "failed");
  EXPECT_EQ(to_string(Outcome::kUnknown), "unknown");
  EXPECT_EQ(to_string(Outcome::kReleased), "released");
  EXPECT_EQ(to_string(Verdict::kAccepted), "accepted");
  EXPECT_EQ(to_string(Verdict::kDuplicate), "duplicate");
  EXPECT_EQ(to_string(Verdict::kRearmed), "rearmed");
}

}  // namespace
}  // namespace hookonce
