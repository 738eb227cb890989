#include "admin/event_queries.h"

#include <gtest/gtest.h>

#include "test/support/asserts.h"

namespace hookonce {
namespace {

constexpr Time kNow{std::chrono::seconds(1790000000)};

ListQuery list(std::string_view query) {
  auto parsed = parse_list_query(query, kNow);
  EXPECT_OK(parsed);
  return parsed.ok() ? *parsed : ListQuery();
}
std::string mistake_in(std::string_view query) {
  const auto parsed = parse_list_query(query, kNow);
  EXPECT_EQ(parsed.code(), Code::kInvalid) << query;
  return parsed.status().message();
}
Result<ReplaysBody> replays(std::string_view text) {
  return parse_replays_body(*parse_json(text), kNow);
}
Result<ReplayBody> replay(std::string_view text) {
  return parse_replay_body(*parse_json(text));
}

TEST(ListQuery, IsEverythingByDefault) {
  const ListQuery query = list("");
  EXPECT_EQ(query.limit, 50);
  EXPECT_FALSE(query.cursor);
  EXPECT_FALSE(query.filter.source || query.filter.type || query.filter.state || query.filter.key ||
               query.filter.since || query.filter.until);
  EXPECT_EQ(query.filter.query, "");
}

TEST(ListQuery, TakesEveryFilter) {
  const std::string cursor =
      CursorMark(ListKind::kEvents, {"shop", "order.paid", "dead", "evt 1", "a&b c"}).add_to("abc");
  const ListQuery query = list("source=shop&type=order.paid&state=dead&key=evt%201&q=a%26b+c&limit=7&cursor=" + cursor);
  EXPECT_EQ(query.filter.source, "shop");
  EXPECT_EQ(query.filter.type, "order.paid");
  EXPECT_EQ(query.filter.state, EventState::kDead);
  EXPECT_EQ(query.filter.key, "evt 1");
  EXPECT_EQ(query.filter.query, "a&b c");
  EXPECT_EQ(query.limit, 7);
  EXPECT_EQ(query.cursor, "abc");
  EXPECT_EQ(query.mark.add_to("abc"), cursor);
}

TEST(ListQuery, MomentsAreRfc3339OrAges) {
  EXPECT_EQ(list("since=1h").filter.since, kNow - std::chrono::hours(1));
  EXPECT_EQ(list("until=30d").filter.until, kNow - std::chrono::hours(24 * 30));
  const auto moment = parse_rfc3339("2026-01-02T03:04:05.678+01:00");
  EXPECT_EQ(list("since=2026-01-02T03%3A04%3A05.678%2B01:00").filter.since, moment);
  EXPECT_EQ(list("since=2026-01-02T03:04:05.678+01:00").filter.since, moment) << "a plus that nobody escaped";
  EXPECT_NE(mistake_in("since=yesterday").find("yesterday"), std::string::npos);
}

TEST(ListQuery, AnEmptyValueIsAsGoodAsNone) {
  const ListQuery query = list("source=&type=&state=&key=&q=&since=&until=&limit=&cursor=&");
  EXPECT_FALSE(query.filter.source || query.filter.state || query.filter.since || query.cursor);
  EXPECT_EQ(query.limit, 50);
}

TEST(ListQuery, TheLimitIsFrom1To500) {
  EXPECT_EQ(list("limit=1").limit, 1);
  EXPECT_EQ(list("limit=500").limit, 500);
  for (const char* limit : {"0", "501", "-1", "1.5", "ten", "99999999999999999999"}) {
    EXPECT_NE(mistake_in(std::string("limit=") + limit).find("500"), std::string::npos);
  }
}

TEST(ListQuery, AnUnknownParameterNamesTheNearestOne) {
  EXPECT_EQ(mistake_in("sorce=shop"), "unknown parameter `sorce`; did you mean `source`?");
  EXPECT_NE(mistake_in("zzzzzzzz=1").find("source, type"), std::string::npos);
}

TEST(ListQuery, AParameterStandsOnce) {
  EXPECT_EQ(mistake_in("source=a&source=b"), "`source` is given twice");
}

TEST(ListQuery, BrokenEscapesAndUnknownStatesAreMistakes) {
  EXPECT_NE(mistake_in("q=%zz").find("escape"), std::string::npos);
  EXPECT_NE(mistake_in("state=in_flight").find("pending, delivered or dead"), std::string::npos);
}

TEST(RevealQuery, IsTrueOrFalse) {
  EXPECT_EQ(*parse_reveal(""), false);
  EXPECT_EQ(*parse_reveal("reveal=false"), false);
  EXPECT_EQ(*parse_reveal("reveal=true"), true);
  EXPECT_EQ(parse_reveal("reveal=maybe").code(), Code::kInvalid);
  EXPECT_EQ(parse_reveal("revael=true").code(), Code::kInvalid);
}

TEST(NoQuery, TakesNothing) {
  EXPECT_OK(expect_no_query(""));
  EXPECT_EQ(expect_no_query("a=1").code(), Code::kInvalid);
}

TEST(ReplayBody, HasDestinationAndNewKey) {
  EXPECT_FALSE(replay("{}")->destination);
  EXPECT_FALSE(replay("{}")->new_key);
  const auto body = replay(R"({"destination":"backend","new_key":true})");
  EXPECT_EQ(body->destination, "backend");
  EXPECT_TRUE(body->new_key);
  EXPECT_FALSE(replay(R"({"destination":null})")->destination);
}

TEST(ReplayBody, RefusesWhatIsOfAnotherKind) {
  for (const char* text : {"[]", "null", "7", "\"x\"", R"({"destination":7})", R"({"destination":""})",
                           R"({"new_key":"true"})", R"({"new_key":null})", R"({"newkey":true})"}) {
    EXPECT_EQ(replay(text).code(), Code::kInvalid) << text;
  }
  EXPECT_NE(replay(R"({"destinaton":"x"})").status().message().find("`destination`"), std::string::npos);
}

TEST(ReplaysBody, TakesTheFiltersOfTheListAndItsOwnFields) {
  const auto body = replays(
      R"({"source":"shop","type":"t","state":"dead","key":"k","q":"x","since":"1h","until":"2026-01-02T03:04:05Z",)"
      R"("dead":true,"destination":"backend","new_key":true,"dry_run":true})");
  ASSERT_OK(body);
  EXPECT_EQ(body->filter.source, "shop");
  EXPECT_EQ(body->filter.type, "t");
  EXPECT_EQ(body->filter.state, EventState::kDead);
  EXPECT_EQ(body->filter.key, "k");
  EXPECT_EQ(body->filter.query, "x");
  EXPECT_EQ(body->filter.since, kNow - std::chrono::hours(1));
  EXPECT_EQ(body->filter.until, parse_rfc3339("2026-01-02T03:04:05Z"));
  EXPECT_TRUE(body->dead && body->new_key && body->dry_run);
  EXPECT_EQ(body->destination, "backend");
}

TEST(ReplaysBody, KnowsWhenItNamesNothing) {
  EXPECT_TRUE(replays("{}")->names_nothing());
  EXPECT_TRUE(replays(R"({"new_key":true,"dry_run":true,"source":null,"dead":false})")->names_nothing());
  for (const char* text :
       {R"({"dead":true})", R"({"destination":"b"})", R"({"source":"s"})", R"({"type":"t"})", R"({"state":"dead"})",
        R"({"key":"k"})", R"({"q":"q"})", R"({"since":"1h"})", R"({"until":"1h"})"}) {
    EXPECT_FALSE(replays(text)->names_nothing()) << text;
  }
}

TEST(ReplaysBody, AnEmptyFilterIsAMistakeBecauseItWouldMatchMoreThanWasMeant) {
  for (const char* name : {"source", "type", "state", "key", "q", "since", "until"}) {
    const auto body = replays(std::string("{\"dead\":true,\"") + name + "\":\"\"}");
    EXPECT_EQ(body.code(), Code::kInvalid) << name;
    EXPECT_NE(body.status().message().find(std::string("`") + name + "` is empty"), std::string::npos);
  }
}

TEST(ReplaysBody, RefusesWhatIsOfAnotherKindOrUnknown) {
  for (const char* text : {"[]", R"({"source":7})", R"({"dead":"yes"})", R"({"state":"lost"})", R"({"since":"soon"})",
                           R"({"dry_run":1})", R"({"limit":"1"})", R"({"desination":"x"})"}) {
    EXPECT_EQ(replays(text).code(), Code::kInvalid) << text;
  }
}

}  // namespace
}  // namespace hookonce
