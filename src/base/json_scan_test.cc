#include "base/json_scan.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "test/support/asserts.h"
#include "test/support/json_grammar.h"

namespace hookonce {
namespace {

using Kind = JsonScalar::Kind;

std::optional<JsonScalar> read(std::string_view document, const std::string& pointer) {
  const auto values = JsonScanner({pointer}).scan(document);
  EXPECT_OK(values);
  if (!values.ok()) return std::nullopt;
  return values->at(0);
}

bool valid(std::string_view document) {
  return JsonScanner({"/a", "/0", ""}).scan(document).ok();
}

JsonScalar text(std::string value) {
  return {Kind::kString, std::move(value)};
}
JsonScalar number(std::string value) {
  return {Kind::kNumber, std::move(value)};
}

std::string nested(std::size_t levels, std::string open, std::string close, std::string inner = "") {
  std::string out;
  for (std::size_t i = 0; i < levels; ++i) out += open;
  out += inner;
  for (std::size_t i = 0; i < levels; ++i) out += close;
  return out;
}

// The parser takes another way through a number or an escape where enough bytes follow, so each document is also tried
// with blanks behind it.
constexpr std::size_t kFastPathBlanks = 40;

struct Space {
  std::string_view begin;     // what every document begins with
  std::string_view alphabet;  // of what follows
  std::size_t length_max = 0;
};

// Goal: no document is taken or refused wrongly. Method: all texts up to a length over small alphabets, compared with
// the grammar written down a second time.
void compare_all(const Space& space) {
  const std::string blanks(kFastPathBlanks, ' ');
  std::vector<std::size_t> letters;
  std::size_t valid_ones = 0;
  while (true) {
    std::string document(space.begin);
    for (const std::size_t letter : letters) document.push_back(space.alphabet[letter]);
    const bool expected = JsonGrammar::valid(document);
    ASSERT_EQ(valid(document), expected) << document;
    ASSERT_EQ(valid(document + blanks), expected) << document << " and blanks";
    if (expected) ++valid_ones;

    std::size_t i = 0;  // count on, the first letter fastest
    while (i < letters.size() && letters[i] + 1 == space.alphabet.size()) letters[i++] = 0;
    if (i < letters.size()) {
      ++letters[i];
    } else if (letters.size() < space.length_max) {
      letters.push_back(0);
    } else {
      break;
    }
  }
  EXPECT_GT(valid_ones, 0u);
}

TEST(JsonScan, EveryShortStructureIsValidExactlyIfTheGrammarSaysSo) {
  compare_all({"", "[]{},:\"1", 5});
  compare_all({"[1", "[]{},:\"1", 5});
  compare_all({"{\"a\"", "[]{},:\"1", 5});
}

TEST(JsonScan, EveryShortNumberIsValidExactlyIfTheGrammarSaysSo) {
  compare_all({"", "-+.e01", 6});
  compare_all({"1e99999999999", "-+.e01", 3});
}

TEST(JsonScan, EveryShortEscapeIsValidExactlyIfTheGrammarSaysSo) {
  compare_all({"\"", "\\ud8n\"", 6});
  compare_all({"\"\\ud8d8\\", "\\udc8\"", 6});  // behind the first half of a pair
}

TEST(JsonScan, EverySingleByteIsValidOnlyAsADigit) {
  for (int c = 0; c < 256; ++c) {
    const std::string document(1, static_cast<char>(c));
    EXPECT_EQ(valid(document), c >= '0' && c <= '9') << c;
  }
}

TEST(JsonScan, EveryByteInsideAStringIsValidOnlyAsPrintableAscii) {
  for (int c = 0; c < 256; ++c) {
    const std::string document = std::string("\"") + static_cast<char>(c) + "\"";
    EXPECT_EQ(valid(document), c >= 0x20 && c < 0x80 && c != '"' && c != '\\') << c;
  }
}

TEST(JsonScan, PointersReadScalarsOfEachKind) {
  const std::string document =
      R"({"s":"x","n":-1.50e2,"t":true,"f":false,"z":null,"o":{"i":"in"},"a":[1,[2,"three"]]})";
  EXPECT_EQ(read(document, "/s"), text("x"));
  EXPECT_EQ(read(document, "/n"), number("-1.50e2"));
  EXPECT_EQ(read(document, "/t"), (JsonScalar{Kind::kBool, "true"}));
  EXPECT_EQ(read(document, "/f"), (JsonScalar{Kind::kBool, "false"}));
  EXPECT_EQ(read(document, "/z"), (JsonScalar{Kind::kNull, ""}));
  EXPECT_EQ(read(document, "/o"), (JsonScalar{Kind::kObject, ""}));
  EXPECT_EQ(read(document, "/o/i"), text("in"));
  EXPECT_EQ(read(document, "/a"), (JsonScalar{Kind::kArray, ""}));
  EXPECT_EQ(read(document, "/a/0"), number("1"));
  EXPECT_EQ(read(document, "/a/1/1"), text("three"));
  EXPECT_EQ(read(document, ""), (JsonScalar{Kind::kObject, ""}));
}

TEST(JsonScan, APointerThatLeadsNowhereReadsNothing) {
  const std::string document = R"({"s":"x","o":{"i":1},"a":[1,2]})";
  for (const char* pointer : {"/x", "/s/0", "/o/j", "/o/i/k", "/a/2", "/a/-", "/a/00", "/a/01", "/a/+1", "/a/", "/"}) {
    EXPECT_EQ(read(document, pointer), std::nullopt) << pointer;
  }
}

TEST(JsonScan, TheWholeDocumentMayBeAScalar) {
  EXPECT_EQ(read(" \"x\" ", ""), text("x"));
  EXPECT_EQ(read("12", ""), number("12"));
  EXPECT_EQ(read("12", "/0"), std::nullopt);
}

TEST(JsonScan, SeveralPointersAreReadInOnePassAndMayShareAPrefix) {
  const JsonScanner scanner({"/event/id", "/event/type", "/event", "/event/id", "/nothing"});
  const auto values = scanner.scan(R"({"event":{"type":"t","id":7},"other":{"id":8}})");
  ASSERT_OK(values);
  const JsonValues expected = {number("7"), text("t"), JsonScalar{Kind::kObject, ""}, number("7"), std::nullopt};
  EXPECT_EQ(*values, expected);
}

TEST(JsonScan, NamesAreComparedAfterUnescapingBothSides) {
  EXPECT_EQ(read(R"({"a\/b":1,"m~n":2,"\u0069d":3,"":4,"0":5})", "/a~1b"), number("1"));
  EXPECT_EQ(read(R"({"a/b":1,"m~n":2})", "/m~0n"), number("2"));
  EXPECT_EQ(read(R"({"\u0069d":3})", "/id"), number("3"));
  EXPECT_EQ(read(R"({"":4})", "/"), number("4"));
  EXPECT_EQ(read(R"({"0":5})", "/0"), number("5"));
  EXPECT_EQ(read(R"({"~1":6,"/":7})", "/~01"), number("6"));
}

TEST(JsonScan, ALongNameThatTheParserHandsOverInPartsIsOneName) {
  const std::string name(10'000, 'k');
  EXPECT_EQ(read("{\"" + name + "\\n" + name + "\":1}", "/" + name + "\n" + name), number("1"));
}

TEST(JsonScan, ALongStringWithEscapesIsReadWhole) {
  std::string escaped, plain;
  for (int i = 0; i < 5'000; ++i) {
    escaped += "part\\u00e9\\n\\ud83d\\ude00";
    plain += "part\xC3\xA9\n\xF0\x9F\x98\x80";
  }
  EXPECT_EQ(read("{\"a\":[\"" + escaped + "\",\"next\"]}", "/a/0"), text(plain));
  EXPECT_EQ(read("{\"a\":[\"" + escaped + "\",\"next\"]}", "/a/1"), text("next"));
}

TEST(JsonScan, OfARepeatedNameTheLastCounts) {
  EXPECT_EQ(read(R"({"id":"first","id":"last"})", "/id"), text("last"));
  EXPECT_EQ(read(R"({"o":{"id":1},"o":{"id":2}})", "/o/id"), number("2"));
  EXPECT_EQ(read(R"({"o":{"id":1,"id":2},"o":{"id":3,"id":4}})", "/o/id"), number("4"));
  EXPECT_EQ(read(R"({"id":"first","\u0069d":"last"})", "/id"), text("last"));
}

TEST(JsonScan, ALaterNameThatLeadsNowhereTakesTheEarlierValueAway) {
  EXPECT_EQ(read(R"({"o":{"id":1},"o":2})", "/o/id"), std::nullopt);
  EXPECT_EQ(read(R"({"o":{"id":1},"o":{}})", "/o/id"), std::nullopt);
  EXPECT_EQ(read(R"({"o":{"id":1},"o":[]})", "/o/id"), std::nullopt);
  EXPECT_EQ(read(R"({"o":[9],"o":null})", "/o/0"), std::nullopt);
  EXPECT_EQ(read(R"({"o":{"id":1},"p":2})", "/o/id"), number("1"));
}

TEST(JsonScan, ANameElsewhereIsNotTaken) {
  EXPECT_EQ(read(R"({"x":{"id":1},"id":2,"y":{"id":3},"z":[{"id":4}]})", "/id"), number("2"));
  EXPECT_EQ(read(R"({"a":{"b":{"c":1}},"b":{"c":2},"c":3})", "/a/b/c"), number("1"));
  EXPECT_EQ(read(R"({"a":[[1,2],[3,4]],"b":[5]})", "/a/1/0"), number("3"));
}

TEST(JsonScan, ExactlyTheStatedDepthIsValidForArraysAndObjects) {
  EXPECT_TRUE(valid(nested(kJsonDepthMax, "[", "]")));
  EXPECT_FALSE(valid(nested(kJsonDepthMax + 1, "[", "]")));
  EXPECT_TRUE(valid(nested(kJsonDepthMax, "[", "]", "1")));
  EXPECT_TRUE(valid(nested(kJsonDepthMax, "{\"a\":", "}", "1")));
  EXPECT_FALSE(valid(nested(kJsonDepthMax + 1, "{\"a\":", "}", "1")));
  EXPECT_TRUE(valid(nested(kJsonDepthMax / 2, "[{\"a\":", "}]", "1")));
  EXPECT_FALSE(valid(nested(kJsonDepthMax / 2, "[{\"a\":", "}]", "[]")));
}

TEST(JsonScan, DepthIsCountedAnewForEachBranch) {
  const std::string deep = nested(kJsonDepthMax - 1, "[", "]");
  EXPECT_TRUE(valid("[" + deep + "," + deep + "]"));
}

TEST(JsonScan, AValueAtTheLastLevelIsRead) {
  std::string pointer;
  for (std::size_t i = 0; i < kJsonDepthMax; ++i) pointer += "/0";
  EXPECT_EQ(read(nested(kJsonDepthMax, "[", "]", "\"deep\""), pointer), text("deep"));
}

TEST(JsonScan, AMillionOpenBracketsAreRefusedWithoutHarm) {
  EXPECT_FALSE(valid(std::string(1'000'000, '[')));
  EXPECT_FALSE(valid(nested(1'000'000, "{\"a\":", "}")));
}

TEST(JsonScan, NumbersOfAnyLengthKeepTheirText) {
  const std::string digits(100'000, '7');
  const std::vector<std::string> numbers = {digits,
                                            "-" + digits,
                                            "0." + digits,
                                            "1" + digits + ".5e-3",
                                            digits + "e5",
                                            "12345678901234567890",
                                            "18446744073709551616",
                                            "-9223372036854775809",
                                            "1e400",
                                            "-0",
                                            "0e0",
                                            "1E+2",
                                            "1.0",
                                            "4.9e-324",
                                            "1e2147483647"};
  for (const std::string& one : numbers) {
    EXPECT_EQ(read("{\"id\":" + one + "}", "/id"), number(one)) << one.substr(0, 30);
    EXPECT_EQ(read(one, ""), number(one)) << one.substr(0, 30);
  }
}

TEST(JsonScan, ExponentsOfAnyLengthAreValidAndKeepTheirText) {
  const std::vector<std::string> numbers = {"1e2147483648",
                                            "1e-2147483649",
                                            "1E+99999999999",
                                            "0e" + std::string(5'000, '9'),
                                            "1.5e-" + std::string(5'000, '8'),
                                            "10000000000000000000000000000000e2147483647"};
  for (const std::string& huge : numbers) {
    EXPECT_EQ(read("[" + huge + ",\"1e99999999999\"]", "/0"), number(huge)) << huge.substr(0, 40);
    EXPECT_EQ(read("[" + huge + ",\"1e99999999999\"]", "/1"), text("1e99999999999"));
    EXPECT_EQ(read("{\"x\":" + huge + ",\"id\":\"evt_1\"}", "/id"), text("evt_1"));
  }
}

TEST(JsonScan, EveryEscapedUnitAloneIsReadAndNoTwoAreOne) {
  std::set<std::string> seen;
  for (unsigned unit = 0; unit <= 0xFFFF; unit += unit >= 0xD700 && unit < 0xE100 ? 1 : 37) {
    char escape[8];
    std::snprintf(escape, sizeof escape, "\\u%04x", unit);
    const auto found = read(std::string("{\"a\":\"") + escape + "\"}", "/a");
    ASSERT_TRUE(found.has_value()) << escape;
    EXPECT_EQ(is_utf8(found->text), unit < 0xD800 || unit > 0xDFFF) << escape;
    EXPECT_TRUE(seen.insert(found->text).second) << escape << " reads as another unit does";
  }
}

TEST(JsonScan, LoneSurrogatesReadAsTheirThreeBytesWhateverFollows) {
  const std::string r = "\xED\xA0\x80";  // of D800
  const struct {
    std::string escaped, read;
  } cases[] = {
      {R"(\uD800)", r},
      {R"(\udfff)", "\xED\xBF\xBF"},
      {R"(a\ud800z)", "a" + r + "z"},
      {R"(\ud800\n)", r + "\n"},
      {R"(\ud800\\)", r + "\\"},
      {R"(\ud800\u0041)", r + "A"},
      {R"(\ud800\ud83d\ude00)", r + "\xF0\x9F\x98\x80"},
      {R"(\ud83d\ude00\ude00)", "\xF0\x9F\x98\x80\xED\xB8\x80"},
      {R"(\ude00\ud83d)", "\xED\xB8\x80\xED\xA0\xBD"},
      {R"(\\ud800)", "\\ud800"},
      {R"(\\\ud800)", "\\" + r},
      {R"(\ud800\"\ud800)", r + "\"" + r},
      {R"(\uD83D\uDE00)", "\xF0\x9F\x98\x80"},
  };
  for (const auto& [escaped, expected] : cases) {
    for (const std::string& tail : {std::string(), std::string(kFastPathBlanks, ' ')}) {
      EXPECT_EQ(read("[\"" + escaped + "\"]" + tail, "/0"), text(expected)) << escaped;
    }
  }
}

TEST(JsonScan, ALoneSurrogateInANameOrElsewhereDoesNotHideTheId) {
  EXPECT_EQ(read(R"({"\ud800":1,"x":"\udc00","id":"evt_1"})", "/id"), text("evt_1"));
  EXPECT_EQ(read(R"({"\ud800":1})", "/\xEF\xBF\xBD"), std::nullopt) << "another name is not this one";
}

TEST(JsonScan, ABrokenDocumentStaysBrokenBesideALoneSurrogate) {
  for (const char* document : {R"(["\ud800)", R"(["\ud800"]])", R"(["\ud800",])", R"(["\ud800\u12"])",
                               R"(["\ud800\uZZZZ"])", R"(["\ud80"])", R"(\ud800)", R"(["\ud800\x"])",
                               "[1e99999999999e]", "[1e99999999999", "[1e]", "[1e99999999999.5]", "1e+-99999999999"}) {
    EXPECT_FALSE(valid(document)) << document;
  }
}

TEST(JsonScan, InvalidUtf8InNamesAndValuesIsInvalid) {
  const char* broken[] = {"\x80",
                          "\xC0\x80",
                          "\xC1\xBF",
                          "\xE0\x9F\xBF",
                          "\xED\xA0\x80",
                          "\xED\xBF\xBF",
                          "\xF0\x8F\xBF\xBF",
                          "\xF4\x90\x80\x80",
                          "\xF5\x80\x80\x80",
                          "\xFF",
                          "\xC3",
                          "\xE2\x82",
                          "\xF0\x9F\x98",
                          "\xC3(",
                          "\xFE\xFF"};
  for (const std::string sequence : broken) {
    for (const std::string& tail : {std::string(), std::string(kFastPathBlanks, ' ')}) {
      EXPECT_FALSE(valid("{\"a\":\"" + sequence + "\"}" + tail)) << sequence;
      EXPECT_FALSE(valid("{\"" + sequence + "\":1}" + tail)) << sequence;
      EXPECT_FALSE(valid("{\"unwanted\":{\"b\":\"x" + sequence + "x\"}}" + tail)) << sequence;
      EXPECT_FALSE(valid("[\"\\ud800" + sequence + "\"]" + tail)) << sequence;
    }
  }
}

TEST(JsonScan, ValidUtf8AtTheEdgesOfEachLengthIsRead) {
  for (const std::string sequence : {"\x7F", "\xC2\x80", "\xDF\xBF", "\xE0\xA0\x80", "\xED\x9F\xBF", "\xEE\x80\x80",
                                     "\xEF\xBF\xBF", "\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF"}) {
    EXPECT_EQ(read("{\"" + sequence + "\":\"" + sequence + "\"}", "/" + sequence), text(sequence));
  }
}

TEST(JsonScan, AByteOrderMarkIsInvalid) {
  EXPECT_FALSE(valid("\xEF\xBB\xBF{}"));
  EXPECT_FALSE(valid("\xFF\xFE{}"));
  EXPECT_TRUE(valid("[\"\xEF\xBB\xBF\"]"));  // inside a string it is a character
}

TEST(JsonScan, NothingAndBlanksAloneAreInvalid) {
  for (const char* document : {"", " ", "\n\t\r ", "\f1", "\v",
                               "\xC2\xA0"
                               "1"})
    EXPECT_FALSE(valid(document));
}

TEST(JsonScan, AnythingBehindTheDocumentIsInvalid) {
  for (const char* document : {"{}x", "{} {}", "1 2", "[]]", "\"a\"\"b\"", "null,", "{}\x01", "{}//c", "{}/*c*/"}) {
    EXPECT_FALSE(valid(document)) << document;
  }
  EXPECT_FALSE(valid(std::string_view("{}\0", 3)));
  EXPECT_TRUE(valid("{} \r\n\t"));
}

TEST(JsonScan, ANulIsInvalidEverywhereButReadFromItsEscape) {
  const std::string document = R"({"a":"b"})";
  for (std::size_t i = 0; i <= document.size(); ++i) {
    std::string with_nul = document;
    with_nul.insert(i, 1, '\0');
    EXPECT_FALSE(valid(with_nul)) << i;
  }
  EXPECT_EQ(read(R"({"a":"b\u0000c"})", "/a"), text(std::string("b\0c", 3)));
}

TEST(JsonScan, ADialectOfJsonIsInvalid) {
  for (const char* document :
       {"{a:1}",     "{'a':1}",  "[1,]",  "{\"a\":1,}", "NaN",      "Infinity", "-Infinity", "0x10",
        "+1",        ".5",       "1.",    "01",         "True",     "nul",      "nulll",     "[1 2]",
        "{\"a\" 1}", "{\"a\":}", "{1:2}", "[//c\n1]",   "[/*c*/1]", "\"\t\"",   "\"\n\""}) {
    EXPECT_FALSE(valid(document)) << document;
  }
}

TEST(JsonScan, EveryCutOfADocumentIsInvalid) {
  const std::string document = R"({"id":"evt_1","n":[1.5e3,true,null,{"u":"\u00e9\ud83d\ude00"}]})";
  ASSERT_TRUE(valid(document));
  for (std::size_t size = 0; size < document.size(); ++size) {
    EXPECT_FALSE(valid(std::string_view(document).substr(0, size))) << size;
  }
}

TEST(JsonScan, TheErrorIsOfTheInputAndQuotesNothingOfIt) {
  const Result<JsonValues> refused = JsonScanner({"/a"}).scan("{\"a\":whsec_private}");
  EXPECT_EQ(refused.code(), Code::kInvalid);
  EXPECT_EQ(refused.status().message().find("whsec"), std::string::npos);
}

TEST(JsonPointer, OnlyRfc6901TextIsOne) {
  for (const char* pointer : {"", "/", "//", "/a", "/a/b", "/~0~1", "/a b", "/0", "/-"})
    EXPECT_TRUE(is_json_pointer(pointer));
  for (const char* pointer : {"a", "a/b", "/~", "/~2", "/a~", "#/a", " /a"}) EXPECT_FALSE(is_json_pointer(pointer));
}

}  // namespace
}  // namespace hookonce
