// Who may call: Host, Origin, token, content type, and the shapes of 404 and 405.
#include "admin/access.h"

#include <gtest/gtest.h>

#include "admin/routes.h"
#include "test/support/admin_fixture.h"

namespace hookonce {
namespace {

class AdminAccess : public AdminFixture {
 protected:
  int status_for_host(const std::string& host) {
    HttpRequest head = request("GET", "/api/v1/events");
    head.headers.set("Host", host);
    return call(std::move(head)).status;
  }
  int status_for_origin(const std::string& origin, std::string body, const std::string& host = "127.0.0.1:8081") {
    HttpRequest head = request("POST", "/api/v1/replays", std::move(body));
    head.headers.set("Host", host);
    head.headers.add("Origin", origin);
    return call(std::move(head)).status;
  }
  int status_with(const std::string& target, const std::string& authorization) {
    HttpRequest head = request("GET", target);
    if (!authorization.empty()) head.headers.add("Authorization", authorization);
    return call(std::move(head)).status;
  }
};

TEST_F(AdminAccess, HostIsAnIpLiteralOrLocalhostOrListed) {
  Config config = shop_config();
  config.server.admin_hosts = {"hooks.internal"};
  configure(std::move(config));
  for (const char* host : {"127.0.0.1", "127.0.0.1:8081", "192.0.2.7:1", "[::1]", "[::1]:8081", "localhost",
                           "LocalHost:8081", "hooks.internal", "Hooks.Internal:443"}) {
    EXPECT_EQ(status_for_host(host), 200) << host;
  }
  for (const char* host :
       {"evil.example", "127.0.0.1.evil.example", "localhost.evil.example", "hooks.internal.evil", "", ":8081", "[::1",
        "[127.0.0.1]", "::1", "localhost:x", "localhost:", "[localhost]", "[]", "127.0.0.1@evil.example"}) {
    EXPECT_EQ(status_for_host(host), 421) << host;
  }
}

TEST_F(AdminAccess, WithoutHostOrWithTwoDifferentOnesItIs421) {
  HttpRequest none = request("GET", "/healthz");
  none.headers.remove("Host");
  const HttpResponse answer = call(std::move(none));
  EXPECT_EQ(answer.status, 421);
  EXPECT_EQ(code_of(answer), "misdirected_request");
  HttpRequest two = request("GET", "/healthz");
  two.headers.add("Host", "evil.example");
  EXPECT_EQ(call(std::move(two)).status, 421);
}

TEST_F(AdminAccess, HostIsAskedForEveryPathWhateverTheToken) {
  for (const char* path : {"/", "/healthz", "/readyz", "/metrics", "/nowhere"}) {
    HttpRequest head = request("GET", path);
    head.headers.set("Host", "evil.example");
    EXPECT_EQ(call(std::move(head)).status, 421) << path;
  }
}

TEST_F(AdminAccess, APostFromAnotherOriginIs403WithABodyAndWithout) {
  for (const std::string& body : {std::string(), std::string(R"({"dry_run":true})")}) {
    for (const char* origin :
         {"http://evil.example", "null", "", "http://127.0.0.1", "http://127.0.0.1:9999", "file://",
          "ftp://127.0.0.1:8081", "http://127.0.0.1:8081.evil.example", "http://127.0.0.1:8081/"}) {
      EXPECT_EQ(status_for_origin(origin, body), 403) << origin << " " << body;
    }
  }
}

TEST_F(AdminAccess, APostFromTheOwnOriginIsTaken) {
  const std::string body = R"({"dry_run":true})";
  EXPECT_EQ(status_for_origin("http://127.0.0.1:8081", body), 202);
  EXPECT_EQ(status_for_origin("https://127.0.0.1:8081", body), 202);
  EXPECT_EQ(status_for_origin("http://localhost", body, "localhost:80"), 202);
  EXPECT_EQ(status_for_origin("HTTP://LOCALHOST:8081", body, "localhost:8081"), 202);
  EXPECT_EQ(status_for_origin("http://[::1]:8081", body, "[::1]:8081"), 202);
}

TEST_F(AdminAccess, OneForeignOriginAmongSeveralIs403) {
  HttpRequest head = request("POST", "/api/v1/replays", R"({"dry_run":true})");
  head.headers.add("Origin", "http://127.0.0.1:8081");
  head.headers.add("Origin", "http://evil.example");
  EXPECT_EQ(call(std::move(head)).status, 403);
}

TEST_F(AdminAccess, ABodyMustBeJson) {
  const EventId id = put(NewEventBuilder().build());
  for (const char* type :
       {"", "text/plain", "application/x-www-form-urlencoded", "application/jsonx", "multipart/form-data"}) {
    HttpRequest head = request("POST", "/api/v1/replays", R"({"dry_run":true})");
    head.headers.remove("Content-Type");
    if (*type != '\0') head.headers.add("Content-Type", type);
    const HttpResponse answer = call(std::move(head));
    EXPECT_EQ(answer.status, 415) << type;
    EXPECT_EQ(code_of(answer), "unsupported_media_type");
  }
  HttpRequest head = request("POST", "/api/v1/replays", R"({"dry_run":true})");
  head.headers.set("Content-Type", "Application/JSON; charset=utf-8");
  EXPECT_EQ(call(std::move(head)).status, 202);
  EXPECT_EQ(post("/api/v1/events/" + id.text() + "/replay").status, 202) << "without a body no type is needed";
}

TEST_F(AdminAccess, WithATokenEveryCallButTheOpenOnesNeedsIt) {
  require_token();
  for (const Route& route : routes()) {
    HttpRequest head = request(std::string(route.method), std::string(route.path));
    const HttpResponse answer = call(std::move(head));
    if (route.call == Call::kBeginSession) continue;  // asks for the token by itself
    EXPECT_EQ(answer.status == 401, !route.open) << route.path;
    if (answer.status != 401) continue;
    EXPECT_EQ(code_of(answer), "unauthorized");
    EXPECT_EQ(header_of(answer, "WWW-Authenticate"), "Bearer");
  }
  EXPECT_EQ(get("/nowhere").status, 401) << "what exists is not for strangers";
}

TEST_F(AdminAccess, TheTokenMustBeRightAndWhole) {
  require_token();
  EXPECT_EQ(status_with("/api/v1/events", "Bearer admin token"), 200);
  EXPECT_EQ(status_with("/api/v1/events", "bearer admin token"), 200);
  for (const char* wrong : {"Bearer", "Bearer ", "Bearer admin toke", "Bearer admin token!", "admin token",
                            "Basic admin token", "Bearer Admin Token"}) {
    EXPECT_EQ(status_with("/api/v1/events", wrong), 401) << wrong;
  }
  HttpRequest twice = request("GET", "/api/v1/events");
  twice.headers.add("Authorization", "Bearer admin token");
  twice.headers.add("Authorization", "Bearer other");
  EXPECT_EQ(call(std::move(twice)).status, 401);
}

TEST_F(AdminAccess, ANewTokenIsAskedForAtOnce) {
  EXPECT_EQ(get("/api/v1/events").status, 200);
  require_token();
  EXPECT_EQ(get("/api/v1/events").status, 401);
}

TEST_F(AdminAccess, UnknownPathsAre404AndOtherMethods405WithAllow) {
  for (const char* path : {"/nowhere", "/api/v1", "/api/v1/events/", "/api/v1/events//replay",
                           "/api/v1/events/a/b/replay", "/api/v2/events", "/API/v1/events", "/healthz/"}) {
    const HttpResponse answer = get(path);
    EXPECT_EQ(answer.status, 404) << path;
    EXPECT_EQ(code_of(answer), "no_such_call") << path;
  }
  for (const Route& route : routes()) {
    const HttpResponse answer = call(request("PUT", std::string(route.path)));
    EXPECT_EQ(answer.status, 405) << route.path;
    EXPECT_EQ(code_of(answer), "method_not_allowed");
    std::string allowed = route.method == "GET" ? "GET, HEAD" : "POST";
    if (route.path == "/api/v1/session") allowed = "POST, GET, HEAD, DELETE";
    EXPECT_EQ(header_of(answer, "Allow"), allowed) << route.path;
  }
}

TEST_F(AdminAccess, HeadIsAnsweredAsGet) {
  EXPECT_EQ(call(request("HEAD", "/healthz")).status, 200);
  EXPECT_EQ(call(request("HEAD", "/api/v1/events")).status, 200);
  EXPECT_EQ(call(request("HEAD", "/api/v1/replays")).status, 405);
}

TEST_F(AdminAccess, NothingIsCachedOrGuessed) {
  for (const char* path : {"/healthz", "/api/v1/events", "/api/v1/session", "/nowhere", "/assets/nowhere.js"}) {
    const HttpResponse answer = get(path);
    EXPECT_EQ(header_of(answer, "Cache-Control"), "no-store") << path;
    EXPECT_EQ(header_of(answer, "X-Content-Type-Options"), "nosniff") << path;
  }
}

}  // namespace
}  // namespace hookonce
