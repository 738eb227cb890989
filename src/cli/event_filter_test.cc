#include "cli/event_filter.h"

#include <gmock/gmock.h>

#include "test/support/asserts.h"

namespace hookonce {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

const Time kNow = *parse_rfc3339("2026-01-02T03:04:05.678Z");

TEST(Moment, IsATimeOrAnAge) {
  EXPECT_EQ(*parse_moment("--since", "2026-01-01T00:00:00+01:00", kNow), *parse_rfc3339("2025-12-31T23:00:00Z"));
  EXPECT_EQ(*parse_moment("--since", "1h", kNow), kNow - std::chrono::hours(1));
  const Result<Time> long_ago = parse_moment("--since", "30000d", kNow);
  ASSERT_OK(long_ago);
  EXPECT_EQ(*long_ago, Time()) << "older than the epoch is everything";
}

TEST(Moment, NamesTheOptionThatIsNeither) {
  const Result<Time> moment = parse_moment("--until", "yesterday", kNow);
  ASSERT_FALSE(moment.ok());
  EXPECT_EQ(moment.code(), Code::kInvalid);
  EXPECT_THAT(moment.status().message(), HasSubstr("--until yesterday"));
}

TEST(Filter, BecomesTheTermsOfTheAdminApi) {
  EventFilterOptions options;
  EXPECT_TRUE(options.empty());
  options.source = "shop";
  options.state = "dead";
  options.search = "a&b=c";
  options.since = "1h";
  EXPECT_FALSE(options.empty());
  const Result<FilterTerms> terms = filter_terms(options, kNow);
  ASSERT_OK(terms);
  EXPECT_THAT(*terms, ElementsAre(Pair("source", "shop"), Pair("state", "dead"), Pair("q", "a&b=c"),
                                  Pair("since", "2026-01-02T02:04:05.678Z")));
}

TEST(Filter, ProposesAStateThatExists) {
  EventFilterOptions options;
  options.state = "deed";
  const Result<FilterTerms> terms = filter_terms(options, kNow);
  ASSERT_FALSE(terms.ok());
  EXPECT_THAT(terms.status().message(), HasSubstr("did you mean dead?"));
  options.state = "in_flight";  // a delivery's state, not an event's
  EXPECT_FALSE(filter_terms(options, kNow).ok());
}

}  // namespace
}  // namespace hookonce
