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
  std::shared_ptr<RecordingChannel> guess(const char* body = kWrong, const std::string& from = "127.0.0.1") {
    HttpRequest head = request("POST", "/api/v1/session", body);
    head.remote = from;
    return ask(std::move(head));
  }
  std::shared_ptr<RecordingChannel> bear(const std::string& token, const std::string& path = "/api/v1/events") {
    HttpRequest head = request("GET", path);
    head.headers.add("Authorization", "Bearer " + token);
    return ask(std::move(head));
  }
  // As many wrong ones as make the address full.
  std::vector<std::shared_ptr<RecordingChannel>> flood(const std::string& from = "127.0.0.1") {
    for (int i = 0; i < WrongTokens::kFree; ++i) guess(kWrong, from);
    std::vector<std::shared_ptr<RecordingChannel>> held;
    for (std::size_t i = 0; i < WrongTokens::kHeldMax; ++i) held.push_back(guess(kWrong, from));
    return held;
  }

 private:
  std::shared_ptr<RecordingChannel> ask(HttpRequest head) {
    auto channel = std::make_shared<RecordingChannel>(loop_);
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

// Where only wrong ones were turned away, a full house told of every guess at once whether it was right.
TEST_F(AdminGuessing, NothingOfAFullAddressIsJudgedAndOtherAddressesAreNotTroubled) {
  require_token();
  const std::string cookie = cookie_of(sign_in());
  const auto held = flood();
  for (const auto& channel : held) EXPECT_FALSE(channel->answer());
  for (const char* body : {kWrong, kRight}) {
    const auto one_more = guess(body);
    ASSERT_TRUE(one_more->answer());
    EXPECT_EQ(one_more->answer()->status, 429) << body;
    EXPECT_EQ(header_of(*one_more->answer(), "Retry-After"), "1");
  }
  for (const char* token : {"guess", "admin token"}) {
    for (const char* path : {"/api/v1/events", "/api/v1/session", "/no/such/call"}) {
      EXPECT_EQ(bear(token, path)->answer()->status, 429) << token << " " << path;
    }
    EXPECT_EQ(bear(token, "/readyz")->answer()->body, R"({"status":"ready"})") << "a probe is never refused";
    EXPECT_EQ(bear(token, "/healthz")->answer()->status, 200);
  }
  EXPECT_EQ(guess(kRight, "203.0.113.7")->answer()->status, 204) << "guessing strangers lock nobody out";
  EXPECT_TRUE(opens(cookie)) << "who is signed in already is not troubled";
  for (const auto& channel : held) channel->pass_deadline();
  clock_.advance(2 * WrongTokens::kHold);
  EXPECT_EQ(guess(kRight)->answer()->status, 204) << "nor is the guesser's neighbour for long";
  for (const auto& channel : held)
    EXPECT_EQ(channel->answer()->status, 401) << "each is answered once, as it was judged";
}

// Both answered 200 to a wrong token too, at full speed, and said whether it was the right one.
TEST_F(AdminGuessing, CallsThatNeedNoTokenAreSlowForAWrongOne) {
  for (const char* path : {"/api/v1/session", "/readyz"}) {
    require_token();
    for (int i = 0; i < WrongTokens::kFree; ++i) EXPECT_EQ(bear("guess", path)->answer()->status, 200) << path;
    const auto late = bear("guess", path);
    EXPECT_FALSE(late->answer()) << path;
    late->pass_deadline();
    EXPECT_EQ(late->answer()->status, 200);
    EXPECT_TRUE(bear("admin token", path)->answer()) << "the right one waits for nothing";
    EXPECT_EQ(get(path).status, 200) << "nor who brings none";
    clock_.advance(WrongTokens::kRemembered);
  }
}

TEST_F(AdminGuessing, AnAuthorizationOfAProxyInFrontIsNoGuess) {
  require_token();
  const std::string cookie = cookie_of(sign_in());
  for (int i = 0; i < 2 * WrongTokens::kFree; ++i) {
    HttpRequest head = request("GET", "/api/v1/session");
    head.headers.add("Authorization", "Basic dXNlcjpwYXNz");
    EXPECT_EQ(call(std::move(head)).status, 200);
    head = request("GET", "/api/v1/events");
    head.headers.add("Authorization", "Bearer of something else");
    head.headers.add("Cookie", cookie);
    EXPECT_EQ(call(std::move(head)).status, 200);
  }
  EXPECT_TRUE(guess()->answer()) << "at once: nothing was guessed before";
}

TEST_F(AdminGuessing, ATokenIsNotJudgedBeforeItsBodyHasCome) {
  require_token();
  for (const char* token : {"guess", "admin token"}) {
    HttpRequest head = request("POST", "/no/such/call", "{}");
    head.headers.add("Authorization", std::string("Bearer ") + token);
    EXPECT_FALSE(api_.on_head(head).refuse) << token;
  }
}

TEST_F(AdminGuessing, TheAddressIsTheOneThatATrustedProxyNamesAndANetworkOfIpv6IsOne) {
  Config config = shop_config();
  config.server.admin_token = "admin token";
  config.server.trusted_proxies = {"10.0.0.1"};
  configure(std::move(config));
  const auto through_proxy = [&](const std::string& client, const char* body) {
    HttpRequest head = request("POST", "/api/v1/session", body);
    head.remote = "10.0.0.1";
    head.headers.add("X-Forwarded-For", client);
    auto channel = std::make_shared<RecordingChannel>(loop_);
    api_.on_request(std::move(head), Responder(channel));
    return channel;
  };
  const auto held = flood("203.0.113.7");
  EXPECT_EQ(through_proxy("203.0.113.7", kRight)->answer()->status, 429);
  EXPECT_EQ(through_proxy("203.0.113.8", kRight)->answer()->status, 204);
  const auto more = flood("2001:db8::1");
  EXPECT_EQ(guess(kRight, "2001:db8::2")->answer()->status, 429);
  EXPECT_EQ(guess(kRight, "2001:db8:0:1::1")->answer()->status, 204);
}

// Each late answer keeps a connection of the admin listener.
TEST_F(AdminGuessing, ManyAddressesTogetherKeepOnlySoManyAnswersWaiting) {
  require_token();
  std::size_t waiting = 0;
  for (int address = 1; address <= 10; ++address) {
    const std::string from = "203.0.113." + std::to_string(address);
    for (const auto& channel : flood(from)) waiting += channel->answer() ? 0 : 1;
    EXPECT_EQ(guess(kRight, from)->answer()->status, 429) << "those that did not wait count all the same";
  }
  EXPECT_EQ(waiting, WrongTokens::kWaitingMax);
  EXPECT_EQ(guess(kRight)->answer()->status, 204);
}

}  // namespace
}  // namespace hookonce
