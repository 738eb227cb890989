// The client against a server that behaves as badly as servers do, byte by byte on a real socket.
#include "http/client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "test/support/client_call.h"
#include "test/support/raw_server.h"
#include "test/support/signal.h"

namespace hookonce {
namespace {

using Result = ClientResponse::Result;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::string_view kOk = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
// Short, because a test waits for it to pass; nothing is asserted about how long that took.
constexpr Duration kShort = std::chrono::milliseconds(200);

std::shared_ptr<const std::string> body_of(std::string text) {
  return std::make_shared<const std::string>(std::move(text));
}

class HttpClientTest : public ::testing::Test {
 protected:
  ClientResponse exchange(ClientRequest request) { return ClientCall(*client_, std::move(request)).wait(); }
  ClientResponse post(const RawServer& server, std::string body = "x") {
    return exchange({.url = server.url("/in"), .body = body_of(std::move(body))});
  }
  std::unique_ptr<HttpClient> client_ = start_client();
};

TEST_F(HttpClientTest, SendsTheHeadersGivenAndNothingElse) {
  RawServer server(answer_ok);
  ClientRequest request{.url = server.url("/a/../b?q=%20&r"), .body = body_of("body")};
  request.headers = {
      {"X-Empty", ""},  {"X-Twice", "1"}, {"Other", "o"}, {"x-twice", "2"}, {"X-Bytes", "caf\xe9 \xff\x80"},
      {"X-Semi", "a;b"}};
  EXPECT_EQ(exchange(request).status, 200);
  const auto got = server.requests();
  ASSERT_EQ(got.size(), 1u);
  EXPECT_TRUE(got[0].head.starts_with("POST /a/../b?q=%20&r HTTP/1.1\r\n")) << got[0].head;
  EXPECT_THAT(got[0].lines(),
              ElementsAre("Host: 127.0.0.1:" + std::to_string(server.port()), "X-Empty:", "X-Twice: 1", "Other: o",
                          "x-twice: 2", "X-Bytes: caf\xe9 \xff\x80", "X-Semi: a;b", "Content-Length: 4"));
}

TEST_F(HttpClientTest, HeadersThatItWouldAddArePassedWhereGiven) {
  RawServer server(answer_ok);
  ClientRequest request{.url = server.url(), .body = body_of("b")};
  request.headers = {
      {"Accept", "a/b"}, {"Content-Type", ""}, {"User-Agent", "u"}, {"accept", "c/d"}, {"Content-Length", "999"}};
  EXPECT_EQ(exchange(request).status, 200);
  EXPECT_THAT(server.requests().at(0).lines(),
              ElementsAre("Host: 127.0.0.1:" + std::to_string(server.port()), "Accept: a/b",
                          "Content-Type:", "User-Agent: u", "accept: c/d", "Content-Length: 1"));
}

TEST_F(HttpClientTest, SendsTheBodyByteForByteWhateverItsSize) {
  RawServer server(answer_ok);
  std::string large(2u << 20, '\0');
  for (std::size_t i = 0; i < large.size(); ++i) large[i] = static_cast<char>(i * 31 + i / 255);
  for (const std::string& body : {std::string(), std::string("\0\xff\xfe\r\n\r\n\0", 8), large}) {
    EXPECT_EQ(post(server, body).status, 200);
    EXPECT_TRUE(server.requests().back().body == body) << body.size();
    EXPECT_THAT(server.requests().back().lines(), ElementsAre("Host: 127.0.0.1:" + std::to_string(server.port()),
                                                              "Content-Length: " + std::to_string(body.size())));
  }
  EXPECT_EQ(server.connections(), 1) << "the connection is kept";
}

TEST_F(HttpClientTest, ABodyIsHandedOverAsItComesForHoweverLong) {
  Signal seen;
  RawServer server([&](RawServer::Connection& c) {
    c.read_request();
    c.write("HTTP/1.1 200 OK\r\n\r\nfirst");
    seen.wait();  // the client has it although the answer goes on
    c.write("second");
  });
  std::string got;
  ClientRequest request{.method = "GET", .url = server.url(), .timeout = std::chrono::hours(24 * 365)};
  request.on_body = [&](std::string_view piece) {
    got += piece;
    if (got == "first") seen.set();
    return got != "firstsecond";
  };
  const ClientResponse response = exchange(request);
  EXPECT_EQ(got, "firstsecond");
  EXPECT_EQ(response.body, "");
}

TEST_F(HttpClientTest, OtherMethodsAndNoBody) {
  RawServer server(answer_ok);
  EXPECT_EQ(exchange({.method = "GET", .url = server.url("/g")}).status, 200);
  EXPECT_EQ(exchange({.method = "HEAD", .url = server.url("/h")}).status, 200);
  EXPECT_EQ(exchange({.method = "PUT", .url = server.url("/p"), .body = body_of("up")}).status, 200);
  EXPECT_EQ(exchange({.method = "DELETE", .url = server.url("/d")}).status, 200);
  const auto got = server.requests();
  ASSERT_EQ(got.size(), 4u);
  EXPECT_TRUE(got[0].head.starts_with("GET /g HTTP/1.1\r\n"));
  EXPECT_TRUE(got[1].head.starts_with("HEAD /h HTTP/1.1\r\n"));
  EXPECT_TRUE(got[2].head.starts_with("PUT /p HTTP/1.1\r\n"));
  EXPECT_EQ(got[2].body, "up");
  EXPECT_TRUE(got[3].head.starts_with("DELETE /d HTTP/1.1\r\n"));
}

TEST_F(HttpClientTest, RefusesToSendWhatWouldReadAsSomethingElse) {
  RawServer server(answer_ok);
  for (const Header& header : {Header{"X", "a\r\nY: b"}, Header{"X", "a\n"}, Header{"X", std::string("a\0b", 3)},
                               Header{"X: y", "z"}, Header{"", "z"}}) {
    const ClientResponse response = exchange({.url = server.url(), .headers = {header}});
    EXPECT_EQ(response.result, Result::kNotSent);
    EXPECT_THAT(response.error, HasSubstr("header"));
  }
  EXPECT_EQ(exchange({.method = "GET /x HTTP/1.1\r\nX:", .url = server.url()}).result, Result::kNotSent);
  for (const char* url : {"", "ftp://127.0.0.1/", "file:///etc/hostname", "http://", "http://a b/", "gopher://x"}) {
    const ClientResponse response = exchange({.url = url});
    EXPECT_EQ(response.result, Result::kNotSent) << url;
    EXPECT_THAT(response.error, HasSubstr("url")) << url;
  }
  EXPECT_EQ(server.connections(), 0);
}

TEST_F(HttpClientTest, ReadsStatusHeadersAndBodyOfTheAnswer) {
  RawServer server([](RawServer::Connection& c) {
    while (c.read_request()) {
      c.write(
          "HTTP/1.1 103 Early\r\nLink: x\r\n\r\nHTTP/1.1 429 Slow down\r\nRetry-After: 7\r\nTransfer-Encoding: "
          "chunked\r\n\r\n"
          "3\r\nabc\r\n2\r\nde\r\n0\r\nTrailer: t\r\n\r\n");
    }
  });
  const ClientResponse response = post(server);
  EXPECT_EQ(response.result, Result::kAnswered);
  EXPECT_EQ(response.status, 429);
  EXPECT_EQ(response.headers.first("retry-after"), "7");
  EXPECT_FALSE(response.headers.has("Link"));
  EXPECT_FALSE(response.headers.has("Trailer"));
  EXPECT_EQ(response.body, "abcde");
  EXPECT_EQ(response.error, "");
}

TEST_F(HttpClientTest, DoesNotFollowRedirects) {
  RawServer target(answer_ok);
  RawServer server([&](RawServer::Connection& c) {
    while (c.read_request())
      c.write("HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: " + target.url("/login") + "\r\n\r\n");
  });
  EXPECT_EQ(post(server).status, 302);
  EXPECT_EQ(target.connections(), 0);
}

TEST_F(HttpClientTest, NeitherKeepsCookiesNorAlternativesNorUpgrades) {
  RawServer server([](RawServer::Connection& c) {
    while (c.read_request()) {
      c.write(
          "HTTP/1.1 200 OK\r\nSet-Cookie: a=b\r\nAlt-Svc: h2=\":1\"; persist=1\r\nStrict-Transport-Security: "
          "max-age=9\r\n"
          "Content-Length: 0\r\n\r\n");
    }
  });
  EXPECT_EQ(post(server).status, 200);
  EXPECT_EQ(post(server).status, 200);
  EXPECT_EQ(server.requests().at(0).lines(), server.requests().at(1).lines());
  EXPECT_EQ(server.requests().size(), 2u);
}

TEST_F(HttpClientTest, IgnoresTheProxyEnvironment) {
  RawServer proxy(answer_ok);
  for (const char* name : {"http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"})
    setenv(name, proxy.url("", "127.0.0.1").c_str(), 1);
  RawServer server(answer_ok);
  EXPECT_EQ(post(server).status, 200);
  for (const char* name : {"http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"}) unsetenv(name);
  EXPECT_EQ(server.requests().size(), 1u);
  EXPECT_EQ(proxy.connections(), 0);
}

// A kept connection that the server closes when the next request comes in, at each moment and in each way: the attempt
// ends without an answer, and the server saw one request for it. curl alone would send it again on a new connection.
struct Dying {
  const char* name;
  bool read_first;  // the request is read before the end
  bool hard;        // a reset instead of an orderly end
  std::string body;
};
class DeadConnection : public HttpClientTest, public ::testing::WithParamInterface<Dying> {};

TEST_P(DeadConnection, NeverSendsTheRequestASecondTime) {
  const Dying& how = GetParam();
  Signal die;
  std::atomic<int> number{0};
  RawServer server([&](RawServer::Connection& c) {
    if (number++ > 0) return answer_ok(c);
    ASSERT_TRUE(c.read_request());
    c.write(kOk);
    if (how.read_first) {
      c.read_request();
    } else {
      die.wait();
    }
    if (how.hard) c.reset();
  });
  EXPECT_EQ(post(server, "first").status, 200);
  ClientRequest request{.url = server.url(), .body = body_of(how.body)};
  if (how.body.empty()) request.body = nullptr;
  ClientCall second(*client_, request);
  if (!how.read_first) {
    // Whether the end or the request comes first is for the machine to decide; each order must end well.
    die.set();
  }
  const ClientResponse response = second.wait();
  const auto requests = server.requests();
  if (how.read_first) {
    EXPECT_EQ(response.result, Result::kNoAnswer) << response.error;
    EXPECT_THAT(response.error, HasSubstr("closed before an answer"));
    EXPECT_EQ(requests.size(), 2u) << "the first request, and the second one once";
  } else if (response.result == Result::kAnswered) {
    EXPECT_EQ(requests.size(), 2u) << "the end was seen before anything was written, so a new connection was right";
  } else {
    EXPECT_EQ(requests.size(), 1u);
  }
  EXPECT_EQ(post(server, "third").status, 200) << "the client goes on";
}

INSTANTIATE_TEST_SUITE_P(, DeadConnection,
                         ::testing::Values(Dying{"ReadThenClosed", true, false, "body"},
                                           Dying{"ReadThenReset", true, true, "body"},
                                           Dying{"ReadThenClosedWithoutBody", true, false, ""},
                                           Dying{"ReadThenResetWithoutBody", true, true, ""},
                                           Dying{"Closed", false, false, "body"}, Dying{"Reset", false, true, "body"},
                                           Dying{"ClosedWithoutBody", false, false, ""},
                                           Dying{"ResetWithoutBody", false, true, ""},
                                           Dying{"ClosedWithLargeBody", false, false, std::string(3u << 20, 'l')},
                                           Dying{"ResetWithLargeBody", false, true, std::string(3u << 20, 'l')}),
                         [](const auto& info) { return info.param.name; });

// Many rounds of a server that closes right behind its answer, so that the close falls into every moment of the next
// request.
TEST_F(HttpClientTest, AtMostOneRequestPerAttemptHoweverTheServerCloses) {
  constexpr int kRounds = 100;
  std::atomic<int> spin{0};
  RawServer server([&](RawServer::Connection& c) {
    if (!c.read_request()) return;
    c.write(kOk);
    volatile int work = 0;
    for (int left = (spin++ * 37) % 4000; left > 0; --left) work = work + left;
  });
  int answered = 0;
  for (int i = 0; i < kRounds; ++i) {
    const ClientResponse response = post(server, std::to_string(i));
    if (response.result == Result::kAnswered) ++answered;
  }
  std::map<std::string, int> seen;
  for (const auto& request : server.requests()) ++seen[request.body];
  for (const auto& [body, count] : seen) EXPECT_EQ(count, 1) << body;
  EXPECT_GE(static_cast<int>(seen.size()), answered);
}

TEST_F(HttpClientTest, AnAnswerThatCameBeforeTheRequestIsNotItsAnswer) {
  Signal stray;
  Signal written;
  std::atomic<int> number{0};
  RawServer server([&](RawServer::Connection& c) {
    const bool first = number++ == 0;
    if (!c.read_request()) return;
    c.write(kOk);
    if (first) {
      stray.wait();
      c.write("HTTP/1.1 200 Stray\r\nContent-Length: 5\r\n\r\nstray");
      written.set();
      c.await_close();
      return;
    }
    answer_ok(c);
  });
  EXPECT_EQ(post(server).status, 200);
  stray.set();
  written.wait();
  const ClientResponse response = post(server);
  EXPECT_EQ(response.result, Result::kAnswered) << response.error;
  EXPECT_EQ(response.body, "");
  EXPECT_EQ(server.requests().size(), 2u);
}

TEST_F(HttpClientTest, TheDeadlineIsForTheWholeExchangeWhateverTricklesIn) {
  struct Case {
    const char* name;
    const char* begin;
    const char* drip;
    Result result;
    int status;
  };
  for (const Case& c :
       {Case{"silence", "", "", Result::kNoAnswer, 0},
        Case{"status line", "HTTP/1.1 200 OK\r\n", "", Result::kNoAnswer, 0},
        Case{"dripping head", "HTTP/1.1 200 OK\r\n", "X: y\r\n", Result::kNoAnswer, 0},
        Case{"dripping provisional heads", "", "HTTP/1.1 102 Processing\r\n\r\n", Result::kNoAnswer, 0},
        Case{"dripping body", "HTTP/1.1 200 OK\r\nContent-Length: 60000\r\n\r\n", ".", Result::kAnswered, 200},
        Case{"dripping chunks", "HTTP/1.1 500 No\r\nTransfer-Encoding: chunked\r\n\r\n", "1\r\n.\r\n",
             Result::kAnswered, 500}}) {
    RawServer server([&](RawServer::Connection& connection) {
      if (!connection.read_request()) return;
      connection.write(c.begin);
      timespec pause{0, 10'000'000};
      while (c.drip[0] != '\0' && connection.write(c.drip)) nanosleep(&pause, nullptr);
      connection.await_close();
    });
    const ClientResponse response = exchange({.url = server.url(), .body = body_of("x"), .timeout = kShort});
    EXPECT_EQ(response.result, c.result) << c.name << ": " << response.error;
    EXPECT_EQ(response.status, c.status) << c.name;
    EXPECT_NE(response.error, "") << c.name;
    server.await_all_closed();  // the client lets go of the connection
  }
}

TEST_F(HttpClientTest, AnEndlessAnswerIsCutAndItsStatusCounts) {
  RawServer server([](RawServer::Connection& c) {
    if (!c.read_request()) return;
    c.write("HTTP/1.1 200 OK\r\n\r\n");
    while (c.write(std::string(4096, 'e'))) {
    }
  });
  ClientRequest request{.url = server.url(), .body = body_of("x")};
  request.response_limit = 1000;
  const ClientResponse response = exchange(request);
  EXPECT_EQ(response.result, Result::kAnswered);
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.body, std::string(1000, 'e'));
  EXPECT_THAT(response.error, HasSubstr("cut"));
  server.await_all_closed();
}

TEST_F(HttpClientTest, AnEndlessHeadIsNoAnswer) {
  RawServer server([](RawServer::Connection& c) {
    if (!c.read_request()) return;
    c.write("HTTP/1.1 200 OK\r\n");
    while (c.write("X-Again: and again\r\n")) {
    }
  });
  const ClientResponse response = post(server);
  EXPECT_EQ(response.result, Result::kNoAnswer);
  EXPECT_THAT(response.error, HasSubstr("head of the answer"));
}

TEST_F(HttpClientTest, BrokenAnswersAreNoAnswers) {
  for (const char* answer : {"", "HTTP/1.1 200 OK\r\nX: y", "hello\r\n\r\n", "HTTP/1.1 200 OK", "\r\n\r\n"}) {
    RawServer server([&](RawServer::Connection& c) {
      if (c.read_request()) c.write(answer);
    });
    const ClientResponse response = post(server);
    EXPECT_EQ(response.result, Result::kNoAnswer) << answer;
    EXPECT_NE(response.error, "") << answer;
    EXPECT_EQ(server.requests().size(), 1u) << answer;
  }
}

TEST_F(HttpClientTest, ABodyThatEndsTooEarlyLeavesTheStatusValid) {
  RawServer server([](RawServer::Connection& c) {
    if (c.read_request()) c.write("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc");
  });
  const ClientResponse response = post(server);
  EXPECT_EQ(response.result, Result::kAnswered);
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.body, "abc");
  EXPECT_THAT(response.error, HasSubstr("incomplete"));
}

TEST_F(HttpClientTest, AnAnswerBeforeTheWholeRequestWasReadCounts) {
  RawServer server([](RawServer::Connection& c) {
    c.write("HTTP/1.1 413 Too large\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    c.await_close();
  });
  EXPECT_EQ(post(server, std::string(8u << 20, 'x')).status, 413);
}

// The loop is held up by a callback until another request's deadline is over, while that one's answer lies in the
// socket. On a machine so busy that the answer itself came too late, the round shows nothing and is repeated with more
// time.
TEST_F(HttpClientTest, AnAnswerThatWasThereBeforeTheDeadlineCountsHoweverLateTheLoopLooks) {
  for (const std::size_t size : {0u, 60000u}) {
    bool in_time = false;
    for (Duration timeout = kShort; !in_time; timeout *= 2) {
      Signal held;
      Signal written;
      RawServer quick(answer_ok);
      RawServer server([&](RawServer::Connection& c) {
        if (!c.read_request()) return;
        held.wait();
        c.write("HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(size) + "\r\n\r\n" + std::string(size, 'a'));
        written.set();
        c.await_close();
      });
      const Duration sent = steady_now();  // not behind the moment from which the deadline counts
      ClientCall late(*client_, {.url = server.url(), .body = body_of("x"), .timeout = timeout});
      server.await_requests(1);
      const Duration deadline = steady_now() + timeout;  // not before the request's own
      ClientCall holding(*client_, {.url = quick.url()}, [&] {
        held.set();
        written.wait();
        in_time = steady_now() < sent + timeout;
        while (in_time && steady_now() <= deadline) std::this_thread::yield();
      });
      holding.wait();
      const ClientResponse response = late.wait();
      if (!in_time) continue;
      EXPECT_EQ(response.result, Result::kAnswered) << response.error;
      EXPECT_EQ(response.body.size(), size);
      EXPECT_EQ(response.error, "");
    }
  }
}

TEST_F(HttpClientTest, ARefusedConnectionIsNotSentAndSaysWhy) {
  std::string url;
  {
    RawServer server(answer_ok);
    url = server.url();
  }
  const ClientResponse response = exchange({.url = url});
  EXPECT_EQ(response.result, Result::kNotSent);
  EXPECT_THAT(response.error, HasSubstr("connect 127.0.0.1:"));
  EXPECT_THAT(response.error, HasSubstr("connection refused"));
}

// "found..." resolves to the loopback by this program's own getaddrinfo(): client_resolver_test.cc.
TEST_F(HttpClientTest, PrivateAddressesAreRefusedAfterResolution) {
  RawServer server(answer_ok);
  for (const char* host : {"127.0.0.1", "found.inside.test", "2130706433", "0x7f.1", "[::ffff:127.0.0.1]", "[::1]",
                           "0.0.0.0", "[::]", "0"}) {
    ClientRequest request{.url = server.url("/", host), .allow_private = false};
    const ClientResponse response = exchange(request);
    EXPECT_EQ(response.result, Result::kNotSent) << host;
    EXPECT_THAT(response.error, HasSubstr("not public")) << host;
  }
  EXPECT_EQ(server.connections(), 0);
}

TEST_F(HttpClientTest, AConnectionOfARequestThatMayGoInsideDoesNotServeOneThatMayNot) {
  RawServer server(answer_ok);
  EXPECT_EQ(post(server).status, 200);
  ClientRequest request{.url = server.url(), .allow_private = false};
  const ClientResponse response = exchange(request);
  EXPECT_EQ(response.result, Result::kNotSent);
  EXPECT_THAT(response.error, HasSubstr("not public"));
  EXPECT_EQ(server.requests().size(), 1u);
}

TEST_F(HttpClientTest, AHungDestinationDelaysNoOther) {
  RawServer hung([](RawServer::Connection& c) { c.await_close(); });
  RawServer server(answer_ok);
  std::vector<std::unique_ptr<ClientCall>> waiting;
  for (int i = 0; i < 50; ++i) {
    waiting.push_back(std::make_unique<ClientCall>(
        *client_, ClientRequest{.url = hung.url(), .body = body_of("x"), .timeout = std::chrono::hours(1)}));
  }
  EXPECT_EQ(post(server).status, 200);
  for (auto& call : waiting) EXPECT_FALSE(call->ended());
  client_->stop();
  for (auto& call : waiting) EXPECT_EQ(call->wait().result, Result::kCancelled);
}

TEST_F(HttpClientTest, AfterStopEverySendIsCancelled) {
  client_->stop();
  client_->stop();
  RawServer server(answer_ok);
  EXPECT_EQ(post(server).result, Result::kCancelled);
  EXPECT_EQ(server.connections(), 0);
}

TEST_F(HttpClientTest, WhatIsOverTheConnectionLimitWaitsAndIsSentOnce) {
  client_ = start_client({.connections_max = 2});
  RawServer server(answer_ok);
  std::vector<std::unique_ptr<ClientCall>> calls;
  for (int i = 0; i < 200; ++i) {
    calls.push_back(
        std::make_unique<ClientCall>(*client_, ClientRequest{.url = server.url(), .body = body_of(std::to_string(i))}));
  }
  for (auto& call : calls) EXPECT_EQ(call->wait().status, 200) << call->wait().error;
  EXPECT_EQ(server.requests().size(), 200u);
  EXPECT_LE(server.connections(), 2);
}

TEST_F(HttpClientTest, WhatNeverGetsAConnectionIsCancelledAndNoFailureOfThePeer) {
  client_ = start_client({.connections_max = 1});
  RawServer hung([](RawServer::Connection& c) { c.await_close(); });
  RawServer server(answer_ok);
  ClientCall holder(*client_, {.url = hung.url(), .body = body_of("x"), .timeout = std::chrono::hours(1)});
  const ClientResponse response =
      exchange({.url = server.url(), .body = body_of("y"), .timeout = std::chrono::milliseconds(50)});
  EXPECT_EQ(response.result, Result::kCancelled);
  EXPECT_THAT(response.error, HasSubstr("no free connection within 50ms"));
  EXPECT_EQ(server.connections(), 0);
}

TEST(Fetch, BlocksForOneExchange) {
  RawServer server(answer_ok);
  EXPECT_EQ(fetch({.method = "GET", .url = server.url()}).status, 200);
}

}  // namespace
}  // namespace hookonce
