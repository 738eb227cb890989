// An HTTP/1.1 server: keep-alive, chunked bodies, Expect, TLS, limits and time-outs against slow clients.
//
// What it answers by itself, with the bodies of contract section 5: 400 malformed, 408 timeout, 413 body_too_large,
// 417, 431 headers_too_large, 503 overloaded (connections, max_inflight). Everything else is the handler's. A refused
// request's unread body never becomes the next request: it is read and dropped up to a limit, else the connection
// closes.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/budget.h"
#include "base/clock.h"
#include "base/http_handler.h"
#include "base/result.h"

namespace hookonce {

struct HttpServerOptions {
  std::vector<std::string> listen;  // "127.0.0.1:8080", "[::1]:8080"; port 0 takes a free one
  int threads = 1;                  // event loops
  Budget* budget = nullptr;         // bodies in memory; must outlive the server. Null: unlimited
  std::size_t header_limit = 64 * 1024;
  std::size_t connections_max = 16384;  // above it a new connection is answered 503 and closed
  Duration head_timeout =
      std::chrono::seconds(10);  // from the first byte (or the connection's start) to the head's end
  Duration body_timeout = std::chrono::seconds(30);   // from the head's end to the body's end
  Duration idle_timeout = std::chrono::seconds(75);   // between two requests
  Duration write_timeout = std::chrono::seconds(30);  // for a client that does not read its answer
  std::string tls_cert;                               // PEM files; both or neither
  std::string tls_key;
};

class HttpServer {
 public:
  // Listens and serves at once. REQUIRES: handler and clock outlive the server. kInvalid: an address or certificate
  // that can't be read; kPrecondition: an address in use.
  static Result<std::unique_ptr<HttpServer>> start(const HttpServerOptions& options, HttpHandler& handler,
                                                   const Clock& clock);
  virtual ~HttpServer() = default;  // stop()

  virtual const std::vector<std::string>& addresses() const = 0;  // as bound, in the order of `listen`
  // Reads the certificate files again; new connections use them. The old ones stay where that fails.
  virtual Status reload_tls() = 0;
  // Closes the listeners and idle connections, and lets requests in progress end until `limit` has passed. Then closes
  // all.
  virtual void stop(Duration limit) = 0;
};

}  // namespace hookonce
