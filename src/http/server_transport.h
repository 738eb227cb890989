// The bytes of one connection, plain or through TLS: reads and writes that never block, and waiting until they can go
// on.
//
// Used on the connection's own event loop only.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <cstddef>
#include <memory>
#include <string_view>

#include "http/server_io.h"
#include "http/server_tls.h"

namespace hookonce {

class Transport {
 public:
  using Socket = boost::asio::ip::tcp::socket;

  // `session` is null for a plain connection.
  Transport(Socket socket, std::unique_ptr<TlsSession> session);

  bool is_tls() const { return session_ != nullptr; }
  IoOutcome handshake();  // TLS only; kDone when it is complete
  IoOutcome read(char* data, std::size_t size);
  IoOutcome write(std::string_view bytes);
  // Whether read() has bytes that the socket does not know about any more, so that waiting for it would be in vain.
  bool has_buffered() const;

  void shutdown_write();  // the peer sees the end; it can still send
  void close();

  Socket& socket() { return socket_; }

 private:
  Socket socket_;
  std::unique_ptr<TlsSession> session_;  // null: plain
};

}  // namespace hookonce
