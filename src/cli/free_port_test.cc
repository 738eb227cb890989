#include "cli/free_port.h"

#include <gtest/gtest.h>

#include "http/server.h"
#include "test/support/asserts.h"

namespace hookonce {
namespace {

struct Nobody final : HttpHandler {
  HeadDecision on_head(const HttpRequest&) override { return {}; }
  void on_request(HttpRequest, Responder) override {}
};

TEST(FreePort, PassesOverAPortThatIsListenedOn) {
  Nobody nobody;
  HttpServerOptions options;
  options.listen = {"127.0.0.1:0"};
  const auto server = HttpServer::start(options, nobody, system_clock());
  ASSERT_OK(server);
  const std::string& address = (*server)->addresses().front();
  const int port = std::stoi(address.substr(address.rfind(':') + 1));
  const Result<std::string> free = next_free_loopback(port, "");
  ASSERT_OK(free);
  EXPECT_NE(*free, address);
  EXPECT_GT(std::stoi(free->substr(free->rfind(':') + 1)), port);
}

TEST(FreePort, PassesOverThePortThatTheCallerKeepsForItself) {
  const Result<std::string> one = next_free_loopback(20000, "");
  ASSERT_OK(one);
  const int port = std::stoi(one->substr(one->rfind(':') + 1));
  const Result<std::string> other = next_free_loopback(port, "0.0.0.0:" + std::to_string(port));
  ASSERT_OK(other);
  EXPECT_NE(*other, *one);
}

}  // namespace
}  // namespace hookonce
