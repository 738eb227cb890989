// The seam between an HTTP server and those who answer: ingest, the admin API, the sink.
//
// The server calls on_head() when a request's head has been read and on_request() when its body is there too, both on
// the connection's own I/O thread; different connections call at once from several threads. Neither may block.
//
//   void Ingest::on_request(HttpRequest request, Responder responder) {
//     responder.set_deadline(clock.now() + ack_deadline, unavailable_answer());
//     committer.submit(..., responder.executor(), [r = std::move(responder)](auto facts) mutable { r.respond(...); });
//   }
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/executor.h"
#include "base/http_message.h"

namespace hookonce {

// What answers one request, once. Move-only. Destroying it unanswered answers 500 and closes the connection, so that no
// request ever hangs.
class Responder {
 public:
  // What the server implements; one per request.
  class Channel {
   public:
    virtual ~Channel() = default;
    virtual void respond(HttpResponse response) = 0;  // the first call counts, later ones do nothing; any thread
    // The connection's own thread only.
    virtual void set_deadline(Time at, HttpResponse fallback, std::function<void()> passed) = 0;
    virtual Executor& executor() = 0;
  };

  Responder() = default;
  explicit Responder(std::shared_ptr<Channel> channel) : channel_(std::move(channel)) {}
  Responder(Responder&&) noexcept = default;
  Responder& operator=(Responder&& other) noexcept {
    if (this != &other) {
      abandon();
      channel_ = std::move(other.channel_);
    }
    return *this;
  }
  ~Responder() { abandon(); }

  // Sends the answer, unless the deadline's fallback has gone out or the peer has hung up; both are fine. Any thread.
  void respond(HttpResponse response) {
    if (auto channel = std::move(channel_)) channel->respond(std::move(response));
  }
  // If nothing was answered when Clock::now() passes `at` (looked at about every 10 ms), `fallback` is sent instead,
  // and `passed` (may be null) is called on the connection's own thread. It is kept as long as the channel is, so it
  // must not own the responder. REQUIRES: called on the connection's own thread, before this is moved elsewhere.
  void set_deadline(Time at, HttpResponse fallback, std::function<void()> passed = nullptr) {
    channel_->set_deadline(at, std::move(fallback), std::move(passed));
  }
  // The connection's event loop. REQUIRES: not answered yet. Outlives the responder.
  Executor& executor() { return channel_->executor(); }

 private:
  void abandon() {
    if (auto channel = std::move(channel_)) {
      HttpResponse response =
          error_response(500, "internal", "the request was dropped without an answer; this is a bug");
      response.close = true;
      channel->respond(std::move(response));
    }
  }
  std::shared_ptr<Channel> channel_;
};

struct HeadDecision {
  // Set: this is the answer, the body is not wanted, and the server makes sure that it never becomes the next request.
  std::optional<HttpResponse> refuse;
  std::size_t body_limit = 0;  // in bytes; above it the server answers 413 `body_too_large` by itself
};

class HttpHandler {
 public:
  virtual ~HttpHandler() = default;
  // `head` has everything but body and charge.
  virtual HeadDecision on_head(const HttpRequest& head) = 0;
  virtual void on_request(HttpRequest request, Responder responder) = 0;
};

}  // namespace hookonce
