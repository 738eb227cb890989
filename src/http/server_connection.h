// One connection of the HTTP server, from its accept to its close: one request at a time, in order of arrival.
//
//   handshake (TLS) -> head -> [body] -> handling -> writing -> head ...          keep-alive
//                        |       |                     |-----> dropping -> head   refused, its body is read and dropped
//                        |       |                     |-----> streaming <-> writing -> lingering     a stream's end
//                        `-------`--> writing (408, 4xx, 503) -> lingering -> closed
//
// While a request is handled nothing is read, so that a client can't queue more than one buffer. Lingering reads and
// drops what still comes after the last answer: closing over unread bytes resets the connection, and the client may
// lose the answer.
//
// Used on its loop's thread only. The loop owns it; a pending wait shares it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/http_handler.h"
#include "http/chunked_body.h"
#include "http/request_head.h"
#include "http/server_transport.h"

namespace hookonce {

class Loop;

class Connection final : public std::enable_shared_from_this<Connection> {
 public:
  // `overloaded`: there are too many connections; this one is only told so. `loop` must outlive this.
  Connection(Loop& loop, Transport transport, std::string remote, bool overloaded);

  void start();
  // Of the request that is being handled; nothing happens where the connection has been closed meanwhile.
  void answer(HttpResponse response);
  void drain();   // closes it if no request has begun
  void expire();  // the deadline has passed
  void close();   // at once

  Duration deadline() const { return deadline_; }  // steady time; Duration::max() for none
  std::size_t index() const { return index_; }     // the place in the loop's list
  void set_index(std::size_t index) { index_ = index; }

 private:
  enum class State { kHandshake, kHead, kBody, kHandling, kWriting, kStreaming, kDropping, kLingering, kClosed };

  void shake_hands();
  void begin();
  // Reading and going on.
  void on_readable();
  void on_end();
  void end();
  bool has_unread() const { return !(running_ ? unread_ : std::string_view(input_)).empty(); }
  void run(std::string_view input);
  bool step();
  void keep_unread();
  void arm();
  void wait_readable();
  void wait_writable();
  // A request.
  bool read_head();
  bool begin_request();
  bool refuse(HttpResponse response);
  void send_continue();
  bool read_body();
  bool read_plain_body();
  bool read_chunks();
  bool take(std::string_view data);
  bool grow_body(std::size_t size);
  bool dispatch();
  bool drop_body();
  void next_request();
  // Answers.
  bool fail(int status, std::string_view code, std::string_view message);
  bool fail_overloaded();
  void flush();
  void finish_answer();
  void go_on_streaming();
  void linger();

  Loop& loop_;
  Transport transport_;
  const std::string remote_;
  const bool overloaded_;
  std::size_t index_ = 0;

  State state_ = State::kHead;
  Duration deadline_ = Duration::max();
  bool running_ = false;  // inside run(): an answer given now is picked up there
  bool read_waiting_ = false;
  bool write_waiting_ = false;

  std::string input_;        // read and not consumed yet; empty, without memory, on an idle connection
  std::string_view unread_;  // inside run(): the same or a part of the loop's read buffer
  std::string output_;       // the answer on its way
  std::size_t output_sent_ = 0;
  std::shared_ptr<BodyStream> stream_;  // what comes behind output_; null: nothing

  // The request being read.
  RequestHeadParser parser_;
  HttpRequest request_;
  bool head_begun_ = false;
  std::size_t body_limit_ = 0;
  std::size_t body_room_ = 0;    // reserved for the body and taken from the budget
  std::uint64_t body_left_ = 0;  // of a body with Content-Length
  ChunkedBody chunks_;

  // How its answer goes out.
  bool head_request_ = false;
  bool close_after_ = false;
  bool body_unread_ = false;   // bytes may follow that are no request: they must never become the next one
  std::uint64_t dropped_ = 0;  // bytes
};

}  // namespace hookonce
