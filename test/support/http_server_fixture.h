// A real HTTP server on a free loopback port whose handler a test writes as functions.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/sync.h"
#include "http/server.h"
#include "test/support/asserts.h"
#include "test/support/raw_client.h"

namespace hookonce {

// Values from the server's threads in order of arrival; take() waits for the next.
template <typename T>
class Arrivals {
 public:
  void put(T value) {
    {
      MutexLock lock(mutex_);
      values_.push_back(std::move(value));
    }
    arrived_.notify_one();
  }
  T take() {
    MutexLock lock(mutex_);
    while (values_.empty()) arrived_.wait(mutex_);
    T value = std::move(values_.front());
    values_.erase(values_.begin());
    return value;
  }
  std::size_t size() {
    MutexLock lock(mutex_);
    return values_.size();
  }

 private:
  Mutex mutex_;
  CondVar arrived_;
  std::vector<T> values_ GUARDED_BY(mutex_);
};

// Unless told otherwise: takes bodies up to 1 MiB and answers 200 with the body, and the path in the header `Path`.
class ScriptedHandler final : public HttpHandler {
 public:
  HeadDecision on_head(const HttpRequest& head) override { return head_script(head); }
  void on_request(HttpRequest request, Responder responder) override {
    request_script(std::move(request), std::move(responder));
  }

  std::function<HeadDecision(const HttpRequest&)> head_script = [](const HttpRequest&) {
    return HeadDecision{std::nullopt, 1024 * 1024};
  };
  std::function<void(HttpRequest, Responder)> request_script = [](HttpRequest request, Responder responder) {
    HttpResponse response;
    response.headers.add("Path", request.path);
    response.body = std::move(request.body);
    responder.respond(std::move(response));
  };
};

class HttpServerTest : public testing::Test {
 protected:
  HttpServerTest() { options_.listen = {"127.0.0.1:0"}; }

  // The server lives as long as what this returns: declare that after everything that the handler's scripts use.
  [[nodiscard]] std::unique_ptr<HttpServer> start(const Clock& clock = system_clock()) {
    auto started = HttpServer::start(options_, handler_, clock);
    EXPECT_OK(started);
    server_ = started.value().get();
    return std::move(started).value();
  }
  RawClient connect(std::size_t listener = 0) { return RawClient(server_->addresses().at(listener)); }

  HttpServerOptions options_;
  ScriptedHandler handler_;
  HttpServer* server_ = nullptr;  // the one started last; valid while the test holds it
};

inline std::string post_request(const std::string& path, const std::string& body, const std::string& headers = "") {
  return "POST " + path + " HTTP/1.1\r\nHost: a\r\n" + headers + "Content-Length: " + std::to_string(body.size()) +
         "\r\n\r\n" + body;
}

}  // namespace hookonce
