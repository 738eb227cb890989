// The client through a proxy of which the test sees every byte.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "http/client.h"
#include "test/support/client_call.h"
#include "test/support/raw_server.h"

namespace hookonce {
namespace {

using Result = ClientResponse::Result;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::shared_ptr<const std::string> body_of(std::string text) {
  return std::make_shared<const std::string>(std::move(text));
}

class HttpClientProxy : public ::testing::Test {
 protected:
  ClientResponse exchange(ClientRequest request) { return ClientCall(*client_, std::move(request)).wait(); }
  std::unique_ptr<HttpClient> client_ = start_client();
};

TEST_F(HttpClientProxy, TheProxyGetsTheWholeUrlAndNothingIsAdded) {
  RawServer proxy(answer_ok);
  const ClientResponse response = exchange({.url = "http://backend.test:8000/in?a=b",
                                            .headers = {{"X-One", "1"}},
                                            .body = body_of("x"),
                                            .proxy = proxy.url("")});
  EXPECT_EQ(response.status, 200) << response.error;
  const auto got = proxy.requests();
  ASSERT_EQ(got.size(), 1u);
  EXPECT_TRUE(got[0].head.starts_with("POST http://backend.test:8000/in?a=b HTTP/1.1\r\n")) << got[0].head;
  EXPECT_THAT(got[0].lines(), ElementsAre("Host: backend.test:8000", "X-One: 1", "Content-Length: 1"));
}

TEST_F(HttpClientProxy, TheProxysUserAndPasswordGoToTheProxy) {
  RawServer proxy(answer_ok);
  const std::string url = "http://user:pass@127.0.0.1:" + std::to_string(proxy.port());
  EXPECT_EQ(exchange({.url = "http://backend.test/", .body = body_of("x"), .proxy = url}).status, 200);
  EXPECT_THAT(proxy.requests().at(0).lines(),
              ElementsAre("Host: backend.test", "Proxy-Authorization: Basic dXNlcjpwYXNz", "Content-Length: 1"));
}

TEST_F(HttpClientProxy, ForTlsTheProxyIsAskedForATunnelAndWhatItAnswersIsNotTheDestinations) {
  RawServer proxy([](RawServer::Connection& c) {
    while (c.read_request()) c.write("HTTP/1.1 403 Not you\r\nContent-Length: 0\r\n\r\n");
  });
  const ClientResponse response = exchange(
      {.url = "https://backend.test/in", .headers = {{"X-Secret", "1"}}, .body = body_of("x"), .proxy = proxy.url("")});
  EXPECT_EQ(response.result, Result::kNotSent);
  EXPECT_EQ(response.status, 0);
  EXPECT_THAT(response.error, HasSubstr("proxy 127.0.0.1:"));
  EXPECT_THAT(response.error, HasSubstr("403"));
  const auto got = proxy.requests();
  ASSERT_EQ(got.size(), 1u);
  EXPECT_TRUE(got[0].head.starts_with("CONNECT backend.test:443 HTTP/1.1\r\n")) << got[0].head;
  EXPECT_THAT(got[0].lines(), ElementsAre("Host: backend.test:443", "Proxy-Connection: Keep-Alive"))
      << "the event's headers are not the proxy's";
}

TEST_F(HttpClientProxy, ADeadProxyIsNamed) {
  std::string url;
  {
    RawServer proxy(answer_ok);
    url = proxy.url("");
  }
  const ClientResponse response = exchange({.url = "http://backend.test/", .proxy = url});
  EXPECT_EQ(response.result, Result::kNotSent);
  EXPECT_THAT(response.error, HasSubstr("connect proxy 127.0.0.1:"));
  EXPECT_THAT(response.error, HasSubstr("refused"));
}

TEST_F(HttpClientProxy, IsRefusedWhereTheAddressMustBeSeen) {
  RawServer proxy(answer_ok);
  const ClientResponse response =
      exchange({.url = "http://backend.test/", .allow_private = false, .proxy = proxy.url("")});
  EXPECT_EQ(response.result, Result::kNotSent);
  EXPECT_THAT(response.error, HasSubstr("allow_private"));
  EXPECT_EQ(proxy.connections(), 0);
}

TEST_F(HttpClientProxy, AConnectionToAProxyServesNobodyElse) {
  RawServer server(answer_ok);
  EXPECT_EQ(exchange({.url = "http://backend.test/", .body = body_of("x"), .proxy = server.url("")}).status, 200);
  EXPECT_EQ(exchange({.url = server.url("/own"), .body = body_of("x")}).status, 200);
  EXPECT_EQ(server.connections(), 2);
  EXPECT_TRUE(server.requests().at(1).head.starts_with("POST /own HTTP/1.1\r\n"));
}

}  // namespace
}  // namespace hookonce
