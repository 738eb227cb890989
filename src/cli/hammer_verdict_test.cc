#include "cli/hammer_verdict.h"

#include <gmock/gmock.h>

#include "test/support/asserts.h"

namespace hookonce {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

HammeredEvent event(std::string id, int successes, int accepted, std::optional<std::int64_t> effects) {
  HammeredEvent event;
  event.id = std::move(id);
  event.copies = 3;
  event.successes = successes;
  event.accepted = accepted;
  event.effects = effects;
  if (successes > 0) event.answers["200"] = successes;
  if (successes < 3) event.answers["503"] = 3 - successes;
  return event;
}

TEST(HammerVerdict, CountedEffectsDecideWhateverTheAnswersWere) {
  const HammerVerdict verdict = judge_hammered(
      {event("once", 3, 1, 1), event("twice", 3, 1, 2), event("never", 3, 1, 0), event("refused-once", 0, 0, 1)}, true);
  EXPECT_EQ(verdict.once, 2u);
  EXPECT_THAT(verdict.twice, ElementsAre("twice"));
  EXPECT_THAT(verdict.never, ElementsAre("never"));
  EXPECT_FALSE(verdict.good());
  EXPECT_EQ(verdict.requests, 12u);
  EXPECT_EQ(verdict.answers.at("200"), 9);
  EXPECT_EQ(verdict.answers.at("503"), 3);
}

TEST(HammerVerdict, EventThatNobodyCountedTookNoEffect) {
  EXPECT_THAT(judge_hammered({event("a", 3, 1, std::nullopt)}, true).never, ElementsAre("a"));
}

TEST(HammerVerdict, AnswersAloneShowRefusalsAndDoubleAcceptance) {
  const HammerVerdict verdict = judge_hammered(
      {event("gateway", 3, 1, {}), event("plain", 3, 0, {}), event("double", 3, 2, {}), event("refused", 0, 0, {})},
      false);
  EXPECT_EQ(verdict.once, 2u);
  EXPECT_THAT(verdict.twice, ElementsAre("double"));
  EXPECT_THAT(verdict.never, ElementsAre("refused"));
  EXPECT_THAT(verdict_text(verdict, false), HasSubstr("by the answers alone"));
  EXPECT_THAT(verdict_text(verdict, false), testing::Not(HasSubstr("took")));  // nobody has seen that
}

TEST(HammerVerdict, GoodIsSaidAndTheIdsOfABadOneAreNamed) {
  EXPECT_THAT(verdict_text(judge_hammered({event("a", 3, 1, 1)}, true), false), HasSubstr("exactly once"));
  const std::string text = verdict_text(judge_hammered({event("evt_bad", 3, 1, 7)}, true), false);
  EXPECT_THAT(text, HasSubstr("evt_bad"));
  EXPECT_THAT(text, HasSubstr("bad"));
}

TEST(HammerVerdict, IsJsonForPrograms) {
  const json::object object = verdict_json(judge_hammered({event("a", 3, 1, 2)}, true));
  EXPECT_EQ(
      to_json(object),
      R"({"good":false,"judged_by":"effects","events":1,"requests":3,"once":0,"twice":["a"],"never":[],"answers":{"200":3}})");
}

TEST(Effects, AreAnObjectOfNumbers) {
  auto effects = parse_effects(R"({"a":1,"b":0})");
  ASSERT_OK(effects);
  EXPECT_EQ(effects->at("a"), 1);
  EXPECT_EQ(effects->at("b"), 0);
  auto none = parse_effects("{}");
  ASSERT_OK(none);
  EXPECT_THAT(*none, IsEmpty());
  for (const char* text : {"", "[]", R"({"a":"1"})", R"({"a":1.5})", "<html>"})
    EXPECT_EQ(parse_effects(text).code(), Code::kInvalid) << text;
}

}  // namespace
}  // namespace hookonce
