#include "http/server_transport.h"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <limits>
#include <utility>

namespace hookonce {
namespace {

namespace asio = boost::asio;
using ErrorCode = boost::system::error_code;

int to_int(std::size_t size) {
  return static_cast<int>(std::min<std::size_t>(size, std::numeric_limits<int>::max()));
}

}  // namespace

Transport::Transport(Socket socket, SslSession session) : socket_(std::move(socket)), session_(std::move(session)) {
  ErrorCode ignored;  // A socket that is dead already says so at the first read.
  socket_.non_blocking(true, ignored);
  // An answer is one write; it must not wait for the acknowledgement of the one before.
  socket_.set_option(asio::ip::tcp::no_delay(true), ignored);
}

IoOutcome Transport::handshake() {
  ERR_clear_error();
  return outcome(SSL_do_handshake(session_.get()));
}

IoOutcome Transport::read(char* data, std::size_t size) {
  if (session_ != nullptr) {
    ERR_clear_error();
    return outcome(SSL_read(session_.get(), data, to_int(size)));
  }
  ErrorCode error;
  const std::size_t bytes = socket_.read_some(asio::buffer(data, size), error);
  if (!error) return {Io::kDone, bytes};
  if (error == asio::error::would_block || error == asio::error::try_again) return {Io::kWantRead};
  return {error == asio::error::eof ? Io::kEnd : Io::kFailed};
}

IoOutcome Transport::write(std::string_view bytes) {
  if (session_ != nullptr) {
    ERR_clear_error();
    return outcome(SSL_write(session_.get(), bytes.data(), to_int(bytes.size())));
  }
  ErrorCode error;
  const std::size_t written = socket_.write_some(asio::buffer(bytes.data(), bytes.size()), error);
  if (!error) return {Io::kDone, written};
  if (error == asio::error::would_block || error == asio::error::try_again) return {Io::kWantWrite};
  return {Io::kFailed};
}

IoOutcome Transport::outcome(int result) {
  if (result > 0) return {Io::kDone, static_cast<std::size_t>(result)};
  switch (SSL_get_error(session_.get(), result)) {
    case SSL_ERROR_WANT_READ:
      return {Io::kWantRead};
    case SSL_ERROR_WANT_WRITE:
      return {Io::kWantWrite};
    case SSL_ERROR_ZERO_RETURN:
      return {Io::kEnd};
    default:
      return {Io::kFailed};
  }
}

bool Transport::has_buffered() const {
  return session_ != nullptr && SSL_pending(session_.get()) > 0;
}

void Transport::shutdown_write() {
  if (session_ != nullptr && SSL_is_init_finished(session_.get()) == 1) {
    ERR_clear_error();
    SSL_shutdown(session_.get());  // Best effort: the end of the TCP stream follows anyway.
  }
  ErrorCode ignored;  // The peer may be gone.
  socket_.shutdown(Socket::shutdown_send, ignored);
}

void Transport::close() {
  ErrorCode ignored;  // There is nothing left to do about it.
  socket_.close(ignored);
}

}  // namespace hookonce
