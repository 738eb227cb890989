#include "store/event_filter.h"

#include <gtest/gtest.h>

#include "test/support/asserts.h"
#include "test/support/event_builder.h"

namespace hookonce {
namespace {

TEST(EventFilter, ContainsIgnoresAsciiLetterCaseOnly) {
  EXPECT_TRUE(contains("Hello", "hELL"));
  EXPECT_TRUE(contains("", ""));
  EXPECT_FALSE(contains("", "x"));
  EXPECT_FALSE(contains("\xc3\x84", "\xc3\xa4"));  // other alphabets are bytes
  EXPECT_FALSE(contains("[", "{"));                // 0x5b and 0x7b are no letters
  EXPECT_TRUE(contains(std::string_view("a\0B", 3), std::string_view("\0b", 2)));
}

TEST(EventFilter, SinceIsInclusiveAndUntilExclusive) {
  EventSummary summary;
  summary.received_at = kTestStart;
  EXPECT_TRUE(matches_fields({.since = kTestStart}, summary));
  EXPECT_FALSE(matches_fields({.since = kTestStart + Duration(1)}, summary));
  EXPECT_FALSE(matches_fields({.until = kTestStart}, summary));
  EXPECT_TRUE(matches_fields({.until = kTestStart + Duration(1)}, summary));
}

TEST(EventFilter, AnEventThatShowsAKeyMatchesThatOneAlone) {
  EventSummary summary;
  EXPECT_TRUE(matches_fields({.key = "k"}, summary)) << "a batch; whether it held the key, the backend knows";
  summary.key = "k";
  EXPECT_TRUE(matches_fields({.key = "k"}, summary));
  EXPECT_FALSE(matches_fields({.key = ""}, summary));
}

TEST(EventFilter, CursorsComeBackAsTheyWere) {
  EXPECT_EQ(parse_cursor(format_cursor(42)).value(), 42);
  EXPECT_EQ(parse_cursor("not one").code(), Code::kInvalid);
  EXPECT_EQ(parse_cursor("99999999999999999999").code(), Code::kInvalid);
}

}  // namespace
}  // namespace hookonce
