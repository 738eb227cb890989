// Answers that go on: what a stream has is sent while the peer reads, and ends with either side.
#include <gtest/gtest.h>

#include <thread>

#include "test/support/http_server_fixture.h"

namespace hookonce {
namespace {

using std::chrono::seconds;

// Says what it is told to; knows how often it was asked and whether it is gone.
class ScriptedStream final : public BodyStream {
 public:
  struct Shared {
    Mutex mutex;
    std::vector<std::optional<std::string>> pieces GUARDED_BY(mutex);  // nullopt: the end
    Arrivals<int> gone;
  };
  explicit ScriptedStream(std::shared_ptr<Shared> shared) : shared_(std::move(shared)) {}
  ~ScriptedStream() override { shared_->gone.put(1); }
  std::optional<std::string> next() override {
    MutexLock lock(shared_->mutex);
    if (shared_->pieces.empty()) return "";
    std::optional<std::string> piece = std::move(shared_->pieces.front());
    shared_->pieces.erase(shared_->pieces.begin());
    return piece;
  }

 private:
  const std::shared_ptr<Shared> shared_;
};

class HttpServerStream : public HttpServerTest {
 protected:
  HttpServerStream() {
    handler_.request_script = [shared = shared_](HttpRequest, Responder responder) {
      HttpResponse response{200, {{"Content-Type", "text/event-stream"}}, "first\n"};
      response.stream = std::make_shared<ScriptedStream>(shared);
      responder.respond(std::move(response));
    };
  }
  void say(std::optional<std::string> piece) {
    MutexLock lock(shared_->mutex);
    shared_->pieces.push_back(std::move(piece));
  }
  std::shared_ptr<ScriptedStream::Shared> shared_ = std::make_shared<ScriptedStream::Shared>();
};

TEST_F(HttpServerStream, SendsWhatComesUntilTheStreamEnds) {
  const auto server = start();
  RawClient client = connect();
  client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  const RawAnswer head = client.read();
  EXPECT_EQ(head.status, 200);
  EXPECT_FALSE(head.headers.has("Content-Length"));
  EXPECT_EQ(head.headers.first("Connection"), "close");
  say("second\n");
  say("third\n");
  say(std::nullopt);
  EXPECT_EQ(client.read_to_end(), "first\nsecond\nthird\n");
  shared_->gone.take();
}

TEST_F(HttpServerStream, AHeadRequestGetsNoStream) {
  const auto server = start();
  RawClient client = connect();
  client.send("HEAD / HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_EQ(client.read(true).status, 200);
  shared_->gone.take();
}

TEST_F(HttpServerStream, EndsWhenThePeerHangsUp) {
  const auto server = start();
  RawClient client = connect();
  client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\nGET /never HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_EQ(client.read().status, 200);
  client.hang_up();
  shared_->gone.take();
}

TEST_F(HttpServerStream, APeerThatDoesNotReadIsCutOff) {
  options_.write_timeout = std::chrono::milliseconds(200);
  const auto server = start();
  RawClient client = connect();
  client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  say(std::string(64 * 1024 * 1024, 'x'));
  shared_->gone.take();
}

TEST_F(HttpServerStream, StoppingDoesNotWaitForIt) {
  const auto server = start();
  RawClient client = connect();
  client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_EQ(client.read().status, 200);
  std::thread stopper([&] { server_->stop(seconds(3600)); });
  EXPECT_EQ(client.read_to_end(), "first\n");
  stopper.join();
  shared_->gone.take();
}

}  // namespace
}  // namespace hookonce
