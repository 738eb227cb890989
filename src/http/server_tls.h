// TLS for the HTTP server: the certificate with its reload, and sessions over a non-blocking socket.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "base/sync.h"
#include "http/server_io.h"

struct ssl_ctx_st;
struct ssl_st;

namespace hookonce {

struct TlsFree {
  void operator()(ssl_st* session) const;
  void operator()(ssl_ctx_st* context) const;
};

// The server's end of one TLS connection over a non-blocking socket, which stays the caller's. Not thread-safe.
class TlsSession {
 public:
  explicit TlsSession(std::unique_ptr<ssl_st, TlsFree> session) : session_(std::move(session)) {}

  IoOutcome handshake();  // kDone when it is complete
  IoOutcome read(char* data, std::size_t size);
  // After kWantWrite the same bytes come first again, from wherever they then lie.
  IoOutcome write(std::string_view bytes);
  // Whether read() has bytes that the socket does not know about any more.
  bool has_buffered() const;
  void end();  // tells the peer, as far as that goes without waiting

 private:
  IoOutcome outcome(int result);

  std::unique_ptr<ssl_st, TlsFree> session_;
};

// Thread-safe.
class TlsContext {
 public:
  // kInvalid: a file that can't be read, holds no certificate or key, or the two do not belong together.
  static Result<std::unique_ptr<TlsContext>> load(const std::string& certificate_file, const std::string& key_file);

  // Reads the files again for sessions from now on. Where that fails the old certificate stays.
  Status reload();
  // A session over the connected socket `descriptor`. Null where memory is short.
  std::unique_ptr<TlsSession> session(int descriptor);

 private:
  using Context = std::unique_ptr<ssl_ctx_st, TlsFree>;

  TlsContext(std::string certificate_file, std::string key_file);
  Result<Context> read_files() const;

  const std::string certificate_file_;
  const std::string key_file_;
  Mutex mutex_;
  Context context_ GUARDED_BY(mutex_);
};

}  // namespace hookonce
