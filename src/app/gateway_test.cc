// The gateway whole, on ports that the system chooses: start, take, deliver, reload, drain, and each step when another
// fails.
#include "app/gateway.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>

#include "base/json.h"
#include "base/sync.h"
#include "http/client.h"
#include "http/server.h"
#include "test/support/asserts.h"

namespace hookonce {
namespace {

using testing::HasSubstr;

constexpr Duration kPatience = std::chrono::seconds(30);  // for what must happen; the tests end long before

// A destination that answers 200 and lets a test wait for what it got.
class Backend final : public HttpHandler {
 public:
  HeadDecision on_head(const HttpRequest&) override { return {std::nullopt, 1 << 20}; }
  void on_request(HttpRequest request, Responder responder) override {
    {
      MutexLock lock(mutex_);
      bodies_.push_back(request.body);
    }
    arrived_.notify_all();
    responder.respond(HttpResponse());
  }
  std::vector<std::string> wait_for(std::size_t count) {
    const Duration until = steady_now() + kPatience;
    MutexLock lock(mutex_);
    while (bodies_.size() < count && steady_now() < until) arrived_.wait_for(mutex_, std::chrono::milliseconds(100));
    return bodies_;
  }

 private:
  Mutex mutex_;
  CondVar arrived_;
  std::vector<std::string> bodies_ GUARDED_BY(mutex_);
};

class GatewayTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "hookonce-app-XXXXXX").string();
    directory_ = ::mkdtemp(pattern.data());
    HttpServerOptions options;
    options.listen = {"127.0.0.1:0"};
    auto server = HttpServer::start(options, backend_, system_clock());
    ASSERT_OK(server);
    server_ = std::move(server).value();
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  struct Tables {
    std::string listen = "127.0.0.1:0";
    std::string admin = "127.0.0.1:0";
    std::string store = "memory:";
    std::string path = "/in/shop";
  };
  std::shared_ptr<const Config> config(const Tables& tables) {
    const std::string toml = fmt::format(
        "[server]\nlisten = \"{}\"\nadmin = \"{}\"\ndrain = \"5s\"\n[store]\nurl = \"{}\"\n"
        "[sources.shop]\nprovider = \"none\"\npath = \"{}\"\ndestinations = [\"backend\"]\ndedup_key = \"json:/id\"\n"
        "[destinations.backend]\nurl = \"http://{}/\"\n",
        tables.listen, tables.admin, tables.store, tables.path, server_->addresses().front());
    CheckedConfig checked = check_config_text(toml, "test");
    EXPECT_THAT(checked.errors, testing::IsEmpty());
    return checked.config;
  }
  std::unique_ptr<Gateway> start(const Tables& tables) {
    auto gateway = Gateway::start(config(tables), {});
    EXPECT_OK(gateway);
    return gateway.ok() ? std::move(gateway).value() : nullptr;
  }
  std::string sqlite() const { return "sqlite:" + (directory_ / "inbox.db").string(); }

  static ClientResponse post(const std::string& address, const std::string& path, const std::string& body) {
    ClientRequest request;
    request.url = "http://" + address + path;
    request.headers.add("Content-Type", "application/json");
    request.body = std::make_shared<const std::string>(body);
    return fetch(request);
  }
  static ClientResponse get(const std::string& address, const std::string& path) {
    ClientRequest request;
    request.method = "GET";
    request.url = "http://" + address + path;
    return fetch(request);
  }

  std::filesystem::path directory_;
  Backend backend_;
  std::unique_ptr<HttpServer> server_;
};

TEST_F(GatewayTest, TakesAnEventOnceAndDeliversIt) {
  const auto gateway = start({});
  ASSERT_NE(gateway, nullptr);
  const std::string ingest = gateway->ingest_addresses().front();
  const ClientResponse first = post(ingest, "/in/shop", R"({"id":"a"})");
  EXPECT_EQ(first.status, 200) << first.error << first.body;
  EXPECT_EQ(first.headers.first("Hookonce-Status"), "accepted");
  EXPECT_EQ(post(ingest, "/in/shop", R"({"id":"a"})").headers.first("Hookonce-Status"), "duplicate");
  EXPECT_THAT(backend_.wait_for(1), testing::ElementsAre(R"({"id":"a"})"));
  EXPECT_EQ(get(gateway->admin_address(), "/healthz").status, 200);
  EXPECT_EQ(get(gateway->admin_address(), "/readyz").status, 200);
  gateway->drain();
  EXPECT_EQ(backend_.wait_for(1).size(), 1U);
}

TEST_F(GatewayTest, TakesNothingMoreOnceItIsDrained) {
  const auto gateway = start({});
  ASSERT_NE(gateway, nullptr);
  const std::string ingest = gateway->ingest_addresses().front();
  gateway->drain();
  gateway->drain();
  EXPECT_NE(post(ingest, "/in/shop", "{}").result, ClientResponse::Result::kAnswered);
}

TEST_F(GatewayTest, ReloadsPathsWithoutARestart) {
  const auto gateway = start({});
  ASSERT_NE(gateway, nullptr);
  const std::string ingest = gateway->ingest_addresses().front();
  Tables moved;
  moved.path = "/elsewhere";
  EXPECT_OK(gateway->reload(config(moved)));
  EXPECT_EQ(post(ingest, "/in/shop", R"({"id":"a"})").status, 404);
  EXPECT_EQ(post(ingest, "/elsewhere", R"({"id":"a"})").status, 200);
}

TEST_F(GatewayTest, RefusesAReloadThatNeedsARestartByName) {
  const auto gateway = start({});
  ASSERT_NE(gateway, nullptr);
  const std::string ingest = gateway->ingest_addresses().front();
  Tables other;
  other.listen = "127.0.0.1:1";
  other.store = sqlite();
  other.path = "/elsewhere";
  const Status refused = gateway->reload(config(other));
  EXPECT_EQ(refused.code(), Code::kInvalid);
  EXPECT_THAT(refused.message(), HasSubstr("server.listen, store.url have changed"));
  EXPECT_THAT(refused.message(), HasSubstr("restart"));
  EXPECT_EQ(post(ingest, "/in/shop", R"({"id":"a"})").status, 200) << "the old configuration stays whole";
  EXPECT_EQ(post(ingest, "/elsewhere", R"({"id":"b"})").status, 404);
}

TEST_F(GatewayTest, StartsNothingWhereAnAddressIsTaken) {
  const auto gateway = start({});
  ASSERT_NE(gateway, nullptr);
  Tables tables;
  tables.store = sqlite();
  tables.listen = gateway->ingest_addresses().front();
  EXPECT_EQ(Gateway::start(config(tables), {}).code(), Code::kPrecondition);
  tables.listen = "127.0.0.1:0";
  tables.admin = gateway->admin_address();
  EXPECT_EQ(Gateway::start(config(tables), {}).code(), Code::kPrecondition);
  tables.admin = "127.0.0.1:0";
  EXPECT_NE(start(tables), nullptr) << "the inbox was let go";
}

TEST_F(GatewayTest, LetsOnlyOneOwnAnInbox) {
  Tables tables;
  tables.store = sqlite();
  const auto gateway = start(tables);
  ASSERT_NE(gateway, nullptr);
  EXPECT_EQ(Gateway::start(config(tables), {}).code(), Code::kPrecondition);
}

TEST_F(GatewayTest, RemembersEventsOverARestart) {
  Tables tables;
  tables.store = sqlite();
  std::string id;
  {
    const auto gateway = start(tables);
    ASSERT_NE(gateway, nullptr);
    const ClientResponse first = post(gateway->ingest_addresses().front(), "/in/shop", R"({"id":"a"})");
    id = std::string(first.headers.first("Hookonce-Event").value_or(""));
    backend_.wait_for(1);
    gateway->drain();
  }
  const auto gateway = start(tables);
  ASSERT_NE(gateway, nullptr);
  const ClientResponse again = post(gateway->ingest_addresses().front(), "/in/shop", R"({"id":"a"})");
  EXPECT_EQ(again.headers.first("Hookonce-Status"), "duplicate");
  EXPECT_EQ(again.headers.first("Hookonce-Event"), id);
  EXPECT_EQ(get(gateway->admin_address(), "/api/v1/events/" + id).status, 200);
  EXPECT_EQ(backend_.wait_for(1).size(), 1U) << "a delivery that ended is not sent again";
}

TEST_F(GatewayTest, NamesAWeakStoreWhereItIsAskedForReadiness) {
  const auto gateway = start({});
  ASSERT_NE(gateway, nullptr);
  EXPECT_THAT(get(gateway->admin_address(), "/readyz").body, HasSubstr("memory store"));
}

TEST_F(GatewayTest, CopiesAnInboxWhileItRuns) {
  Tables tables;
  tables.store = sqlite();
  const auto gateway = start(tables);
  ASSERT_NE(gateway, nullptr);
  ASSERT_EQ(post(gateway->ingest_addresses().front(), "/in/shop", R"({"id":"a"})").status, 200);
  const std::string copy = (directory_ / "copy.db").string();
  EXPECT_OK(backup(tables.store, copy));
  EXPECT_EQ(backup(tables.store, copy).code(), Code::kPrecondition) << "an existing file is never overwritten";
  Tables from_copy;
  from_copy.store = "sqlite:" + copy;
  const auto restored = start(from_copy);
  ASSERT_NE(restored, nullptr);
  EXPECT_EQ(post(restored->ingest_addresses().front(), "/in/shop", R"({"id":"a"})").headers.first("Hookonce-Status"),
            "duplicate");
}

}  // namespace
}  // namespace hookonce
