// What the server answers by itself: broken, slow, too large and too many requests; and that nothing of a request that
// was refused is ever taken for the next one. Time-outs are short here and the server's answer or close is the signal.
#include <gtest/gtest.h>

#include <thread>

#include "base/bytes.h"
#include "test/support/http_server_fixture.h"

namespace hookonce {
namespace {

using std::chrono::milliseconds;

const std::string kSmuggled = "GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n";

class HttpServerLimits : public HttpServerTest {
 protected:
  HttpServerLimits() {
    const auto answer = handler_.request_script;
    handler_.request_script = [this, answer](HttpRequest request, Responder responder) {
      seen_.put(request.path);
      answer(std::move(request), std::move(responder));
    };
  }
  // The next answer is this error, in the form of all errors.
  static void expect_error(RawClient& client, int status, const std::string& code) {
    const RawAnswer answer = client.read();
    EXPECT_EQ(answer.status, status);
    EXPECT_NE(answer.body.find("{\"error\":{\"code\":\"" + code + "\""), std::string::npos) << answer.body;
    EXPECT_EQ(answer.headers.first("Content-Type"), "application/json");
    EXPECT_EQ(answer.headers.has("Retry-After"), status == 503);
  }
  static void expect_last_error(RawClient& client, int status, const std::string& code) {
    expect_error(client, status, code);
    EXPECT_TRUE(client.is_closed_by_peer());
  }

  Arrivals<std::string> seen_;  // paths that reached the handler
};

TEST_F(HttpServerLimits, MalformedRequestsAreAnsweredAndNothingBehindThemIsRead) {
  const auto server = start();
  for (const std::string& request : std::vector<std::string>{
           "GET\r\n",
           "GET / HTTP/1.1\nHost: a\n\n",
           "GET / HTTP/3.0\r\nHost: a\r\n\r\n",
           "GET / HTTP/1.1\r\n\r\n",
           "GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n",
           "GET / HTTP/1.1\r\nHost: a\r\n folded\r\n\r\n",
           std::string("GET / HTTP/1.1\r\nHost: a\r\nX: \0\r\n\r\n", 34),
           "GET / HTTP/1.1\r\nHost: a\r\nX: a\rb\r\n\r\n",
           "GET / HTTP/1.1\r\nHost: a\r\nX : y\r\n\r\n",
           "\x16\x03\x01\x02",
           "GET a HTTP/1.1\r\nHost: a\r\n\r\n",
           "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n",
           "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: +4\r\n\r\n",
           "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 18446744073709551620\r\n\r\n",
           "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nContent-Length: 4\r\n\r\n",
           "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
           "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n",
           "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
           "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: identity\r\n\r\n",
           "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
           "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: \x0b"
           "chunked\r\n\r\n0\r\n\r\n",
           "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
           "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
           "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1;\n\r\nx\r\n0\r\n\r\n",
           "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nxx\r\n0\r\n\r\n"}) {
    SCOPED_TRACE(to_base64(request) + " " + request);
    RawClient client = connect();
    client.send(request + kSmuggled);
    expect_last_error(client, 400, "malformed");
  }
  EXPECT_EQ(seen_.size(), 0u);
}

TEST_F(HttpServerLimits, MalformedRequestAfterAGoodOneEndsTheConnection) {
  const auto server = start();
  RawClient client = connect();
  client.send(post_request("/good", "x") + "BAD\r\n" + kSmuggled);
  EXPECT_EQ(client.read().status, 200);
  expect_last_error(client, 400, "malformed");
  EXPECT_EQ(seen_.take(), "/good");
  EXPECT_EQ(seen_.size(), 0u);
}

TEST_F(HttpServerLimits, BodyThatLooksLikeARequestIsABody) {
  const auto server = start();
  RawClient client = connect();
  client.send(post_request("/1", kSmuggled) + post_request("/2", ""));
  EXPECT_EQ(client.read().body, kSmuggled);
  EXPECT_EQ(client.read().headers.first("Path"), "/2");
}

TEST_F(HttpServerLimits, HeadsAboveTheLimitAreRefused) {
  const auto server = start();
  for (const std::string& request : {"GET /" + std::string(65 * 1024, 'a') + " HTTP/1.1\r\nHost: a\r\n\r\n",
                                     "GET / HTTP/1.1\r\nHost: a\r\nX: " + std::string(65 * 1024, 'a') + "\r\n\r\n",
                                     "GET / HTTP/1.1\r\nHost: a\r\nX: " + std::string(2'000'000, 'a')}) {
    RawClient client = connect();
    client.send(request);
    expect_last_error(client, 431, "headers_too_large");
  }
  RawClient client = connect();
  client.send("GET / HTTP/1.1\r\nHost: a\r\nX: " + std::string(60 * 1024, 'a') + "\r\n\r\n");
  EXPECT_EQ(client.read().status, 200);
}

TEST_F(HttpServerLimits, BodiesAboveTheLimitAreRefusedHoweverTheyCome) {
  handler_.head_script = [](const HttpRequest&) { return HeadDecision{std::nullopt, 10}; };
  const auto server = start();
  const std::string chunked = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (const std::string& request :
       {post_request("/", "01234567890"), std::string("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 11\r\n\r\n"),
        std::string("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 999999999999999999\r\n\r\n"),
        chunked + "6\r\n012345\r\n5\r\n67890\r\n0\r\n\r\n", chunked + "b\r\n", chunked + "6\r\n012345\r\n5\r\n",
        chunked + "FFFFFFFFFFFFFFF\r\n"}) {
    SCOPED_TRACE(request);
    RawClient client = connect();
    client.send(request);
    expect_last_error(client, 413, "body_too_large");
  }
  RawClient client = connect();
  client.send(post_request("/", "0123456789") + chunked + "5\r\n01234\r\n5\r\n56789\r\n0\r\n\r\n");
  EXPECT_EQ(client.read().status, 200);
  EXPECT_EQ(client.read().body, "0123456789");
}

TEST_F(HttpServerLimits, ClientThatSendsItsWholeBodyFirstStillReadsWhyItWasRefused) {
  handler_.head_script = [](const HttpRequest&) { return HeadDecision{std::nullopt, 10}; };
  const auto server = start();
  RawClient client = connect();
  // More than both socket buffers hold, and not read by the client before all is sent.
  EXPECT_TRUE(client.send(post_request("/", std::string(16 * 1024 * 1024, 'x'))));
  expect_last_error(client, 413, "body_too_large");
}

TEST_F(HttpServerLimits, RefusedRequestsBodyIsDroppedAndTheConnectionGoesOn) {
  handler_.head_script = [](const HttpRequest& head) {
    HeadDecision decision{std::nullopt, 10};
    if (head.path == "/no") decision.refuse = error_response(404, "no_such_source", "not here");
    return decision;
  };
  const auto server = start();
  RawClient client = connect();
  for (const std::string& body : {kSmuggled, std::string(3'000'000, 'x'), std::string()}) {
    client.send(post_request("/no", body) + "POST /no HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n");
    expect_error(client, 404, "no_such_source");
    expect_error(client, 404, "no_such_source");
    client.send(to_hex(std::string(1, static_cast<char>(kSmuggled.size()))) + "\r\n" + kSmuggled + "\r\n0\r\n\r\n");
    client.send(post_request("/yes", "x"));
    EXPECT_EQ(client.read().headers.first("Path"), "/yes");
    EXPECT_EQ(seen_.take(), "/yes");
  }
  EXPECT_EQ(seen_.size(), 0u);
}

TEST_F(HttpServerLimits, RefusedBodyThatIsTooLargeToDropEndsTheConnection) {
  handler_.head_script = [](const HttpRequest&) {
    return HeadDecision{error_response(404, "no_such_source", "not here"), 10};
  };
  const auto server = start();
  {
    RawClient client = connect();
    client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999\r\n\r\n" + kSmuggled);
    expect_last_error(client, 404, "no_such_source");
  }
  RawClient client = connect();
  client.send("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n");
  expect_error(client, 404, "no_such_source");
  const std::string chunk = "100000\r\n" + std::string(0x100000, 'x') + "\r\n";
  int sent = 0;
  while (sent < 1000 && client.send(chunk)) ++sent;
  EXPECT_LT(sent, 1000) << "an endless body was read to its end";
}

TEST_F(HttpServerLimits, SlowHeadsAreEndedHoweverTheyDrip) {
  // Long enough for a whole request of a client on a busy machine.
  options_.head_timeout = milliseconds(1000);
  const auto server = start();
  for (bool is_second : {false, true}) {
    RawClient client = connect();
    if (is_second) {
      client.send(post_request("/first", ""));
      EXPECT_EQ(client.read().status, 200);
    }
    client.send("POST / HTTP/1.1\r\nHost: a\r\nX: ");
    // A byte every few milliseconds keeps no time-out from passing.
    while (!client.has_news(milliseconds(5))) client.send("x");
    expect_last_error(client, 408, "timeout");
  }
}

TEST_F(HttpServerLimits, SlowBodiesAreEndedHoweverTheyDrip) {
  options_.body_timeout = milliseconds(200);
  const auto server = start();
  for (const std::string head : {"Content-Length: 10000\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n1000\r\n"}) {
    RawClient client = connect();
    client.send("POST / HTTP/1.1\r\nHost: a\r\n" + head);
    while (!client.has_news(milliseconds(5))) client.send("x");
    expect_last_error(client, 408, "timeout");
  }
  EXPECT_EQ(seen_.size(), 0u);
}

TEST_F(HttpServerLimits, SilentConnectionsAreClosedWithoutAWord) {
  options_.head_timeout = milliseconds(1000);
  options_.idle_timeout = milliseconds(100);
  const auto server = start();
  RawClient silent = connect();
  RawClient idle = connect();
  idle.send(post_request("/", "x"));
  EXPECT_EQ(idle.read().status, 200);
  EXPECT_TRUE(idle.is_closed_by_peer());
  EXPECT_TRUE(silent.is_closed_by_peer());
}

TEST_F(HttpServerLimits, ClientThatDoesNotReadItsAnswerIsCutOff) {
  options_.write_timeout = milliseconds(100);
  const std::size_t size = 32 * 1024 * 1024;
  handler_.request_script = [](HttpRequest, Responder responder) {
    responder.respond({200, {}, std::string(size, 'x')});
  };
  const auto server = start();
  RawClient client = connect();
  client.send(post_request("/", "x"));
  ASSERT_TRUE(client.has_news(std::chrono::seconds(30)));
  // stop() waits for answers in progress: it returns because the write time-out ended this one.
  server_->stop(std::chrono::seconds(60));
  EXPECT_EQ(client.read().status, 0);
}

TEST_F(HttpServerLimits, ConnectionsAboveTheLimitAreToldSo) {
  options_.connections_max = 2;
  const auto server = start();
  RawClient first = connect();
  RawClient second = connect();
  for (RawClient* client : {&first, &second}) {
    client->send(post_request("/", "x"));
    EXPECT_EQ(client->read().status, 200);
  }
  {
    RawClient third = connect();
    expect_last_error(third, 503, "overloaded");
  }
  first.hang_up();
  // The place is free as soon as the server has seen the hang-up.
  int status = 503;
  while (status == 503) {
    RawClient again = connect();
    again.send(post_request("/", "x"));
    status = again.read().status;
  }
  EXPECT_EQ(status, 200);
}

TEST_F(HttpServerLimits, BodiesAboveTheSharedBudgetAreShed) {
  Budget budget(100'000);
  options_.budget = &budget;
  Arrivals<std::pair<HttpRequest, Responder>> held;
  handler_.request_script = [&](HttpRequest request, Responder responder) {
    held.put({std::move(request), std::move(responder)});
  };
  const auto server = start();
  RawClient first = connect();
  first.send(post_request("/", std::string(60'000, 'x')));
  auto in_work = held.take();
  EXPECT_EQ(budget.used(), 60'000u);
  for (const std::string& request : {post_request("/", std::string(60'000, 'y')),
                                     "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nEA60\r\n" +
                                         std::string(60'000, 'y') + "\r\n"}) {
    RawClient client = connect();
    client.send(request);
    expect_last_error(client, 503, "overloaded");
    EXPECT_EQ(budget.used(), 60'000u);
  }
  RawClient small = connect();
  small.send(post_request("/", std::string(30'000, 'z')));
  held.take().second.respond({});
  EXPECT_EQ(small.read().status, 200);
  in_work.first = HttpRequest();
  in_work.second.respond({});
  EXPECT_EQ(first.read().status, 200);
  EXPECT_EQ(budget.used(), 0u);
  first.send(post_request("/", std::string(60'000, 'x')));
  held.take().second.respond({});
  EXPECT_EQ(first.read().status, 200);
}

TEST_F(HttpServerLimits, AnnouncingMuchTakesNothingOfTheBudget) {
  Budget budget(1024 * 1024);
  options_.budget = &budget;
  const auto server = start();
  std::vector<RawClient> announcers;
  for (int i = 0; i < 8; ++i) {
    announcers.push_back(connect());
    announcers.back().send("POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 1000000\r\n\r\n");
    EXPECT_EQ(announcers.back().read().status, 100);
  }
  EXPECT_EQ(budget.used(), 0u);
  RawClient client = connect();
  client.send(post_request("/", std::string(700'000, 'x')));
  EXPECT_EQ(client.read().status, 200);
}

// 256 KiB were taken for the first byte of each body, so that a thousand idle senders held the whole budget.
TEST_F(HttpServerLimits, ManyWhoSendOneByteOfALargeBodyLeaveTheBudgetToOthers) {
  Budget budget(1024 * 1024);
  options_.budget = &budget;
  const auto server = start();
  std::vector<RawClient> idlers;
  for (int i = 0; i < 64; ++i) {
    idlers.push_back(connect());
    idlers.back().send(i % 2 == 0 ? "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\nx"
                                  : "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nF4240\r\nx");
  }
  const auto wait_until = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (budget.used() < 64 * 4096 && std::chrono::steady_clock::now() < wait_until) std::this_thread::yield();
  EXPECT_EQ(budget.used(), 64u * 4096u) << "each holds the first room of a body, and no more";
  RawClient client = connect();
  client.send(post_request("/", std::string(700'000, 'x')));
  EXPECT_EQ(client.read().status, 200);
}

}  // namespace
}  // namespace hookonce
