#include "http/server_connection.h"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <utility>

#include "http/response_text.h"
#include "http/server_exchange.h"
#include "http/server_loop.h"

namespace hookonce {
namespace {

// A refused body up to this size is read and dropped, so that the client gets to read its answer; more than any
// provider sends.
constexpr std::uint64_t kDropMax = 32 * 1024 * 1024;
constexpr Duration kDropTime = std::chrono::seconds(10);
// How long a client may take to close its side after the last answer.
constexpr Duration kLingerTime = std::chrono::seconds(2);
// How often a stream is asked for more: soon enough for a person who watches, seldom enough to cost nothing.
constexpr Duration kStreamPeriod = std::chrono::milliseconds(100);
// A body gets room step by step as it really comes, from this on twice as much each time: announcing much and sending
// little must take little of the budget from all others, on as many connections as there may be.
constexpr std::size_t kBodyFirstRoom = 4 * 1024;

constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

}  // namespace

Connection::Connection(Loop& loop, Transport transport, std::string remote, bool overloaded)
    : loop_(loop),
      transport_(std::move(transport)),
      remote_(std::move(remote)),
      overloaded_(overloaded),
      parser_(loop.context().options.header_limit) {}

void Connection::start() {
  deadline_ = steady_now() + loop_.context().options.head_timeout;
  if (!transport_.is_tls()) {
    begin();
    return;
  }
  state_ = State::kHandshake;
  shake_hands();
}

void Connection::shake_hands() {
  switch (transport_.handshake().io) {
    case Io::kDone:
      begin();
      return;
    case Io::kWantRead:
      wait_readable();
      return;
    case Io::kWantWrite:
      wait_writable();
      return;
    default:
      close();
  }
}

void Connection::begin() {
  state_ = State::kHead;
  if (overloaded_) {
    fail_overloaded();
  } else if (loop_.context().draining) {
    drain();
  } else {
    arm();
  }
}

void Connection::drain() {
  if (state_ == State::kStreaming) return end();
  if (state_ != State::kHead || head_begun_) return;
  // A request that lies in the socket already is still answered.
  on_readable();
  if (state_ == State::kHead && !head_begun_) end();
}

// Closes between two requests, in good order.
void Connection::end() {
  transport_.shutdown_write();
  close();
}

void Connection::close() {
  if (state_ == State::kClosed) return;
  state_ = State::kClosed;
  deadline_ = Duration::max();
  stream_.reset();
  transport_.close();
  loop_.remove(*this);
}

void Connection::expire() {
  switch (state_) {
    case State::kHead:
      if (head_begun_) {
        fail(408, "timeout", "the request's head did not arrive in time");
      } else {
        end();
      }
      return;
    case State::kBody:
      fail(408, "timeout", "the request's body did not arrive in time");
      return;
    case State::kStreaming:
      go_on_streaming();
      return;
    default:
      close();
  }
}

void Connection::on_readable() {
  const auto buffer = loop_.read_buffer();
  const IoOutcome outcome = transport_.read(buffer.data(), buffer.size());
  switch (outcome.io) {
    case Io::kDone:
      run({buffer.data(), outcome.bytes});
      return;
    case Io::kWantRead:
      arm();
      return;
    case Io::kEnd:
      on_end();
      return;
    default:
      close();
  }
}

// The client sends no more: half a request never becomes a whole one, and a client that only waits for its answer has
// it.
void Connection::on_end() {
  if ((state_ == State::kHead && head_begun_) || state_ == State::kBody) {
    fail(400, "malformed", "the connection ended inside the request");
  } else {
    close();
  }
}

// Goes on with what has been read until more is needed, a handler or a slow reader is waited for, or it is closed.
void Connection::run(std::string_view input) {
  const auto self = shared_from_this();
  if (input_.empty()) {
    unread_ = input;
  } else {
    input_.append(input);
    unread_ = input_;
  }
  running_ = true;
  while (step()) {
  }
  running_ = false;
  keep_unread();
  arm();
}

bool Connection::step() {
  switch (state_) {
    case State::kHead:
      return read_head();
    case State::kBody:
      return read_body();
    case State::kDropping:
      return drop_body();
    case State::kStreaming:  // Nothing can follow an answer without an end.
      unread_ = {};
      return false;
    case State::kLingering:
      dropped_ += unread_.size();
      unread_ = {};
      if (dropped_ > kDropMax) close();
      return false;
    default:
      return false;
  }
}

void Connection::keep_unread() {
  if (unread_.empty()) {
    std::string().swap(input_);
  } else if (input_.empty()) {
    input_.assign(unread_);
  } else {
    input_.erase(0, input_.size() - unread_.size());
  }
  unread_ = {};
}

void Connection::arm() {
  switch (state_) {
    case State::kHead:
    case State::kBody:
    case State::kStreaming:  // to see that the peer has gone
    case State::kDropping:
    case State::kLingering:
      wait_readable();
      return;
    case State::kWriting:
      wait_writable();
      return;
    default:
      return;
  }
}

void Connection::wait_readable() {
  if (std::exchange(read_waiting_, true)) return;
  auto wake = [self = shared_from_this()](const boost::system::error_code& error) {
    self->read_waiting_ = false;
    if (error || self->state_ == State::kClosed) return;
    if (self->state_ == State::kHandshake) {
      self->shake_hands();
    } else if (self->state_ != State::kHandling && self->state_ != State::kWriting) {
      self->on_readable();
    }
  };
  if (transport_.has_buffered() && state_ != State::kHandshake) {
    boost::asio::post(loop_.io(), [wake = std::move(wake)]() mutable { wake({}); });
  } else {
    transport_.socket().async_wait(Transport::Socket::wait_read, std::move(wake));
  }
}

void Connection::wait_writable() {
  if (std::exchange(write_waiting_, true)) return;
  transport_.socket().async_wait(Transport::Socket::wait_write,
                                 [self = shared_from_this()](const boost::system::error_code& error) {
                                   self->write_waiting_ = false;
                                   if (error || self->state_ == State::kClosed) return;
                                   if (self->state_ == State::kHandshake) {
                                     self->shake_hands();
                                   } else if (self->state_ == State::kWriting) {
                                     self->flush();
                                     if (!self->running_) self->run({});
                                   }
                                 });
}

bool Connection::read_head() {
  if (unread_.empty()) return false;
  if (!head_begun_) {
    head_begun_ = true;
    deadline_ = steady_now() + loop_.context().options.head_timeout;
  }
  switch (parser_.feed(unread_, request_)) {
    case HeadState::kNeedMore:
      return false;
    case HeadState::kMalformed:
      return fail(400, "malformed", parser_.problem());
    case HeadState::kTooLarge:
      return fail(431, "headers_too_large", parser_.problem());
    case HeadState::kDone:
      break;
  }
  unread_.remove_prefix(parser_.size());
  return begin_request();
}

bool Connection::begin_request() {
  const RequestFraming& framing = parser_.framing();
  request_.remote = remote_;
  request_.tls = transport_.is_tls();
  request_.head_at = loop_.context().clock.now();
  request_.wall_at = loop_.context().clock.wall();
  head_request_ = request_.method == "HEAD";
  close_after_ = !framing.keep_alive;
  body_unread_ = framing.has_body();
  body_left_ = framing.content_length.value_or(0);
  if (framing.expect == RequestFraming::Expect::kOther) {
    return fail(417, "expectation_failed", "the only expectation that can be met is 100-continue");
  }

  HeadDecision decision = loop_.context().handler.on_head(request_);
  if (decision.refuse) return refuse(std::move(*decision.refuse));
  body_limit_ = decision.body_limit;
  if (!body_unread_) return dispatch();
  if (body_left_ > body_limit_) return fail(413, "body_too_large", "the body is larger than this address takes");
  state_ = State::kBody;
  deadline_ = steady_now() + loop_.context().options.body_timeout;
  if (framing.expect == RequestFraming::Expect::kContinue && unread_.empty()) send_continue();
  return state_ == State::kBody;
}

// The answer goes out at once; the body behind it is dropped on the way to the next request, if that is worth it.
bool Connection::refuse(HttpResponse response) {
  const RequestFraming& framing = parser_.framing();
  // A client that waits for 100 Continue may now leave its body out or not: nobody can tell what comes next.
  const bool is_unsure = body_unread_ && framing.expect == RequestFraming::Expect::kContinue;
  if (is_unsure || body_left_ > kDropMax) close_after_ = true;
  state_ = State::kHandling;
  request_ = HttpRequest();
  answer(std::move(response));
  return true;
}

void Connection::send_continue() {
  const IoOutcome outcome = transport_.write(kContinue);
  // No room for 25 bytes: the client does not read the answers that it has asked for.
  if (outcome.io != Io::kDone || outcome.bytes != kContinue.size()) close();
}

bool Connection::read_body() {
  return parser_.framing().chunked ? read_chunks() : read_plain_body();
}

bool Connection::read_plain_body() {
  const auto data = unread_.substr(0, static_cast<std::size_t>(std::min<std::uint64_t>(body_left_, unread_.size())));
  unread_.remove_prefix(data.size());
  body_left_ -= data.size();
  if (!data.empty() && !take(data)) return true;
  return body_left_ == 0 && dispatch();
}

bool Connection::read_chunks() {
  for (;;) {
    std::string_view data;
    switch (chunks_.next(unread_, data)) {
      case ChunkState::kNeedMore:
        // A chunk that will be too large is refused before it has come.
        if (chunks_.announced() > body_limit_ - request_.body.size()) {
          return fail(413, "body_too_large", "the body is larger than this address takes");
        }
        return false;
      case ChunkState::kMalformed:
        return fail(400, "malformed", "the chunked body is broken");
      case ChunkState::kData:
        if (!take(data)) return true;
        break;
      case ChunkState::kDone:
        return dispatch();
    }
  }
}

// Appends to the body; false where a limit was reached and the answer to that is given.
bool Connection::take(std::string_view data) {
  if (data.size() > body_limit_ - request_.body.size()) {
    fail(413, "body_too_large", "the body is larger than this address takes");
    return false;
  }
  if (!grow_body(request_.body.size() + data.size())) {
    fail_overloaded();
    return false;
  }
  request_.body.append(data);
  return true;
}

// Makes room for `size` bytes and takes them from the budget, so that the budget counts what is really held.
bool Connection::grow_body(std::size_t size) {
  if (size <= body_room_) return true;
  const auto announced = static_cast<std::size_t>(parser_.framing().content_length.value_or(body_limit_));
  const std::size_t room = std::max(size, std::min(announced, std::max(kBodyFirstRoom, 2 * body_room_)));
  Budget* budget = loop_.context().options.budget;
  if (budget != nullptr && !request_.charge.grow(*budget, room - body_room_)) return false;
  request_.body.reserve(room);
  body_room_ = room;
  return true;
}

bool Connection::dispatch() {
  state_ = State::kHandling;
  deadline_ = Duration::max();
  body_unread_ = false;
  auto exchange = std::make_shared<Exchange>(loop_.shared_from_this(), weak_from_this());
  loop_.context().handler.on_request(std::move(request_), Responder(std::move(exchange)));
  return true;
}

bool Connection::drop_body() {
  const std::size_t before = unread_.size();
  bool done = false;
  if (parser_.framing().chunked) {
    std::string_view data;
    ChunkState state = ChunkState::kData;
    while (state == ChunkState::kData) state = chunks_.next(unread_, data);
    if (state == ChunkState::kMalformed) {
      close();
      return false;
    }
    done = state == ChunkState::kDone;
  } else {
    const auto bytes = std::min<std::uint64_t>(body_left_, unread_.size());
    unread_.remove_prefix(static_cast<std::size_t>(bytes));
    body_left_ -= bytes;
    done = body_left_ == 0;
  }
  dropped_ += before - unread_.size();
  if (!done) {
    if (dropped_ > kDropMax) close();
    return false;
  }
  next_request();
  return state_ == State::kHead;
}

void Connection::next_request() {
  if (loop_.context().draining && !has_unread()) {
    end();
    return;
  }
  parser_.reset();
  request_ = HttpRequest();
  chunks_ = ChunkedBody();
  body_room_ = 0;
  head_begun_ = false;
  head_request_ = false;
  body_unread_ = false;
  dropped_ = 0;
  state_ = State::kHead;
  deadline_ = steady_now() + loop_.context().options.idle_timeout;
}

// Answers what the server itself finds wrong. Where the request ends is unknown then, so it is the connection's last.
bool Connection::fail(int status, std::string_view code, std::string_view message) {
  HttpResponse response = error_response(status, code, message);
  response.close = true;
  if (status == 503) response.headers.add("Retry-After", "1");
  request_ = HttpRequest();  // gives its memory back now
  body_unread_ = status != 408 && !overloaded_;
  state_ = State::kHandling;
  answer(std::move(response));
  return true;
}

bool Connection::fail_overloaded() {
  return fail(503, "overloaded", "too much is going on at once; try again later");
}

void Connection::answer(HttpResponse response) {
  if (state_ != State::kHandling) return;
  if (!head_request_) stream_ = std::move(response.stream);
  close_after_ =
      close_after_ || response.close || stream_ != nullptr || loop_.context().draining.load(std::memory_order_relaxed);
  ResponseForm form;
  form.head_request = head_request_;
  form.open_end = stream_ != nullptr;
  form.close = close_after_;
  form.say_keep_alive = !close_after_ && !parser_.framing().version_1_1;
  output_ = response_text(response, form, loop_.date());
  output_sent_ = 0;
  state_ = State::kWriting;
  deadline_ = steady_now() + loop_.context().options.write_timeout;
  flush();
  if (!running_) run({});
}

void Connection::flush() {
  while (output_sent_ < output_.size()) {
    const IoOutcome outcome = transport_.write(std::string_view(output_).substr(output_sent_));
    if (outcome.io == Io::kWantWrite) return;
    if (outcome.io != Io::kDone) {
      close();  // The client has hung up; what it asked for is done all the same.
      return;
    }
    output_sent_ += outcome.bytes;
  }
  finish_answer();
}

void Connection::finish_answer() {
  std::string().swap(output_);
  if (stream_ != nullptr && !loop_.context().draining) {
    state_ = State::kStreaming;
    deadline_ = steady_now() + kStreamPeriod;
  } else if (close_after_) {
    linger();
  } else if (body_unread_) {
    state_ = State::kDropping;
    deadline_ = steady_now() + kDropTime;
  } else {
    next_request();
  }
}

void Connection::go_on_streaming() {
  std::optional<std::string> more = stream_->next();
  if (!more) stream_.reset();
  output_ = std::move(more).value_or("");
  output_sent_ = 0;
  state_ = State::kWriting;
  deadline_ = steady_now() + loop_.context().options.write_timeout;
  flush();
  run({});
}

void Connection::linger() {
  transport_.shutdown_write();
  // Nothing of the request is left behind and nothing else is coming: closing is safe, and stop() need not wait.
  if (!body_unread_ && !has_unread() && loop_.context().draining) {
    close();
    return;
  }
  state_ = State::kLingering;
  deadline_ = steady_now() + (body_unread_ ? kDropTime : kLingerTime);
}

}  // namespace hookonce
