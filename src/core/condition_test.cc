#include "core/condition.h"

#include <gtest/gtest.h>

namespace hookonce {
namespace {

using Kind = JsonScalar::Kind;
using Asks = Condition::Test;

Condition on_json(Asks test, std::vector<JsonScalar> values, std::vector<std::string> patterns = {}) {
  return {*FieldSpec::parse("json:/a"), test, std::move(values), std::move(patterns)};
}

Condition on_header(Asks test, std::vector<std::string> texts) {
  Condition condition{*FieldSpec::parse("header:X-Env"), test, {}, {}};
  for (const std::string& text : texts) condition.values.push_back({Kind::kString, text});
  if (test == Asks::kGlob) condition.patterns = std::move(texts);
  return condition;
}

bool is(const JsonScalar& wanted, const JsonScalar& value) {
  return holds(on_json(Asks::kIn, {wanted}), &value);
}

TEST(Condition, EqualsComparesKindAndValue) {
  EXPECT_TRUE(is({Kind::kString, "x"}, {Kind::kString, "x"}));
  EXPECT_FALSE(is({Kind::kString, "x"}, {Kind::kString, "X"}));
  EXPECT_TRUE(is({Kind::kBool, "true"}, {Kind::kBool, "true"}));
  EXPECT_FALSE(is({Kind::kBool, "true"}, {Kind::kBool, "false"}));
  EXPECT_FALSE(is({Kind::kString, "true"}, {Kind::kBool, "true"}));
  EXPECT_FALSE(is({Kind::kString, "1"}, {Kind::kNumber, "1"}));
  EXPECT_FALSE(is({Kind::kString, ""}, {Kind::kNull, ""}));
  EXPECT_FALSE(is({Kind::kString, ""}, {Kind::kObject, ""}));
}

TEST(Condition, NumbersAreEqualByValueHoweverTheyAreWritten) {
  for (const char* text : {"10", "10.0", "1e1", "1.0E+1", "100e-1"}) {
    EXPECT_TRUE(is({Kind::kNumber, "10"}, {Kind::kNumber, text})) << text;
  }
  for (const char* text : {"0", "-0", "0.0", "-0.0", "0e9"}) {
    EXPECT_TRUE(is({Kind::kNumber, "0"}, {Kind::kNumber, text})) << text;
  }
  EXPECT_TRUE(is({Kind::kNumber, "0.1"}, {Kind::kNumber, "1e-1"}));
  EXPECT_FALSE(is({Kind::kNumber, "10"}, {Kind::kNumber, "-10"}));
  EXPECT_FALSE(is({Kind::kNumber, "10"}, {Kind::kNumber, "10.5"}));
  EXPECT_FALSE(is({Kind::kNumber, "9007199254740993"}, {Kind::kNumber, "9007199254740992"}))
      << "long ids differ in their last digit";
}

TEST(Condition, OneOfAListIsEnough) {
  const Condition condition = on_json(Asks::kIn, {{Kind::kString, "prod"}, {Kind::kNumber, "2"}});
  const JsonScalar prod{Kind::kString, "prod"};
  const JsonScalar two{Kind::kNumber, "2"};
  const JsonScalar other{Kind::kString, "2"};
  EXPECT_TRUE(holds(condition, &prod));
  EXPECT_TRUE(holds(condition, &two));
  EXPECT_FALSE(holds(condition, &other));
  EXPECT_FALSE(holds(condition, static_cast<const JsonScalar*>(nullptr)));
}

TEST(Condition, ExistsIsAboutTheValueBeingThereNullToo) {
  const JsonScalar null{Kind::kNull, ""};
  const JsonScalar object{Kind::kObject, ""};
  for (const JsonScalar* value : {&null, &object}) {
    EXPECT_TRUE(holds(on_json(Asks::kExists, {}), value));
    EXPECT_FALSE(holds(on_json(Asks::kAbsent, {}), value));
  }
  EXPECT_FALSE(holds(on_json(Asks::kExists, {}), static_cast<const JsonScalar*>(nullptr)));
  EXPECT_TRUE(holds(on_json(Asks::kAbsent, {}), static_cast<const JsonScalar*>(nullptr)));
}

TEST(Condition, AGlobMatchesTheWholeOfAString) {
  const Condition condition = on_json(Asks::kGlob, {}, {"eu-*", "*-prod"});
  const auto matches = [&](JsonScalar value) { return holds(condition, &value); };
  EXPECT_TRUE(matches({Kind::kString, "eu-west"}));
  EXPECT_TRUE(matches({Kind::kString, "us-prod"}));
  EXPECT_FALSE(matches({Kind::kString, "us-west"}));
  EXPECT_FALSE(matches({Kind::kNumber, "12"}));
}

TEST(Condition, ARepeatedHeaderIsAllOfItsValues) {
  using Values = std::vector<std::string_view>;
  EXPECT_TRUE(holds(on_header(Asks::kIn, {"prod"}), Values{"test", "prod"}));
  EXPECT_FALSE(holds(on_header(Asks::kIn, {"prod"}), Values{"test"}));
  EXPECT_FALSE(holds(on_header(Asks::kIn, {"prod"}), Values{}));
  EXPECT_TRUE(holds(on_header(Asks::kGlob, {"p*"}), Values{"test", "prod"}));
  EXPECT_TRUE(holds(on_header(Asks::kExists, {}), Values{""}));
  EXPECT_FALSE(holds(on_header(Asks::kExists, {}), Values{}));
  EXPECT_TRUE(holds(on_header(Asks::kAbsent, {}), Values{}));
}

TEST(Condition, ReadsAsInTheConfiguration) {
  EXPECT_EQ(on_json(Asks::kIn, {{Kind::kBool, "true"}}).text(), "\"json:/a\" = true");
  EXPECT_EQ(on_header(Asks::kIn, {"prod", "stage"}).text(), "\"header:X-Env\" = [\"prod\", \"stage\"]");
  EXPECT_EQ(on_json(Asks::kAbsent, {}).text(), "\"json:/a\" = { exists = false }");
  EXPECT_EQ(on_json(Asks::kGlob, {}, {"x*"}).text(), "\"json:/a\" = { glob = \"x*\" }");
}

}  // namespace
}  // namespace hookonce
