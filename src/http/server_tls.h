// TLS for the HTTP server: the certificate with its reload, and sessions over a non-blocking socket.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "base/sync.h"

struct ssl_ctx_st;
struct ssl_st;

namespace hookonce {

struct SslFree {
  void operator()(ssl_st* session) const;
  void operator()(ssl_ctx_st* context) const;
};
using SslSession = std::unique_ptr<ssl_st, SslFree>;

// Thread-safe.
class TlsContext {
 public:
  // kInvalid: a file that can't be read, holds no certificate or key, or the two do not belong together.
  static Result<std::unique_ptr<TlsContext>> load(const std::string& certificate_file, const std::string& key_file);

  // Reads the files again for sessions from now on. Where that fails the old certificate stays.
  Status reload();
  // A server's session over the connected socket `descriptor`, which stays the caller's. Null where memory is short.
  SslSession session(int descriptor);

 private:
  using Context = std::unique_ptr<ssl_ctx_st, SslFree>;

  TlsContext(std::string certificate_file, std::string key_file);
  Result<Context> read_files() const;

  const std::string certificate_file_;
  const std::string key_file_;
  Mutex mutex_;
  Context context_ GUARDED_BY(mutex_);
};

}  // namespace hookonce
