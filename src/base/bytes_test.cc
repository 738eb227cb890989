#include "base/bytes.h"

#include <gtest/gtest.h>

namespace hookonce {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

std::string all_bytes() {
  std::string bytes;
  for (int c = 0; c < 256; ++c) bytes.push_back(static_cast<char>(c));
  return bytes;
}

TEST(Hex, EveryByteComesBackInEitherCase) {
  const std::string bytes = all_bytes();
  const std::string hex = to_hex(bytes);
  EXPECT_EQ(hex.substr(0, 6), "000102");
  EXPECT_EQ(hex.substr(hex.size() - 4), "feff");
  EXPECT_EQ(from_hex(hex), bytes);
  EXPECT_EQ(from_hex("DEADbeef"), "\xDE\xAD\xBE\xEF");
  EXPECT_EQ(from_hex(""), "");
}

TEST(Hex, OddLengthAndForeignCharactersAreRefused) {
  for (const char* text : {"a", "abc", "0g", "g0", " 00", "0x", "00 ", "-1"}) EXPECT_EQ(from_hex(text), std::nullopt);
}

TEST(Base64, TheVectorsOfRfc4648HoldBothWays) {
  const std::pair<const char*, const char*> vectors[] = {{"", ""},
                                                         {"f", "Zg=="},
                                                         {"fo", "Zm8="},
                                                         {"foo", "Zm9v"},
                                                         {"foob", "Zm9vYg=="},
                                                         {"fooba", "Zm9vYmE="},
                                                         {"foobar", "Zm9vYmFy"}};
  for (const auto& [plain, encoded] : vectors) {
    EXPECT_EQ(to_base64(plain), encoded);
    EXPECT_EQ(from_base64(encoded), plain);
  }
  EXPECT_EQ(from_base64(to_base64(all_bytes())), all_bytes());
}

TEST(Base64, ExactlyOneTextStandsForEachByteString) {
  // All texts of one group over a few telling characters: what decodes must encode to the same text.
  constexpr std::string_view kLetters = "AQgw/+=-_ \n";
  std::size_t decoded_ones = 0;
  for (const char a : kLetters) {
    for (const char b : kLetters) {
      for (const char c : kLetters) {
        for (const char d : kLetters) {
          const std::string text{a, b, c, d};
          const auto decoded = from_base64(text);
          if (!decoded) continue;
          ++decoded_ones;
          EXPECT_EQ(to_base64(*decoded), text);
        }
      }
    }
  }
  EXPECT_GT(decoded_ones, 6u * 6 * 6 * 6);
}

TEST(Base64, LooseFormsAreRefused) {
  for (const char* text : {"Zg", "Zg=", "Zg===", "Z", "=", "====", "Zg==Zg==", "Zm9v ", "Zm9v\n", " Zm9v", "Zm-_",
                           "Zh==", "Zm9=", "Z===", "=m9v", "Zm=v"}) {
    EXPECT_EQ(from_base64(text), std::nullopt) << text;
  }
}

TEST(Percent, EveryByteComesBack) {
  EXPECT_EQ(percent_encode("a b/~-._"), "a%20b%2F~-._");
  EXPECT_EQ(percent_decode(percent_encode(all_bytes()), false), all_bytes());
  EXPECT_EQ(percent_decode(percent_encode(all_bytes()), true), all_bytes());
}

TEST(Percent, PlusIsABlankOnlyWhereAsked) {
  EXPECT_EQ(percent_decode("a+b%2B", true), "a b+");
  EXPECT_EQ(percent_decode("a+b%2b", false), "a+b+");
}

TEST(Percent, BadEscapesAreRefused) {
  for (const char* text : {"%", "%4", "a%", "%zz", "%4g", "%%41", "% 1"}) {
    EXPECT_EQ(percent_decode(text, false), std::nullopt) << text;
  }
}

TEST(Form, PairsComeDecodedAndInOrder) {
  using Pairs = std::vector<std::pair<std::string, std::string>>;
  EXPECT_EQ(parse_form("b=1&a=x%3Dy&b=%26+2"), (Pairs{{"b", "1"}, {"a", "x=y"}, {"b", "& 2"}}));
  EXPECT_EQ(parse_form(""), Pairs{});
  EXPECT_EQ(parse_form("&&a&=b&c="), (Pairs{{"a", ""}, {"", "b"}, {"c", ""}}));
  EXPECT_EQ(parse_form("a=b=c"), (Pairs{{"a", "b=c"}}));
}

TEST(Form, OneBadEscapeRefusesTheWhole) {
  EXPECT_EQ(parse_form("a=1&b=%"), std::nullopt);
  EXPECT_EQ(parse_form("%4=1"), std::nullopt);
}

// The rules of RFC 3629 by code point, to compare with.
bool decodes_as_utf8(const std::string& bytes) {
  std::size_t i = 0;
  while (i < bytes.size()) {
    const auto lead = static_cast<unsigned char>(bytes[i++]);
    const int more = lead < 0x80 ? 0 : lead >> 5 == 6 ? 1 : lead >> 4 == 14 ? 2 : lead >> 3 == 30 ? 3 : -1;
    if (more < 0) return false;
    std::uint32_t point = more == 0 ? lead : lead & (0x3F >> more);
    for (int k = 0; k < more; ++k) {
      if (i == bytes.size() || (static_cast<unsigned char>(bytes[i]) & 0xC0) != 0x80) return false;
      point = point << 6 | (static_cast<unsigned char>(bytes[i++]) & 0x3F);
    }
    const std::uint32_t smallest[] = {0, 0x80, 0x800, 0x10000};
    if (point < smallest[more] || point > 0x10FFFF || (point >= 0xD800 && point <= 0xDFFF)) return false;
  }
  return true;
}

TEST(Utf8, EverySequenceOfFourTellingBytesIsJudgedAsTheStandardSays) {
  const unsigned char bytes[] = {0x00, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC1, 0xC2,
                                 0xDF, 0xE0, 0xE1, 0xED, 0xEE, 0xEF, 0xF0, 0xF3, 0xF4, 0xF5};
  for (const unsigned char a : bytes) {
    for (const unsigned char b : bytes) {
      for (const unsigned char c : bytes) {
        for (const unsigned char d : bytes) {
          const std::string text{static_cast<char>(a), static_cast<char>(b), static_cast<char>(c),
                                 static_cast<char>(d)};
          const bool expected = decodes_as_utf8(text);
          ASSERT_EQ(is_utf8(text), expected) << to_hex(text);
          ASSERT_EQ(is_utf8("seven !" + text + "and a longer tail"), expected) << to_hex(text);
          ASSERT_TRUE(decodes_as_utf8(to_utf8(text))) << to_hex(text);
          ASSERT_EQ(to_utf8(text) == text, expected) << to_hex(text);
        }
      }
    }
  }
}

TEST(Utf8, ABrokenSequenceBecomesOneReplacementAndItsNeighboursStay) {
  const std::string r = "\xEF\xBF\xBD";
  EXPECT_EQ(to_utf8("a\xFFz"), "a" + r + "z");
  EXPECT_EQ(to_utf8("a\xE2\x82z"), "a" + r + "z");
  EXPECT_EQ(to_utf8("a\xC3"), "a" + r);
  EXPECT_EQ(to_utf8("\xE2\x82\xE2\x82\xAC"), r + "\xE2\x82\xAC");
  EXPECT_EQ(to_utf8("\x80\x80"), r + r);
}

TEST(Utf8, ABreakAtAnyPlaceOfALongTextIsFound) {
  std::string text(100, 'x');
  for (std::size_t i = 0; i < text.size(); ++i) {
    text[i] = '\xFF';
    EXPECT_FALSE(is_utf8(text)) << i;
    text[i] = 'x';
  }
  EXPECT_TRUE(is_utf8(text));
  EXPECT_TRUE(is_utf8(""));
}

TEST(Text, LetterCaseIsAsciiOnly) {
  EXPECT_TRUE(equals_ignore_case("X-Hub-Signature", "x-hub-SIGNATURE"));
  EXPECT_FALSE(equals_ignore_case("a", "ab"));
  EXPECT_FALSE(equals_ignore_case("@", "`"));
  EXPECT_FALSE(equals_ignore_case("[", "{"));
  EXPECT_FALSE(equals_ignore_case("\xC4", "\xE4"));
  EXPECT_EQ(to_lower("AZ[\xC4"), "az[\xC4");
}

TEST(Text, TrimTakesBlanksAndTabsAtBothEnds) {
  EXPECT_EQ(trim(" \t a b\t "), "a b");
  EXPECT_EQ(trim(" \t "), "");
  EXPECT_EQ(trim(""), "");
  EXPECT_EQ(trim("\na\r"), "\na\r");
}

TEST(Text, SplitAndJoinAreInverse) {
  using Parts = std::vector<std::string_view>;
  EXPECT_EQ(split("a,b,,c", ','), (Parts{"a", "b", "", "c"}));
  EXPECT_EQ(split("", ','), (Parts{""}));
  EXPECT_EQ(split(",", ','), (Parts{"", ""}));
  EXPECT_EQ(join({"a", "", "c"}, ", "), "a, , c");
  EXPECT_EQ(join({}, ","), "");
}

TEST(Digits, OnlyUnsignedDecimalDigitsAreANumber) {
  EXPECT_EQ(parse_digits("0"), 0);
  EXPECT_EQ(parse_digits("007"), 7);
  EXPECT_EQ(parse_digits("999999999999999999"), 999999999999999999);
  for (const char* text : {"", "-1", "+1", " 1", "1 ", "1.0", "0x1", "1e3", "1000000000000000000", "\xD9\xA1"}) {
    EXPECT_EQ(parse_digits(text), std::nullopt) << text;
  }
}

TEST(Durations, EachUnitIsRead) {
  EXPECT_EQ(parse_duration("250ms"), milliseconds(250));
  EXPECT_EQ(parse_duration("10s"), seconds(10));
  EXPECT_EQ(parse_duration("5m"), seconds(300));
  EXPECT_EQ(parse_duration("24h"), hours(24));
  EXPECT_EQ(parse_duration("30d"), hours(720));
  EXPECT_EQ(parse_duration("0s"), seconds(0));
}

TEST(Durations, OtherFormsAndOverlongOnesAreRefused) {
  for (const char* text : {"", "10", "s", "1.5h", "-1s", "+1s", "1 s", " 1s", "1s ", "1S", "1min", "1us", "1h30m",
                           "36501d", "999999999999999999d", "999999999999999999ms", "9999999999999999999s"}) {
    EXPECT_EQ(parse_duration(text), std::nullopt) << text;
  }
  EXPECT_EQ(parse_duration("36500d"), hours(24 * 36500));
}

TEST(Durations, TheShortestExactFormIsWritten) {
  EXPECT_EQ(format_duration(hours(24)), "1d");
  EXPECT_EQ(format_duration(hours(25)), "25h");
  EXPECT_EQ(format_duration(seconds(90)), "90s");
  EXPECT_EQ(format_duration(seconds(300)), "5m");
  EXPECT_EQ(format_duration(milliseconds(1500)), "1500ms");
  EXPECT_EQ(format_duration(Duration(0)), "0s");
  EXPECT_EQ(format_duration(Duration(1'999)), "1ms");
  EXPECT_EQ(format_duration(Duration(999)), "0s");
  EXPECT_EQ(format_duration(-seconds(60)), "-1m");
  for (const char* text : {"1ms", "999ms", "59s", "61s", "7m", "23h", "400d"}) {
    EXPECT_EQ(format_duration(*parse_duration(text)), text);
  }
}

TEST(Sizes, UnitsAndBareBytesAreReadAndWritten) {
  EXPECT_EQ(parse_size("64KiB"), 65536u);
  EXPECT_EQ(parse_size("1MiB"), 1048576u);
  EXPECT_EQ(parse_size("2GiB"), 2147483648u);
  EXPECT_EQ(parse_size("12B"), 12u);
  EXPECT_EQ(parse_size("1500"), 1500u);
  for (const char* text :
       {"", "KiB", "1KB", "1kib", "1.5MiB", "-1", "1 KiB", "999999999999999999", "999999999999GiB"}) {
    EXPECT_EQ(parse_size(text), std::nullopt) << text;
  }
  for (const char* text : {"0B", "1500B", "64KiB", "25MiB", "3GiB"}) EXPECT_EQ(format_size(*parse_size(text)), text);
}

TEST(Nearest, ASlipIsFoundAndAnotherWordIsNot) {
  const std::vector<std::string> keys = {"path",      "provider",   "secrets", "destinations",
                                         "dedup_key", "dedup_also", "rate"};
  EXPECT_EQ(nearest("secret", keys), "secrets");
  EXPECT_EQ(nearest("secerts", keys), "secrets");
  EXPECT_EQ(nearest("Provider", keys), "provider");
  EXPECT_EQ(nearest("destination", keys), "destinations");
  EXPECT_EQ(nearest("dedupkey", keys), "dedup_key");
  EXPECT_EQ(nearest("apth", keys), "path");
  EXPECT_EQ(nearest("completely", keys), std::nullopt);
  EXPECT_EQ(nearest("x", keys), std::nullopt);
  EXPECT_EQ(nearest("", keys), std::nullopt);
  EXPECT_EQ(nearest("path", {}), std::nullopt);
  EXPECT_EQ(nearest(std::string(10'000, 's'), keys), std::nullopt);
}

}  // namespace
}  // namespace hookonce
