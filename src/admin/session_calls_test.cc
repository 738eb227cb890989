// Signing in with a browser: the cookie, what it opens, how it ends; and how guessing the token is slowed.
#include "admin/session_calls.h"

#include <gtest/gtest.h>

#include <set>

#include "admin/wrong_tokens.h"
#include "test/support/admin_fixture.h"

namespace hookonce {
namespace {

class AdminSession : public AdminFixture {
 protected:
  static constexpr const char* kRight = R"({"token":"admin token"})";
  static constexpr const char* kWrong = R"({"token":"admin toke"})";

  HttpResponse sign_in(const char* body = kRight) { return post("/api/v1/session", body); }
  // What a browser sends back: "name=value".
  static std::string cookie_of(const HttpResponse& answer) {
    const std::string text = header_of(answer, "Set-Cookie");
    return text.substr(0, text.find(';'));
  }
  HttpResponse with_cookie(const std::string& cookie, const std::string& method = "GET",
                           const std::string& path = "/api/v1/events", const std::string& body = "") {
    HttpRequest head = request(method, path, body);
    head.headers.add("Cookie", cookie);
    return call(std::move(head));
  }
  bool opens(const std::string& cookie) { return with_cookie(cookie).status == 200; }
};

TEST_F(AdminSession, TheRightTokenGivesACookieThatEveryCallAccepts) {
  require_token();
  const HttpResponse answer = sign_in();
  EXPECT_EQ(answer.status, 204);
  const std::string text = header_of(answer, "Set-Cookie");
  EXPECT_EQ(text.substr(0, 22), "hookonce_session_8081=");
  EXPECT_EQ(text.substr(text.find(';')), "; Path=/; HttpOnly; SameSite=Strict; Max-Age=43200");
  EXPECT_EQ(text.find("admin token"), std::string::npos);
  const std::string cookie = cookie_of(answer);
  for (const char* path : {"/api/v1/events", "/api/v1/stats", "/metrics", "/api/v1/openapi.json"}) {
    EXPECT_EQ(with_cookie(cookie, "GET", path).status, 200) << path;
  }
  EXPECT_EQ(with_cookie(cookie, "POST", "/api/v1/replays", R"({"dry_run":true})").status, 202);
  EXPECT_TRUE(opens("theme=dark; " + cookie + "; other=1"));
  EXPECT_TRUE(opens("hookonce_session_8081=stale; " + cookie));
}

TEST_F(AdminSession, TheCookieOpensNoForeignOriginAndNoForeignContentType) {
  require_token();
  const std::string cookie = cookie_of(sign_in());
  for (const char* method : {"POST", "DELETE"}) {
    HttpRequest foreign = request(method, "/api/v1/session", kRight);
    foreign.headers.add("Cookie", cookie);
    foreign.headers.add("Origin", "http://127.0.0.1:9999");
    EXPECT_EQ(call(std::move(foreign)).status, 403) << method;
  }
  HttpRequest form = request("POST", "/api/v1/replays", R"({"dry_run":true})");
  form.headers.set("Content-Type", "text/plain");
  form.headers.add("Cookie", cookie);
  EXPECT_EQ(call(std::move(form)).status, 415);
  EXPECT_TRUE(opens(cookie));
}

TEST_F(AdminSession, OtherCookiesOpenNothing) {
  require_token();
  const std::string cookie = cookie_of(sign_in());
  for (const std::string& other :
       {std::string("hookonce_session_8081="), std::string("hookonce_session_8081=admin token"),
        cookie.substr(0, cookie.size() - 1), cookie + "0", "x" + cookie,
        "hookonce_session" + cookie.substr(cookie.find('=')), std::string("admin token")}) {
    EXPECT_FALSE(opens(other)) << other;
  }
}

TEST_F(AdminSession, ACookieOfAnotherPortOfTheSameHostIsAnotherGateways) {
  require_token();
  HttpRequest head = request("POST", "/api/v1/session", kRight);
  head.headers.set("Host", "localhost");
  EXPECT_EQ(header_of(call(std::move(head)), "Set-Cookie").substr(0, 17), "hookonce_session=");
}

TEST_F(AdminSession, BehindTlsTheCookieIsSecure) {
  require_token();
  HttpRequest proxied = request("POST", "/api/v1/session", kRight);
  proxied.headers.add("X-Forwarded-Proto", "https");
  EXPECT_NE(header_of(call(std::move(proxied)), "Set-Cookie").find("; Secure"), std::string::npos);
  HttpRequest direct = request("POST", "/api/v1/session", kRight);
  direct.tls = true;
  EXPECT_NE(header_of(call(std::move(direct)), "Set-Cookie").find("; Secure"), std::string::npos);
}

TEST_F(AdminSession, EndsWhenItIsEndedOrExpiresOrTheTokenChanges) {
  require_token();
  const std::string ended = cookie_of(sign_in());
  const std::string kept = cookie_of(sign_in());
  EXPECT_NE(ended, kept);
  const HttpResponse answer = with_cookie(ended, "DELETE", "/api/v1/session");
  EXPECT_EQ(answer.status, 204);
  EXPECT_NE(header_of(answer, "Set-Cookie").find("Max-Age=0"), std::string::npos);
  EXPECT_FALSE(opens(ended));
  EXPECT_TRUE(opens(kept));

  Config other = shop_config();
  other.server.admin_token = "another token";
  configure(other);
  EXPECT_FALSE(opens(kept));
  require_token();
  EXPECT_TRUE(opens(kept));
  clock_.advance(kSessionLasts - std::chrono::seconds(1));
  EXPECT_TRUE(opens(kept));
  clock_.advance(std::chrono::seconds(1));
  EXPECT_FALSE(opens(kept));
}

TEST_F(AdminSession, WithOneTooManyTheOldestEnds) {
  require_token();
  const std::string oldest = cookie_of(sign_in());
  clock_.advance(std::chrono::seconds(1));
  std::string newest;
  for (std::size_t i = 1; i < kSessionsMax; ++i) newest = cookie_of(sign_in());
  EXPECT_TRUE(opens(oldest));
  sign_in();
  EXPECT_FALSE(opens(oldest));
  EXPECT_TRUE(opens(newest));
}

TEST_F(AdminSession, SaysWhetherATokenIsNeededAndWhetherTheCallerHasIt) {
  EXPECT_EQ(to_json(got("/api/v1/session")), R"({"token_required":false,"signed_in":true})");
  EXPECT_EQ(sign_in(kWrong).status, 204) << "where none is configured, none is wrong";
  require_token();
  EXPECT_EQ(to_json(got("/api/v1/session")), R"({"token_required":true,"signed_in":false})");
  const HttpResponse answer = with_cookie(cookie_of(sign_in()), "GET", "/api/v1/session");
  EXPECT_EQ(answer.body, R"({"token_required":true,"signed_in":true})");
}

TEST_F(AdminSession, AWrongTokenAndABodyWithoutOneAreRefused) {
  require_token();
  const HttpResponse wrong = sign_in(kWrong);
  EXPECT_EQ(wrong.status, 401);
  EXPECT_EQ(code_of(wrong), "unauthorized");
  EXPECT_FALSE(wrong.headers.has("Set-Cookie"));
  EXPECT_EQ(sign_in("{").status, 400);
  for (const char* body :
       {"", "[]", "{}", R"({"token":1})", R"({"token":"admin token","more":1})", R"({"tokn":"a"})"}) {
    const HttpResponse answer = sign_in(body);
    EXPECT_EQ(answer.status, 422) << body;
    EXPECT_EQ(code_of(answer), "invalid_field") << body;
  }
}

class AdminGuessing : public AdminSession {
 protected:
  std::shared_ptr<RecordingChannel> guess(const char* body = kWrong) {
    auto channel = std::make_shared<RecordingChannel>(loop_);
    HttpRequest head = request("POST", "/api/v1/session", body);
    EXPECT_FALSE(api_.on_head(head).refuse);
    api_.on_request(std::move(head), Responder(channel));
    return channel;
  }
};

TEST_F(AdminGuessing, AfterSomeWrongTokensTheAnswerComesLate) {
  require_token();
  for (int i = 0; i < WrongTokens::kFree; ++i) {
    const auto channel = guess();
    ASSERT_TRUE(channel->answer()) << i;
    EXPECT_EQ(channel->answer()->status, 401);
  }
  const auto late = guess();
  EXPECT_FALSE(late->answer());
  EXPECT_EQ(late->deadline(), clock_.now() + WrongTokens::kHold);
  late->pass_deadline();
  EXPECT_EQ(late->answer()->status, 401);
  EXPECT_TRUE(guess(kRight)->answer()) << "the right token waits for nothing";
  clock_.advance(WrongTokens::kRemembered);
  EXPECT_TRUE(guess()->answer()) << "slips are forgotten";
}

TEST_F(AdminGuessing, AWrongBearerTokenCountsAsAGuessAndNoTokenDoesNot) {
  require_token();
  for (int i = 0; i < WrongTokens::kFree; ++i) {
    EXPECT_EQ(get("/api/v1/events").status, 401);
    HttpRequest head = request("GET", "/api/v1/events");
    head.headers.add("Authorization", "Bearer guess");
    EXPECT_EQ(call(std::move(head)).status, 401);
  }
  EXPECT_FALSE(guess()->answer());
  EXPECT_EQ(get("/api/v1/events").status, 401) << "at once: nothing was guessed";
}

TEST_F(AdminGuessing, OnlySoManyWrongOnesAreHeldAtOnceAndTheRightOneIsNeverLockedOut) {
  require_token();
  const std::string cookie = cookie_of(sign_in());
  for (int i = 0; i < WrongTokens::kFree; ++i) guess();
  std::vector<std::shared_ptr<RecordingChannel>> held;
  for (std::size_t i = 0; i < WrongTokens::kHeldMax; ++i) held.push_back(guess());
  for (const auto& channel : held) EXPECT_FALSE(channel->answer());
  const auto one_more = guess();
  ASSERT_TRUE(one_more->answer());
  EXPECT_EQ(one_more->answer()->status, 429);
  EXPECT_EQ(header_of(*one_more->answer(), "Retry-After"), "1");
  EXPECT_EQ(guess(kRight)->answer()->status, 204) << "guessing strangers lock nobody out";
  EXPECT_TRUE(opens(cookie)) << "who is signed in already is not troubled";
  for (const auto& channel : held) channel->pass_deadline();
  clock_.advance(2 * WrongTokens::kHold);
  EXPECT_EQ(guess(kRight)->answer()->status, 204);
  for (const auto& channel : held)
    EXPECT_EQ(channel->answer()->status, 401) << "each is answered once, as it was judged";
}

}  // namespace
}  // namespace hookonce
