// Stopping: what is idle closes, what is in progress ends, and nobody who still holds a responder is hurt.
#include <gtest/gtest.h>

#include <thread>

#include "test/support/http_server_fixture.h"

namespace hookonce {
namespace {

using std::chrono::seconds;

class HttpServerStop : public HttpServerTest {
 protected:
  void hold_requests() {
    const auto echo = handler_.request_script;
    handler_.request_script = [this, echo](HttpRequest request, Responder responder) {
      if (request.path == "/echo") return echo(std::move(request), std::move(responder));
      held_.put(std::move(responder));
    };
  }
  Arrivals<Responder> held_;
};

TEST_F(HttpServerStop, IdleConnectionsCloseAndRequestsInProgressEnd) {
  options_.threads = 2;
  hold_requests();
  const auto server = start();
  RawClient idle = connect();
  idle.send(post_request("/echo", "x"));
  EXPECT_EQ(idle.read().status, 200);
  RawClient untouched = connect();
  RawClient busy = connect();
  busy.send(post_request("/", "x"));
  Responder responder = held_.take();
  RawClient sending = connect();
  sending.send("POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n");
  EXPECT_EQ(sending.read().status, 100);

  const std::string address = server_->addresses()[0];
  std::thread stopper([&] { server_->stop(seconds(60)); });
  EXPECT_TRUE(idle.is_closed_by_peer());
  EXPECT_TRUE(untouched.is_closed_by_peer());

  sending.send("body");
  held_.take().respond({200, {}, "sent"});
  const RawAnswer sent = sending.read();
  EXPECT_EQ(sent.body, "sent");
  EXPECT_EQ(sent.headers.first("Connection"), "close");
  EXPECT_TRUE(sending.is_closed_by_peer());

  responder.respond({200, {}, "done"});
  const RawAnswer answer = busy.read();
  EXPECT_EQ(answer.body, "done");
  EXPECT_EQ(answer.headers.first("Connection"), "close");
  EXPECT_TRUE(busy.is_closed_by_peer());
  stopper.join();
  EXPECT_FALSE(RawClient(address).is_connected());
}

TEST_F(HttpServerStop, RequestsThatDoNotEndInTimeAreCutOff) {
  hold_requests();
  auto server = start();
  RawClient client = connect();
  client.send(post_request("/", "x"));
  Responder late = held_.take();
  server_->stop(std::chrono::milliseconds(50));
  EXPECT_TRUE(client.is_closed_by_peer());
  server_->stop(seconds(1));
  late.respond({});
}

TEST_F(HttpServerStop, ResponderAndItsExecutorOutliveTheServer) {
  hold_requests();
  auto server = start();
  RawClient client = connect();
  client.send(post_request("/", "x"));
  Responder responder = held_.take();
  server.reset();
  Executor& executor = responder.executor();
  // A task that can't run any more is destroyed, with what it holds; here the last owner of its own executor.
  auto held = std::make_shared<Responder>(std::move(responder));
  std::weak_ptr<Responder> watch = held;
  std::vector<Task> tasks;
  tasks.push_back([held] { held->respond({}); });
  held.reset();
  executor.post(std::move(tasks));
  EXPECT_TRUE(watch.expired());
}

TEST_F(HttpServerStop, AnswersFromManyThreadsDuringAStopAreAllHarmless) {
  options_.threads = 2;
  hold_requests();
  auto server = start();
  std::vector<RawClient> clients;
  for (int i = 0; i < 32; ++i) {
    clients.push_back(connect());
    clients.back().send(post_request("/", "x"));
  }
  std::vector<Responder> responders;
  for (int i = 0; i < 32; ++i) responders.push_back(held_.take());
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&responders, t] {
      for (int i = t; i < 32; i += 4) responders[i].respond({200, {}, "x"});
    });
  }
  server_->stop(seconds(0));
  server.reset();
  for (std::thread& thread : threads) thread.join();
}

TEST_F(HttpServerStop, StoppingTwiceIsHarmlessAndFreesTheAddress) {
  auto server = start();
  const std::string address = server_->addresses()[0];
  server_->stop(seconds(1));
  server_->stop(seconds(1));
  options_.listen = {address};
  const auto successor = start();
  RawClient client = connect();
  client.send(post_request("/", "x"));
  EXPECT_EQ(client.read().status, 200);
}

}  // namespace
}  // namespace hookonce
