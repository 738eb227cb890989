// The bytes of one connection, plain or through TLS: reads and writes that never block, and waiting until they can go
// on.
//
// Used on the connection's own event loop only.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <cstddef>
#include <string_view>

#include "http/server_tls.h"

namespace hookonce {

enum class Io {
  kDone,       // some bytes went through
  kWantRead,   // wait until the socket can be read, then call again
  kWantWrite,  // the same for writing
  kEnd,        // the peer will send no more
  kFailed,     // the connection is dead
};

struct IoOutcome {
  Io io = Io::kFailed;
  std::size_t bytes = 0;  // valid with kDone
};

class Transport {
 public:
  using Socket = boost::asio::ip::tcp::socket;

  // `session` is null for a plain connection.
  Transport(Socket socket, SslSession session);

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
  IoOutcome outcome(int result);  // of an SSL call

  Socket socket_;
  SslSession session_;
};

}  // namespace hookonce
