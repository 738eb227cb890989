#include "core/destination_choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/support/config_world.h"

namespace hookonce {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Conditions as people write them: the choice is made from a configuration's text.
class DestinationChoiceTest : public ConfigTest {
 protected:
  DestinationChoice choice_of(const std::string& destinations) {
    const LoadedConfig loaded =
        load("[sources.s]\nprovider = \"stripe\"\nsecrets = [\"env:SET\"]\ndestinations = [" + destinations +
             "]\n[destinations.a]\nurl = \"http://a/\"\n[destinations.b]\nurl = \"http://b/\"\n[destinations.c]\nurl = "
             "\"http://c/\"\n");
    for (const ConfigProblem& problem : loaded.problems) EXPECT_TRUE(problem.warning) << problem.text("h.toml");
    return DestinationChoice(loaded.config.sources.at("s").destinations);
  }
};

TEST_F(DestinationChoiceTest, WithoutConditionsEveryOneWantsEveryEvent) {
  const DestinationChoice choice = choice_of("\"b\", \"a\"");
  EXPECT_THAT(choice.choose("", {}, ""), ElementsAre("b", "a"));
  EXPECT_THAT(choice.choose("x", {}, "not json"), ElementsAre("b", "a"));
}

TEST_F(DestinationChoiceTest, TypesAndWhenMustBothHold) {
  const DestinationChoice choice =
      choice_of("{ name = \"a\", types = [\"invoice.*\"], when = { \"json:/livemode\" = true } }, \"b\"");
  EXPECT_THAT(choice.choose("invoice.paid", {}, R"({"livemode":true})"), ElementsAre("a", "b"));
  EXPECT_THAT(choice.choose("invoice.paid", {}, R"({"livemode":false})"), ElementsAre("b"));
  EXPECT_THAT(choice.choose("charge.paid", {}, R"({"livemode":true})"), ElementsAre("b"));
}

TEST_F(DestinationChoiceTest, AllConditionsOfOneDestinationMustHold) {
  const DestinationChoice choice = choice_of(
      "{ name = \"a\", when = { \"json:/data/object/amount\" = [100, 200], \"header:X-Env\" = [\"prod\", \"stage\"], "
      "\"json:/region\" = { glob = \"eu-*\" }, \"json:/deleted\" = { exists = false } } }");
  const Headers prod = {{"x-env", "prod"}};
  const std::string good = R"({"data":{"object":{"amount":200}},"region":"eu-west"})";
  EXPECT_THAT(choice.choose("", prod, good), ElementsAre("a"));
  EXPECT_THAT(choice.choose("", {{"X-Env", "test"}}, good), IsEmpty());
  EXPECT_THAT(choice.choose("", {}, good), IsEmpty());
  EXPECT_THAT(choice.choose("", prod, R"({"data":{"object":{"amount":201}},"region":"eu-west"})"), IsEmpty());
  EXPECT_THAT(choice.choose("", prod, R"({"data":{"object":{"amount":200}},"region":"us-west"})"), IsEmpty());
  EXPECT_THAT(choice.choose("", prod, R"({"data":{"object":{"amount":200}},"region":"eu-west","deleted":null})"),
              IsEmpty());
}

TEST_F(DestinationChoiceTest, EachDestinationIsJudgedByItself) {
  const DestinationChoice choice = choice_of(
      "{ name = \"a\", when = { \"json:/n\" = 1 } }, { name = \"b\", when = { \"json:/n\" = [1, 2] } }, "
      "{ name = \"c\", when = { \"json:/n\" = { exists = false } } }");
  EXPECT_THAT(choice.choose("", {}, R"({"n":1})"), ElementsAre("a", "b"));
  EXPECT_THAT(choice.choose("", {}, R"({"n":2.0})"), ElementsAre("b"));
  EXPECT_THAT(choice.choose("", {}, R"({"n":3})"), IsEmpty());
  EXPECT_THAT(choice.choose("", {}, "{}"), ElementsAre("c"));
}

TEST_F(DestinationChoiceTest, InABodyThatIsNotJsonNothingExists) {
  const DestinationChoice choice = choice_of(
      "{ name = \"a\", when = { \"json:/n\" = 1 } }, { name = \"b\", when = { \"json:/n\" = { exists = false } } }");
  for (const char* body : {"", "payload=%7B%7D", R"({"n":1)", "\x1f\x8b"}) {
    EXPECT_THAT(choice.choose("", {}, body), ElementsAre("b")) << body;
  }
}

TEST_F(DestinationChoiceTest, OfARepeatedNameTheLastCounts) {
  const DestinationChoice choice = choice_of("{ name = \"a\", when = { \"json:/n\" = 1 } }");
  EXPECT_THAT(choice.choose("", {}, R"({"n":2,"n":1})"), ElementsAre("a"));
  EXPECT_THAT(choice.choose("", {}, R"({"n":1,"n":2})"), IsEmpty());
}

}  // namespace
}  // namespace hookonce
