#include "http/server_transport.h"

#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <utility>

namespace hookonce {
namespace {

namespace asio = boost::asio;
using ErrorCode = boost::system::error_code;

}  // namespace

Transport::Transport(Socket socket, std::unique_ptr<TlsSession> session)
    : socket_(std::move(socket)), session_(std::move(session)) {
  ErrorCode ignored;  // A socket that is dead already says so at the first read.
  socket_.non_blocking(true, ignored);
  // An answer is one write; it must not wait for the acknowledgement of the one before.
  socket_.set_option(asio::ip::tcp::no_delay(true), ignored);
}

IoOutcome Transport::handshake() {
  return session_->handshake();
}

IoOutcome Transport::read(char* data, std::size_t size) {
  if (session_ != nullptr) return session_->read(data, size);
  ErrorCode error;
  const std::size_t bytes = socket_.read_some(asio::buffer(data, size), error);
  if (!error) return {Io::kDone, bytes};
  if (error == asio::error::would_block || error == asio::error::try_again) return {Io::kWantRead};
  return {error == asio::error::eof ? Io::kEnd : Io::kFailed};
}

IoOutcome Transport::write(std::string_view bytes) {
  if (session_ != nullptr) return session_->write(bytes);
  ErrorCode error;
  const std::size_t written = socket_.write_some(asio::buffer(bytes.data(), bytes.size()), error);
  if (!error) return {Io::kDone, written};
  if (error == asio::error::would_block || error == asio::error::try_again) return {Io::kWantWrite};
  return {Io::kFailed};
}

bool Transport::has_buffered() const {
  return session_ != nullptr && session_->has_buffered();
}

void Transport::shutdown_write() {
  if (session_ != nullptr) session_->end();
  ErrorCode ignored;  // The peer may be gone.
  socket_.shutdown(Socket::shutdown_send, ignored);
}

void Transport::close() {
  ErrorCode ignored;  // There is nothing left to do about it.
  socket_.close(ignored);
}

}  // namespace hookonce
