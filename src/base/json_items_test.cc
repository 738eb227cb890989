#include "base/json_items.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/json_scan.h"

namespace hookonce {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> items(std::string_view document, std::string_view pointer) {
  EXPECT_TRUE(JsonScanner({}).scan(document).ok()) << document;
  const auto found = json_items(document, pointer);
  if (!found) return {"none"};
  return {found->begin(), found->end()};
}

TEST(JsonItems, AreTheTextOfEachElement) {
  EXPECT_THAT(items(R"({"events":[{"id":1},"a", 2.50 ,null,[]]})", "/events"),
              ElementsAre(R"({"id":1})", R"("a")", "2.50", "null", "[]"));
  EXPECT_THAT(items(" [ { \"a\" : 1 } ,\n\t7 ] ", ""), ElementsAre("{ \"a\" : 1 }", "7"));
  EXPECT_THAT(items("[]", ""), IsEmpty());
  EXPECT_THAT(items(R"({"events":[ ]})", "/events"), IsEmpty());
}

TEST(JsonItems, ThereAreNoneWhereThePointerLeadsElsewhere) {
  for (const char* document : {R"({"events":{}})", R"({"events":"[1]"})", R"({"other":[1]})", "{}", "7", "\"[1]\""}) {
    EXPECT_THAT(items(document, "/events"), ElementsAre("none")) << document;
  }
  EXPECT_THAT(items(R"({"a":[1]})", ""), ElementsAre("none"));
}

TEST(JsonItems, ThePointerGoesThroughObjectsArraysAndEscapes) {
  EXPECT_THAT(items(R"({"a":[0,{"b/c":[1,2]}]})", "/a/1/b~1c"), ElementsAre("1", "2"));
  EXPECT_THAT(items(R"({"\u0065vents":[1]})", "/events"), ElementsAre("1"));
  EXPECT_THAT(items(R"({"x":{"events":[9]},"events" : [1]})", "/events"), ElementsAre("1"));
  EXPECT_THAT(items(R"({"a":[[1]]})", "/a/00"), ElementsAre("none"));
  EXPECT_THAT(items(R"({"":[1]})", "/"), ElementsAre("1"));
}

TEST(JsonItems, OfARepeatedNameTheLastCounts) {
  EXPECT_THAT(items(R"({"e":[1],"e":[2,3]})", "/e"), ElementsAre("2", "3"));
  EXPECT_THAT(items(R"({"e":[1],"e":7})", "/e"), ElementsAre("none"));
  EXPECT_THAT(items(R"({"e":{"l":[1]},"e":{}})", "/e/l"), ElementsAre("none"));
}

TEST(JsonItems, BracketsCommasAndQuotesInsideStringsAreText) {
  EXPECT_THAT(items(R"(["],[","\"]","\\",{"}":"{,"}])", ""),
              ElementsAre(R"("],[")", R"("\"]")", R"("\\")", R"({"}":"{,"})"));
}

// Goal: the pieces are what the scanner reads at the same places. Method: random documents of one array, each element
// read through the whole document and as a piece of its own.
TEST(JsonItems, EachPieceReadsAsTheSameValueInTheDocument) {
  std::uint64_t state = 20260;  // the same documents in every run
  const auto pick = [&state](std::uint64_t n) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (state >> 33) % n;
  };
  const std::vector<std::string> atoms = {R"("a\"b")",     R"("],")",        "-1.5e3",  "true",
                                          R"({"id":"x"})", R"({"id":[{}]})", "[1,[2]]", R"("\\")"};
  for (int round = 0; round < 300; ++round) {
    const std::size_t count = pick(6);
    std::string document = R"({"n":{"e":[0]},"e":[)";
    std::vector<std::string> pointers;
    for (std::size_t i = 0; i < count; ++i) {
      document +=
          (i > 0 ? "," : "") + std::string(pick(3), ' ') + atoms[pick(atoms.size())] + std::string(pick(2), '\n');
      pointers.push_back("/e/" + std::to_string(i));
      pointers.push_back("/e/" + std::to_string(i) + "/id");
    }
    document += "]}";
    const auto whole = JsonScanner(pointers).scan(document);
    const auto pieces = json_items(document, "/e");
    ASSERT_TRUE(whole.ok() && pieces) << document;
    ASSERT_EQ(pieces->size(), count) << document;
    for (std::size_t i = 0; i < count; ++i) {
      const auto alone = JsonScanner({"", "/id"}).scan((*pieces)[i]);
      ASSERT_TRUE(alone.ok()) << (*pieces)[i];
      EXPECT_EQ((*alone)[0], (*whole)[2 * i]) << document;
      EXPECT_EQ((*alone)[1], (*whole)[2 * i + 1]) << document;
    }
  }
}

}  // namespace
}  // namespace hookonce
