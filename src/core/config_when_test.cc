#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/support/config_world.h"

namespace hookonce {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class ConfigWhenTest : public ConfigTest {
 protected:
  std::string with(const std::string& when) const {
    return "[sources.s]\nprovider = \"stripe\"\nsecrets = [\"env:SET\"]\ndestinations = [{ name = \"d\", " + when +
           " }]\n" + kDestination;
  }
  std::vector<std::string> read(const std::string& when) const {
    const LoadedConfig loaded = load(with("when = " + when));
    EXPECT_TRUE(loaded.ok()) << when;
    std::vector<std::string> texts;
    for (const Condition& condition : loaded.config.sources.at("s").destinations.at(0).when)
      texts.push_back(condition.text());
    return texts;
  }
  std::vector<std::string> mistakes(const std::string& when) const { return problems(with(when)); }
};

TEST_F(ConfigWhenTest, EveryFormReadsAsItIsWritten) {
  for (const char* condition :
       {"\"json:/data/object/livemode\" = true", "\"json:/n\" = 42", "\"json:/n\" = -0.5", "\"json:/a~1b/0\" = \"x\"",
        "\"header:X-Env\" = [\"prod\", \"stage\"]", "\"json:/a\" = [1, \"one\", true]",
        "\"json:/a\" = { exists = true }", "\"header:X-Env\" = { exists = false }", "\"json:/a\" = { glob = \"x*\" }",
        "\"header:X-Env\" = { glob = [\"p*\", \"s*\"] }"}) {
    EXPECT_THAT(read(std::string("{ ") + condition + " }"), ElementsAre(condition));
  }
  EXPECT_THAT(read("{ \"json:/b\" = 1, \"json:/a\" = 2 }").size(), 2u);
}

TEST_F(ConfigWhenTest, NamesTheThingTheValueAndTheMend) {
  const auto one = [](const char* first, const char* second) {
    return ElementsAre(AllOf(HasSubstr("h.toml:4: sources.s.destinations.when"), HasSubstr(first), HasSubstr(second)));
  };
  EXPECT_THAT(mistakes("when = true"), one("must be a table of conditions, not true or false", "write when = {"));
  EXPECT_THAT(mistakes("when = {}"), one("is empty", "leave it out"));
  EXPECT_THAT(mistakes("when = { \"json:id\" = 1 }"), one("`json:id`", "json:/id"));
  EXPECT_THAT(mistakes("when = { \"form:id\" = \"1\" }"), one("`form:id`", "json:/pointer"));
  EXPECT_THAT(mistakes("when = { body = \"1\" }"), one("`body`", "json:/pointer"));
  EXPECT_THAT(mistakes("when = { \"json:/a\" = [] }"), one("`json:/a`", "is an empty list"));
  EXPECT_THAT(mistakes("when = { \"json:/a\" = [[1]] }"), one("`json:/a`", "cannot be compared with a list"));
  EXPECT_THAT(mistakes("when = { \"json:/a\" = 2026-01-02 }"), one("`json:/a`", "cannot be compared with a date"));
  EXPECT_THAT(mistakes("when = { \"header:X-N\" = 1 }"), one("`header:X-N`", "put the value in quotes"));
  EXPECT_THAT(mistakes("when = { \"json:/a\" = {} }"), one("`json:/a`", "needs either exists or glob"));
  EXPECT_THAT(mistakes("when = { \"json:/a\" = { exists = true, glob = \"x\" } }"),
              one("`json:/a`", "needs either exists or glob"));
  EXPECT_THAT(mistakes("when = { \"json:/a\" = { exists = 1 } }"), one("json:/a.exists", "must be true or false"));
  EXPECT_THAT(mistakes("when = { \"json:/a\" = { glob = 1 } }"), one("json:/a.glob", "must be a list"));
  EXPECT_THAT(mistakes("when = { \"json:/a\" = { equals = 1 } }"), one("json:/a.equals", "write the value itself"));
  EXPECT_THAT(mistakes("when = { \"json:/a\" = { regex = \"x\" } }"), one("json:/a.regex", "did you mean `glob`"));
}

TEST_F(ConfigWhenTest, EveryMistakeIsNamedAtOnce) {
  EXPECT_EQ(mistakes("when = { \"json:id\" = 1, \"query:x\" = 1, \"header:X-N\" = [1, true] }").size(), 4u);
}

TEST_F(ConfigWhenTest, UnknownKeysBesideItAreHinted) {
  EXPECT_THAT(mistakes("filter = { \"json:/a\" = 1 }"), ElementsAre(HasSubstr("did you mean `when`?")));
  EXPECT_THAT(mistakes("type = \"x\""), ElementsAre(HasSubstr("did you mean `types`?")));
  EXPECT_THAT(source_problems("when = { \"json:/a\" = 1 }"), ElementsAre(HasSubstr("belongs in an entry of a source")));
}

}  // namespace
}  // namespace hookonce
