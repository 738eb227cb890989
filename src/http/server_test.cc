#include "http/server.h"

#include <gtest/gtest.h>

#include <set>
#include <thread>

#include "base/bytes.h"
#include "test/support/http_server_fixture.h"
#include "test/support/manual_clock.h"

namespace hookonce {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST_F(HttpServerTest, AnswersOneRequestAfterAnotherOnOneConnection) {
  const auto server = start();
  RawClient client = connect();
  for (int i = 0; i < 3; ++i) {
    client.send(post_request("/p" + std::to_string(i), "body"));
    const RawAnswer answer = client.read();
    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(answer.body, "body");
    EXPECT_EQ(answer.headers.first("Path"), "/p" + std::to_string(i));
    EXPECT_TRUE(answer.headers.has("Date"));
    EXPECT_FALSE(answer.headers.has("Connection"));
  }
}

TEST_F(HttpServerTest, HandsTheWholeRequestOn) {
  ManualClock clock;
  clock.step_wall(seconds(5));
  Arrivals<HttpRequest> requests;
  handler_.request_script = [&](HttpRequest request, Responder responder) {
    responder.respond({});
    requests.put(std::move(request));
  };
  Budget budget(1024 * 1024);
  options_.budget = &budget;
  const auto server = start(clock);
  RawClient client = connect();
  const std::string body("a\0b\r\n\xff", 6);
  client.send(post_request("/p", body, "X-Empty:\r\nx-Repeated: 1\r\nX-repeated: 2\r\n"));
  EXPECT_EQ(client.read().status, 200);

  HttpRequest request = requests.take();
  EXPECT_EQ(request.method, "POST");
  EXPECT_EQ(request.body, body);
  const Headers expected{
      {"Host", "a"}, {"X-Empty", ""}, {"x-Repeated", "1"}, {"X-repeated", "2"}, {"Content-Length", "6"}};
  EXPECT_EQ(request.headers, expected);
  EXPECT_EQ(request.remote, "127.0.0.1");
  EXPECT_FALSE(request.tls);
  EXPECT_EQ(request.head_at, clock.now());
  EXPECT_EQ(request.wall_at, clock.wall());
  EXPECT_EQ(budget.used(), 6u);
  request = HttpRequest();
  EXPECT_EQ(budget.used(), 0u);
}

TEST_F(HttpServerTest, ReadsABodyHoweverItIsCut) {
  const auto server = start();
  RawClient client = connect();
  for (const std::string& request : {post_request("/", "0123456789"),
                                     std::string("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
                                                 "4\r\n0123\r\n6;x=y\r\n456789\r\n0\r\nTrailer: dropped\r\n\r\n")}) {
    for (char byte : request) ASSERT_TRUE(client.send({&byte, 1}));
    const RawAnswer answer = client.read();
    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(answer.body, "0123456789");
  }
}

TEST_F(HttpServerTest, CarriesABodyOfMegabytesBothWays) {
  handler_.head_script = [](const HttpRequest&) { return HeadDecision{std::nullopt, 16 * 1024 * 1024}; };
  const auto server = start();
  std::string body;
  while (body.size() < 9'000'000) body += std::to_string(body.size()) + ",";
  RawClient client = connect();
  std::thread sender([&] { client.send(post_request("/", body)); });
  EXPECT_EQ(client.read().body, body);
  sender.join();
}

TEST_F(HttpServerTest, AnswersPipelinedRequestsInOrder) {
  // The first is answered last: the second must wait for it, and nothing may be lost meanwhile.
  Arrivals<Responder> first;
  const auto echo = handler_.request_script;
  handler_.request_script = [&](HttpRequest request, Responder responder) {
    if (request.path == "/0") {
      first.put(std::move(responder));
    } else {
      echo(std::move(request), std::move(responder));
    }
  };
  const auto server = start();
  RawClient client = connect();
  std::string requests = post_request("/0", "x");
  for (int i = 1; i < 100; ++i) requests += post_request("/" + std::to_string(i), std::string(i, 'b'));
  client.send(requests);
  first.take().respond({200, {{"Path", "/0"}}, ""});
  for (int i = 0; i < 100; ++i) {
    const RawAnswer answer = client.read();
    ASSERT_EQ(answer.status, 200);
    EXPECT_EQ(answer.headers.first("Path"), "/" + std::to_string(i));
  }
}

TEST_F(HttpServerTest, SixtyFourConnectionsOnTwoThreadsAreServedAtOnce) {
  options_.threads = 2;
  Arrivals<Responder> held;
  handler_.request_script = [&](HttpRequest, Responder responder) { held.put(std::move(responder)); };
  const auto server = start();
  std::vector<RawClient> clients;
  for (int i = 0; i < 64; ++i) clients.push_back(connect());
  for (int round = 0; round < 3; ++round) {
    for (RawClient& client : clients) client.send(post_request("/", "x"));
    // All 64 are in work before one is answered.
    std::vector<Responder> responders;
    for (int i = 0; i < 64; ++i) responders.push_back(held.take());
    for (Responder& responder : responders) responder.respond({204});
    for (RawClient& client : clients) EXPECT_EQ(client.read().status, 204);
  }
}

TEST_F(HttpServerTest, HeadAnswersHaveTheLengthAndNoBody) {
  handler_.request_script = [](HttpRequest, Responder responder) { responder.respond({200, {}, "four"}); };
  const auto server = start();
  RawClient client = connect();
  client.send("HEAD / HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n");
  const RawAnswer head = client.read(true);
  EXPECT_EQ(head.headers.first("Content-Length"), "4");
  EXPECT_EQ(client.read().body, "four");
}

TEST_F(HttpServerTest, ConnectionEndsWhenTheClientOrTheAnswerSaysSo) {
  const auto echo = handler_.request_script;
  handler_.request_script = [&](HttpRequest request, Responder responder) {
    if (request.path != "/close") return echo(std::move(request), std::move(responder));
    HttpResponse response;
    response.close = true;
    responder.respond(std::move(response));
  };
  const auto server = start();
  for (const std::string request : {"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", "GET / HTTP/1.0\r\n\r\n",
                                    "GET /close HTTP/1.1\r\nHost: a\r\n\r\n"}) {
    RawClient client = connect();
    client.send(request);
    const RawAnswer answer = client.read();
    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(answer.headers.first("Connection"), "close");
    EXPECT_TRUE(client.is_closed_by_peer());
  }
}

TEST_F(HttpServerTest, Http10ClientMayKeepItsConnection) {
  const auto server = start();
  RawClient client = connect();
  for (int i = 0; i < 2; ++i) {
    client.send("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    EXPECT_EQ(client.read().headers.first("Connection"), "keep-alive");
  }
}

TEST_F(HttpServerTest, ContinueIsSentOnceTheBodyIsWantedAndNotBefore) {
  Arrivals<std::string> paths;
  handler_.head_script = [&](const HttpRequest& head) {
    HeadDecision decision{std::nullopt, 10};
    if (head.path == "/no") decision.refuse = error_response(404, "no_such_source", "not here");
    return decision;
  };
  const auto server = start();
  {
    RawClient client = connect();
    client.send("POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n");
    EXPECT_EQ(client.read().status, 100);
    client.send("body");
    EXPECT_EQ(client.read().body, "body");
  }
  for (const std::string line : {"/no HTTP/1.1\r\nContent-Length: 4", "/ HTTP/1.1\r\nContent-Length: 11"}) {
    RawClient client = connect();
    client.send("POST " + line + "\r\nHost: a\r\nExpect: 100-continue\r\n\r\n");
    // Whether the body comes is unknown now, so that this is the last answer.
    const RawAnswer answer = client.read();
    EXPECT_EQ(answer.status, line[1] == 'n' ? 404 : 413);
    EXPECT_TRUE(client.is_closed_by_peer());
  }
  RawClient client = connect();
  client.send("POST / HTTP/1.1\r\nHost: a\r\nExpect: magic\r\nContent-Length: 4\r\n\r\n");
  EXPECT_EQ(client.read().status, 417);
  EXPECT_TRUE(client.is_closed_by_peer());
}

TEST_F(HttpServerTest, HalfClosedClientStillGetsItsAnswer) {
  Arrivals<Responder> held;
  handler_.request_script = [&](HttpRequest, Responder responder) { held.put(std::move(responder)); };
  const auto server = start();
  RawClient client = connect();
  client.send(post_request("/", "x"));
  client.end_sending();
  held.take().respond({200, {}, "late"});
  EXPECT_EQ(client.read().body, "late");
  EXPECT_TRUE(client.is_closed_by_peer());
}

TEST_F(HttpServerTest, RequestOfAClientThatHungUpIsHandledAndItsAnswerDropped) {
  Arrivals<Responder> held;
  const auto echo = handler_.request_script;
  handler_.request_script = [&](HttpRequest request, Responder responder) {
    if (request.path != "/held") return echo(std::move(request), std::move(responder));
    held.put(std::move(responder));
  };
  const auto server = start();
  for (bool reset : {false, true}) {
    RawClient client = connect();
    client.send(post_request("/held", "x"));
    Responder responder = held.take();
    if (reset) {
      client.reset();
    } else {
      client.hang_up();
    }
    // Twice as much as any socket buffer takes, so that the server meets the closed connection while it writes.
    responder.respond({200, {}, std::string(16 * 1024 * 1024, 'x')});
    RawClient other = connect();
    other.send(post_request("/", "y"));
    EXPECT_EQ(other.read().body, "y");
  }
}

TEST_F(HttpServerTest, ConnectionCutInsideTheBodyIsNoRequest) {
  Arrivals<HttpRequest> requests;
  handler_.request_script = [&](HttpRequest request, Responder) { requests.put(std::move(request)); };
  const auto server = start();
  for (const std::string request :
       {"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nshort", "POST / HTTP/1.1\r\nHost: a\r\n",
        "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nshort\r\n"}) {
    RawClient client = connect();
    client.send(request);
    client.end_sending();
    EXPECT_EQ(client.read().status, 400);
    EXPECT_TRUE(client.is_closed_by_peer());
  }
  EXPECT_EQ(requests.size(), 0u);
}

TEST_F(HttpServerTest, FallbackGoesOutWhenTheDeadlinePassesAndALateAnswerIsIgnored) {
  ManualClock clock;
  Arrivals<Responder> held;
  handler_.request_script = [&](HttpRequest request, Responder responder) {
    responder.set_deadline(request.head_at + seconds(2), error_response(503, "store_unavailable", "not in time"));
    held.put(std::move(responder));
  };
  const auto server = start(clock);
  RawClient client = connect();
  client.send(post_request("/", "x"));
  Responder late = held.take();
  clock.advance(seconds(2));
  EXPECT_EQ(client.read().status, 503);
  late.respond({200, {}, "late"});

  client.send(post_request("/", "x"));
  Responder timely = held.take();
  clock.advance(seconds(1));
  timely.respond({200, {}, "timely"});
  EXPECT_EQ(client.read().body, "timely");
  clock.advance(seconds(10));
  client.send(post_request("/", "x"));
  held.take().respond({200, {}, "third"});
  EXPECT_EQ(client.read().body, "third");
}

TEST_F(HttpServerTest, AResponderThatIsDroppedAnswers500) {
  handler_.request_script = [](HttpRequest, Responder) {};
  const auto server = start();
  RawClient client = connect();
  client.send(post_request("/", "x"));
  EXPECT_EQ(client.read().status, 500);
  EXPECT_TRUE(client.is_closed_by_peer());
}

TEST_F(HttpServerTest, TasksOfABatchRunInOrderOnTheConnectionsThread) {
  Arrivals<std::pair<int, std::thread::id>> ran;
  Arrivals<Executor*> executors;
  Arrivals<Responder> held;
  handler_.request_script = [&](HttpRequest, Responder responder) {
    executors.put(&responder.executor());
    held.put(std::move(responder));
  };
  const auto server = start();
  RawClient client = connect();
  client.send(post_request("/", "x"));
  Executor* executor = executors.take();
  std::vector<Task> tasks;
  for (int i = 0; i < 3; ++i) tasks.push_back([&ran, i] { ran.put({i, std::this_thread::get_id()}); });
  executor->post(std::move(tasks));
  std::set<std::thread::id> threads;
  for (int i = 0; i < 3; ++i) {
    const auto [number, thread] = ran.take();
    EXPECT_EQ(number, i);
    threads.insert(thread);
  }
  EXPECT_EQ(threads.size(), 1u);
  EXPECT_EQ(threads.count(std::this_thread::get_id()), 0u);
  held.take().respond({});
  EXPECT_EQ(client.read().status, 200);
}

TEST_F(HttpServerTest, ListensOnSeveralAddresses) {
  options_.listen = {"127.0.0.1:0", "[::1]:0", "127.0.0.1:0"};
  Arrivals<std::string> remotes;
  handler_.request_script = [&](HttpRequest request, Responder responder) {
    remotes.put(request.remote);
    responder.respond({});
  };
  const auto server = start();
  ASSERT_EQ(server_->addresses().size(), 3u);
  EXPECT_TRUE(server_->addresses()[1].starts_with("[::1]:"));
  for (std::size_t i = 0; i < 3; ++i) {
    RawClient client = connect(i);
    client.send(post_request("/", ""));
    EXPECT_EQ(client.read().status, 200);
    EXPECT_EQ(remotes.take(), i == 1 ? "::1" : "127.0.0.1");
  }
}

TEST_F(HttpServerTest, DualStackListenerNamesIpv4ClientsByTheirIpv4Address) {
  options_.listen = {"[::]:0"};
  Arrivals<std::string> remotes;
  handler_.request_script = [&](HttpRequest request, Responder responder) {
    remotes.put(request.remote);
    responder.respond({});
  };
  const auto server = start();
  const std::string address = server_->addresses()[0];
  RawClient client("127.0.0.1" + address.substr(address.rfind(':')));
  client.send(post_request("/", ""));
  EXPECT_EQ(client.read().status, 200);
  EXPECT_EQ(remotes.take(), "127.0.0.1");
}

TEST_F(HttpServerTest, AnAddressInUseIsNamedWithItsMend) {
  const auto server = start();
  HttpServerOptions second;
  second.listen = {server_->addresses()[0]};
  const auto started = HttpServer::start(second, handler_, system_clock());
  ASSERT_EQ(started.code(), Code::kPrecondition);
  EXPECT_NE(started.status().message().find(server_->addresses()[0] + ": address in use; stop"), std::string::npos);
}

TEST_F(HttpServerTest, RefusesWhatIsNoAddress) {
  for (const std::string address : {"", "127.0.0.1", "localhost:1", ":8080", "::1:80", "[::1]", "[127.0.0.1]:80",
                                    "127.0.0.1:x", "127.0.0.1:65536", "127.0.0.1:", "192.0.2.1:0"}) {
    options_.listen = {address};
    EXPECT_EQ(HttpServer::start(options_, handler_, system_clock()).code(), Code::kInvalid) << address;
  }
  options_.listen.clear();
  EXPECT_EQ(HttpServer::start(options_, handler_, system_clock()).code(), Code::kInvalid);
}

}  // namespace
}  // namespace hookonce
