#include "cli/terminal.h"

#include <gtest/gtest.h>

namespace hookonce {
namespace {

TEST(PrintableJson, HasNoCharacterThatATerminalActsOnAndReadsBackTheSame) {
  const json::value value{{"key\xc2\x9b", "evt_\x1b\xc2\x80\xc2\x9f\x7f\xe2\x80\xae\xe2\x81\xa6"}, {"ok", "grüße 事"}};
  const std::string text = printable_json(value);
  EXPECT_EQ(text, R"({"key\u009b":"evt_\u001b\u0080\u009f\u007f\u202e\u2066","ok":"grüße 事"})");
  EXPECT_EQ(*parse_json(text), value);
  EXPECT_EQ(printable_json(json::object{{"n", 0.5}}), R"({"n":0.5})");
}

TEST(Colour, NeedsATerminalThatShowsIt) {
  EXPECT_TRUE(wants_colour({true, nullptr, "xterm-256color"}));
  EXPECT_FALSE(wants_colour({false, nullptr, "xterm-256color"}));
  EXPECT_FALSE(wants_colour({true, nullptr, "dumb"}));
  EXPECT_FALSE(wants_colour({true, nullptr, nullptr}));
}

TEST(Colour, IsOffWithNoColorUnlessThatIsEmpty) {
  EXPECT_FALSE(wants_colour({true, "1", "xterm"}));
  EXPECT_TRUE(wants_colour({true, "", "xterm"}));
}

TEST(Colour, LeavesPlainTextAlone) {
  EXPECT_EQ(painted("dead", Paint::kBad, false), "dead");
  EXPECT_EQ(painted("dead", Paint::kBad, true), "\033[31mdead\033[0m");
  EXPECT_EQ(painted("", Paint::kBad, true), "");
}

TEST(Printable, ShowsControlCharactersInsteadOfObeyingThem) {
  EXPECT_EQ(printable("a\033[2Jb"), "a\\x1b[2Jb");
  EXPECT_EQ(printable("a\nforged line"), "a\\x0aforged line");
  EXPECT_EQ(printable(std::string_view("\0", 1)), "\\x00");
  EXPECT_EQ(printable("\x7f"), "\\x7f");
  EXPECT_EQ(printable("\xc2\x9b"), "\\x9b");        // C1's own escape
  EXPECT_EQ(printable("\xe2\x80\xae"), "\\u202e");  // turns the line round
}

TEST(Printable, KeepsLinesWhereTheyAreWanted) {
  EXPECT_EQ(printable("a\n\tb\r", true), "a\n\tb\\x0d");
}

TEST(Printable, KeepsTextOfAllLanguagesAndMendsBrokenBytes) {
  EXPECT_EQ(printable("grüße 事件 🎉"), "grüße 事件 🎉");
  EXPECT_EQ(printable("a\xff"), "a\xef\xbf\xbd");
}

TEST(Width, CountsWideCharactersTwice) {
  EXPECT_EQ(width_of(""), 0U);
  EXPECT_EQ(width_of("abc"), 3U);
  EXPECT_EQ(width_of("grüße"), 5U);
  EXPECT_EQ(width_of("事件"), 4U);
}

TEST(Counted, AgreesWithItsNumber) {
  EXPECT_EQ(counted(0, "source"), "0 sources");
  EXPECT_EQ(counted(1, "source"), "1 source");
  EXPECT_EQ(counted(2, "source"), "2 sources");
  EXPECT_EQ(counted(1, "delivery"), "1 delivery");
  EXPECT_EQ(counted(2, "delivery"), "2 deliveries");
}

}  // namespace
}  // namespace hookonce
