#include "admin/live_hub.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/support/admin_fixture.h"

namespace hookonce {
namespace {

using std::chrono::seconds;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class AdminLive : public AdminFixture {
 protected:
  static LiveFact accepted(std::string_view source, std::string_view key, std::string_view type = "t") {
    LiveFact fact;
    fact.name = "accepted";
    fact.source = source;
    fact.type = type;
    fact.key = key;
    return fact;
  }
  std::shared_ptr<BodyStream> watch(LiveFilter filter = {}) {
    auto stream = live_.watch(std::move(filter));
    EXPECT_NE(stream, nullptr);
    EXPECT_EQ(stream->next(), "retry: 2000\n\n");
    return stream;
  }
};

TEST_F(AdminLive, NobodyWantsAFactThatNobodyWatches) {
  EXPECT_FALSE(live_.wants_fact());
  auto stream = live_.watch({});
  EXPECT_TRUE(live_.wants_fact());
  stream.reset();
  live_.publish(accepted("shop", "k"));
  EXPECT_FALSE(live_.wants_fact());
}

TEST_F(AdminLive, AFactIsOneEventWithItsDataOnOneLine) {
  const auto stream = watch();
  LiveFact fact = accepted("shop", "line\nbreak \xff");
  fact.event = "0199";
  fact.more["same_body"] = true;
  live_.publish(std::move(fact));
  EXPECT_EQ(stream->next(), "event: accepted\ndata: {\"at\":\"" + to_rfc3339(clock_.wall()) +
                                "\",\"event\":\"0199\",\"source\":\"shop\",\"type\":\"t\",\"key\":\"line\\nbreak "
                                "\xEF\xBF\xBD\",\"same_body\":true}\n\n");
  EXPECT_EQ(stream->next(), "");
}

TEST_F(AdminLive, EachWatcherGetsWhatItAskedFor) {
  const auto all = watch();
  const auto shop = watch({.source = "shop"});
  const auto keyed = watch({.key = "b"});
  const auto backend = watch({.destination = "backend"});
  live_.publish(accepted("shop", "a"));
  live_.publish(accepted("other", "b"));
  LiveFact attempt;
  attempt.name = "attempt";
  attempt.source = "other";
  attempt.destination = "backend";
  live_.publish(std::move(attempt));
  const std::string seen = *all->next();
  EXPECT_THAT(seen, HasSubstr("\"key\":\"a\""));
  EXPECT_THAT(seen, HasSubstr("\"key\":\"b\""));
  EXPECT_THAT(seen, HasSubstr("event: attempt"));
  EXPECT_THAT(*shop->next(), Not(HasSubstr("other")));
  EXPECT_THAT(*keyed->next(), Not(HasSubstr("shop")));
  EXPECT_THAT(*backend->next(), Not(HasSubstr("accepted")));
}

TEST_F(AdminLive, WhoReadsTooSlowlyIsToldHowManyItMissed) {
  const auto slow = watch();
  const auto quick = watch();
  for (std::size_t i = 0; i < kFactsWaiting; ++i) live_.publish(accepted("shop", "k"));
  EXPECT_THAT(*quick->next(), Not(IsEmpty()));
  live_.publish(accepted("shop", "k"));  // the quick one has room
  for (std::size_t i = 1; i < kFactsWaiting; ++i) live_.publish(accepted("shop", "k"));
  live_.publish(accepted("shop", "k"));  // none has
  EXPECT_FALSE(live_.wants_fact());
  const std::string counted = "event: missed\ndata: {\"count\":" + std::to_string(kFactsWaiting + 2) + "}\n\n";
  EXPECT_THAT(*slow->next(), EndsWith(counted));
  EXPECT_TRUE(live_.wants_fact());
  EXPECT_THAT(*quick->next(), EndsWith("event: missed\ndata: {\"count\":2}\n\n"));
  EXPECT_EQ(slow->next(), "");
}

TEST_F(AdminLive, ASilentStreamShowsThatItLives) {
  const auto stream = watch();
  clock_.advance(kWatcherKeepAlive - seconds(1));
  EXPECT_EQ(stream->next(), "");
  clock_.advance(seconds(1));
  EXPECT_EQ(stream->next(), ": still here\n\n");
  EXPECT_EQ(stream->next(), "");
}

TEST_F(AdminLive, TheCallAnswersWithAStream) {
  HttpResponse answer = get("/api/v1/stream?source=shop");
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(header_of(answer, "Content-Type"), "text/event-stream");
  ASSERT_NE(answer.stream, nullptr);
  live_.publish(accepted("other", "a"));
  live_.publish(accepted("shop", "b"));
  const std::string seen = *answer.stream->next();
  EXPECT_THAT(seen, HasSubstr("shop"));
  EXPECT_THAT(seen, Not(HasSubstr("other")));
  EXPECT_EQ(get("/api/v1/stream?sorce=shop").status, 400);
}

TEST_F(AdminLive, StreamsEndWithTheTokenThatOpenedThem) {
  const auto stream = get("/api/v1/stream").stream;
  ASSERT_NE(stream, nullptr);
  configure(shop_config());
  EXPECT_TRUE(stream->next().has_value()) << "another configuration, the same token";
  require_token();
  EXPECT_FALSE(stream->next().has_value());
}

// A stream went on for as long as its browser kept it open, whoever sat there after the sign-out.
TEST_F(AdminLive, AStreamOfASessionEndsWhenItIsSignedOutOrExpires) {
  require_token();
  const auto sign_in = [&] {
    const std::string cookie = header_of(post("/api/v1/session", R"({"token":"admin token"})"), "Set-Cookie");
    return cookie.substr(0, cookie.find(';'));
  };
  const auto call_with = [&](const std::string& cookie, const char* method, const char* path) {
    HttpRequest head = request(method, path);
    head.headers.add("Cookie", cookie);
    return call(std::move(head));
  };
  const std::string ended = sign_in();
  const std::string kept = sign_in();
  const auto first = call_with(ended, "GET", "/api/v1/stream").stream;
  const auto second = call_with(kept, "GET", "/api/v1/stream").stream;
  HttpRequest head = request("GET", "/api/v1/stream");
  head.headers.add("Authorization", "Bearer admin token");
  const auto by_token = call(std::move(head)).stream;
  ASSERT_TRUE(first && second && by_token);
  EXPECT_TRUE(first->next().has_value());
  EXPECT_EQ(call_with(ended, "DELETE", "/api/v1/session").status, 204);
  EXPECT_FALSE(first->next().has_value());
  EXPECT_TRUE(second->next().has_value());
  clock_.advance(std::chrono::hours(12));
  EXPECT_FALSE(second->next().has_value());
  EXPECT_TRUE(by_token->next().has_value()) << "the token holds as long as it is configured";
}

TEST_F(AdminLive, WhatASenderMakesLongIsCut) {
  const auto stream = watch();
  const std::string lengthy(1'000'000, 'x');
  live_.publish(accepted("shop", lengthy, lengthy));
  EXPECT_LT(stream->next()->size(), 2000u);
}

TEST_F(AdminLive, TooManyWatchersAreRefusedAndMakeRoomWhenTheyGo) {
  std::vector<std::shared_ptr<BodyStream>> streams;
  for (std::size_t i = 0; i < kWatchersMax; ++i) streams.push_back(watch());
  const HttpResponse refused = get("/api/v1/stream");
  EXPECT_EQ(refused.status, 503);
  EXPECT_EQ(refused.headers.first("Retry-After"), "5");
  streams.pop_back();
  EXPECT_EQ(get("/api/v1/stream").status, 200);
}

}  // namespace
}  // namespace hookonce
