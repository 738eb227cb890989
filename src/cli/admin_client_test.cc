// The client against a real server on loopback that answers what a test tells it to.
#include "cli/admin_client.h"

#include <gmock/gmock.h>

#include <map>

#include "base/sync.h"
#include "http/server.h"
#include "test/support/asserts.h"

namespace hookonce {
namespace {

using testing::HasSubstr;
using testing::Not;

// Answers by target ("/path?query"), 404 no_such_event else, and keeps what was asked.
class ScriptedApi final : public HttpHandler {
 public:
  void answer(std::string target, int status, std::string body) {
    MutexLock lock(mutex_);
    answers_[std::move(target)] = {status, std::move(body)};
  }
  std::vector<HttpRequest> take() {
    MutexLock lock(mutex_);
    return std::exchange(requests_, {});
  }

  HeadDecision on_head(const HttpRequest&) override { return {std::nullopt, 64 * 1024}; }
  void on_request(HttpRequest request, Responder responder) override {
    const std::string target = request.query.empty() ? request.path : request.path + "?" + request.query;
    HttpResponse response = error_response(404, "no_such_event", "no event has this id");
    {
      MutexLock lock(mutex_);
      if (const auto found = answers_.find(target); found != answers_.end()) {
        response.status = found->second.first;
        response.body = found->second.second;
      }
      requests_.push_back(std::move(request));
    }
    responder.respond(std::move(response));
  }

 private:
  Mutex mutex_;
  std::map<std::string, std::pair<int, std::string>> answers_ GUARDED_BY(mutex_);
  std::vector<HttpRequest> requests_ GUARDED_BY(mutex_);
};

class AdminClientTest : public testing::Test {
 protected:
  void SetUp() override {
    HttpServerOptions options;
    options.listen = {"127.0.0.1:0"};
    auto server = HttpServer::start(options, api_, system_clock());
    ASSERT_OK(server);
    server_ = std::move(server).value();
  }
  AdminClient client(std::string token = "") {
    AdminOptions options;
    options.admin = server_->addresses().front();
    options.token = std::move(token);
    auto made = AdminClient::make(options);
    EXPECT_OK(made);
    return std::move(made).value();
  }

  ScriptedApi api_;
  std::unique_ptr<HttpServer> server_;
};

constexpr const char* kUuid = "0199a1b2-c3d4-7e5f-8a6b-7c8d9e0f1a2b";

TEST(AdminUrl, TakesAddressesWithAndWithoutScheme) {
  EXPECT_EQ(*admin_url("127.0.0.1:8081"), "http://127.0.0.1:8081");
  EXPECT_EQ(*admin_url(" http://127.0.0.1:8081/ "), "http://127.0.0.1:8081");
  EXPECT_EQ(*admin_url("https://hooks.example.com/admin/"), "https://hooks.example.com/admin");
  EXPECT_EQ(admin_url("ftp://x").code(), Code::kInvalid);
  EXPECT_EQ(admin_url("").code(), Code::kInvalid);
  EXPECT_EQ(admin_url("http://").code(), Code::kInvalid);
}

// Typed into a terminal, and copied from there into tickets and logs.
TEST(AdminUrl, APasswordInTheAddressIsInNoMessage) {
  EXPECT_THAT(admin_url("ftp://user:hush@x").status().message(), Not(HasSubstr("hush")));
  AdminOptions options;
  options.admin = "http://user:hush@127.0.0.1:1";  // nobody listens there
  const auto made = AdminClient::make(options);
  ASSERT_OK(made);
  const std::string said = made->get("/api/v1/stats").status().message();
  EXPECT_THAT(said, HasSubstr("no gateway answers at http://[masked]@127.0.0.1:1 "));
  EXPECT_THAT(said, Not(HasSubstr("hush")));
}

TEST_F(AdminClientTest, APasswordInTheAddressIsInNoMessageAboutAnAnswer) {
  AdminOptions options;
  options.admin = "http://user:hush@" + server_->addresses().front();
  const auto made = AdminClient::make(options);
  ASSERT_OK(made);
  api_.answer("/text", 200, "no JSON");
  api_.answer("/other", 502, "no gateway");
  api_.answer("/locked", 401, R"({"error":{"code":"unauthorized","message":"no"}})");
  for (const char* path : {"/text", "/other", "/locked"}) {
    const std::string said = made->get(path).status().message();
    EXPECT_THAT(said, HasSubstr("http://[masked]@127.0.0.1:")) << path;
    EXPECT_THAT(said, Not(HasSubstr("hush"))) << path;
  }
}

TEST(QueryTextOf, EscapesWhatIsData) {
  QueryText query;
  query.add("q", "a b&c=%+\xc3\xbc");
  query.add("limit", "5");
  EXPECT_EQ(query.text(), "q=a%20b%26c%3D%25%2B%C3%BC&limit=5");
}

TEST_F(AdminClientTest, SendsTheTokenAndReadsJson) {
  api_.answer("/api/v1/stats?a=1", 200, R"({"n":3})");
  QueryText query;
  query.add("a", "1");
  const Result<json::value> answer = client("literal-token").get("/api/v1/stats", query);
  ASSERT_OK(answer);
  EXPECT_EQ(json_int(*answer, "n"), 3);
  EXPECT_EQ(api_.take().front().headers.first("Authorization"), "Bearer literal-token");
}

TEST_F(AdminClientTest, PostsJsonWithItsContentType) {
  api_.answer("/api/v1/replays", 202, R"({"matched":0})");
  ASSERT_OK(client().post("/api/v1/replays", json::object{{"dead", true}}));
  const std::vector<HttpRequest> requests = api_.take();
  EXPECT_EQ(requests.front().method, "POST");
  EXPECT_EQ(requests.front().headers.first("Content-Type"), "application/json");
  EXPECT_EQ(requests.front().body, R"({"dead":true})");
  EXPECT_FALSE(requests.front().headers.has("Authorization"));
}

TEST_F(AdminClientTest, TellsRefusalsApart) {
  api_.answer("/a", 422, R"({"error":{"code":"invalid_field","message":"no such destination"}})");
  api_.answer("/b", 503, R"({"error":{"code":"store_unavailable","message":"disk full"}})");
  api_.answer("/c", 401, R"({"error":{"code":"unauthorized","message":"no"}})");
  api_.answer("/d", 200, "<html>");
  api_.answer("/e", 500, "<html>");
  api_.answer("/f", 404, R"({"error":{"code":"no_such_source","message":"no source has this path"}})");
  EXPECT_EQ(client().get("/a").status().message(), "invalid_field: no such destination");
  EXPECT_EQ(client().get("/a").code(), Code::kInvalid);
  EXPECT_EQ(client().get("/b").code(), Code::kUnavailable);
  EXPECT_THAT(client().get("/c").status().message(), HasSubstr("wants its admin token"));
  EXPECT_THAT(client("wrong").get("/c").status().message(), HasSubstr("does not take this token"));
  EXPECT_THAT(client().get("/d").status().message(), HasSubstr("not JSON"));
  EXPECT_THAT(client().get("/e").status().message(), HasSubstr("admin API"));
  EXPECT_THAT(client().get("/f").status().message(), HasSubstr("not the ingest one?"));
  EXPECT_EQ(client().get("/missing").code(), Code::kNotFound);
}

TEST_F(AdminClientTest, SaysHowToReachAGatewayWhereNobodyListens) {
  const AdminClient orphan = client();
  server_->stop(Duration::zero());
  const Result<json::value> answer = orphan.get("/api/v1/events");
  EXPECT_EQ(answer.code(), Code::kUnavailable);
  EXPECT_THAT(answer.status().message(), HasSubstr("hookonce serve"));
  EXPECT_THAT(answer.status().message(), HasSubstr("--admin"));
}

TEST_F(AdminClientTest, FindsAnEventByTheGatewaysId) {
  api_.answer(std::string("/api/v1/events/") + kUuid, 200, std::string(R"({"id":")") + kUuid + "\"}");
  const Result<json::array> found = client().find(kUuid);
  ASSERT_OK(found);
  ASSERT_EQ(found->size(), 1U);
  EXPECT_EQ(json_string(found->front(), "id"), kUuid);
}

TEST_F(AdminClientTest, TakesAUuidThatTheGatewayDoesNotKnowForAProvidersId) {
  api_.answer(std::string("/api/v1/events?key=") + kUuid + "&limit=50", 200,
              R"({"items":[{"id":"x"}],"next_cursor":null})");
  const Result<json::array> found = client().find(kUuid);
  ASSERT_OK(found);
  EXPECT_EQ(json_string(found->front(), "id"), "x");
}

TEST_F(AdminClientTest, FindsEventsByAProvidersIdWhateverItsCharacters) {
  api_.answer("/api/v1/events?key=a%2Fb%3Fc%26d&limit=50", 200,
              R"({"items":[{"id":"x"},{"id":"y"}],"next_cursor":null})");
  const Result<json::array> found = client().find("a/b?c&d");
  ASSERT_OK(found);
  EXPECT_EQ(found->size(), 2U);
}

TEST_F(AdminClientTest, SaysThatNoEventHasTheId) {
  api_.answer("/api/v1/events?key=evt_0&limit=50", 200, R"({"items":[],"next_cursor":null})");
  const Result<json::array> found = client().find("evt_0");
  EXPECT_EQ(found.code(), Code::kNotFound);
  EXPECT_THAT(found.status().message(), HasSubstr("evt_0"));
}

TEST(AdminToken, ThatCannotBeReadIsAUsageMistakeWithoutItsValue) {
  AdminOptions options;
  options.token = "env:HOOKONCE_TEST_SURELY_UNSET";
  const Result<AdminClient> client = AdminClient::make(options);
  EXPECT_EQ(client.status().message().rfind("--token", 0), 0U);
}

}  // namespace
}  // namespace hookonce
