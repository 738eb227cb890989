#include "http/server_tls.h"

#include <fmt/format.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <limits>

namespace hookonce {
namespace {

std::string last_error() {
  const unsigned long code = ERR_peek_last_error();
  const char* reason = code != 0 ? ERR_reason_error_string(code) : nullptr;
  ERR_clear_error();
  return reason != nullptr ? reason : "unreadable";
}

// OpenSSL's own socket BIO writes without MSG_NOSIGNAL: a client that has hung up would end the process by SIGPIPE.
int descriptor_of(BIO* bio) {
  return static_cast<int>(reinterpret_cast<std::intptr_t>(BIO_get_data(bio)));
}

bool should_retry(ssize_t result) {
  return result < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR);
}

int socket_write(BIO* bio, const char* data, int size) {
  BIO_clear_retry_flags(bio);
  const ssize_t result = ::send(descriptor_of(bio), data, static_cast<std::size_t>(size), MSG_NOSIGNAL);
  if (should_retry(result)) BIO_set_retry_write(bio);
  return static_cast<int>(result);
}

int socket_read(BIO* bio, char* data, int size) {
  BIO_clear_retry_flags(bio);
  const ssize_t result = ::recv(descriptor_of(bio), data, static_cast<std::size_t>(size), 0);
  if (should_retry(result)) BIO_set_retry_read(bio);
  return static_cast<int>(result);
}

long socket_control(BIO*, int command, long, void*) {
  return command == BIO_CTRL_FLUSH ? 1 : 0;
}

// Made once and kept for the process's life.
const BIO_METHOD* socket_method() {
  static BIO_METHOD* const method = [] {
    BIO_METHOD* made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "socket without SIGPIPE");
    BIO_meth_set_write(made, socket_write);
    BIO_meth_set_read(made, socket_read);
    BIO_meth_set_ctrl(made, socket_control);
    return made;
  }();
  return method;
}

// Without this OpenSSL would ask for the passphrase of an encrypted key on the terminal.
int refuse_passphrase(char*, int, int, void*) {
  return -1;
}

int to_int(std::size_t size) {
  return static_cast<int>(std::min<std::size_t>(size, std::numeric_limits<int>::max()));
}

}  // namespace

void TlsFree::operator()(ssl_st* session) const {
  SSL_free(session);
}
void TlsFree::operator()(ssl_ctx_st* context) const {
  SSL_CTX_free(context);
}

// OpenSSL judges a result by its error queue too, which belongs to the thread: each call starts with an empty one.
IoOutcome TlsSession::handshake() {
  ERR_clear_error();
  return outcome(SSL_do_handshake(session_.get()));
}

IoOutcome TlsSession::read(char* data, std::size_t size) {
  ERR_clear_error();
  return outcome(SSL_read(session_.get(), data, to_int(size)));
}

IoOutcome TlsSession::write(std::string_view bytes) {
  ERR_clear_error();
  return outcome(SSL_write(session_.get(), bytes.data(), to_int(bytes.size())));
}

IoOutcome TlsSession::outcome(int result) {
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

bool TlsSession::has_buffered() const {
  return SSL_pending(session_.get()) > 0;
}

void TlsSession::end() {
  if (SSL_is_init_finished(session_.get()) != 1) return;
  ERR_clear_error();
  SSL_shutdown(session_.get());  // Best effort: the end of the TCP stream follows anyway.
}

TlsContext::TlsContext(std::string certificate_file, std::string key_file)
    : certificate_file_(std::move(certificate_file)), key_file_(std::move(key_file)) {}

Result<std::unique_ptr<TlsContext>> TlsContext::load(const std::string& certificate_file, const std::string& key_file) {
  std::unique_ptr<TlsContext> tls(new TlsContext(certificate_file, key_file));
  HK_TRY(tls->reload());
  return tls;
}

Status TlsContext::reload() {
  HK_ASSIGN(Context fresh, read_files());
  MutexLock lock(mutex_);
  // Sessions that exist hold the old context themselves.
  context_.swap(fresh);
  return {};
}

Result<TlsContext::Context> TlsContext::read_files() const {
  ERR_clear_error();
  Context context(SSL_CTX_new(TLS_server_method()));
  if (context == nullptr) return internal("TLS can't be set up: " + last_error());
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  SSL_CTX_set_options(context.get(), SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  // Released buffers keep an idle connection small; the other two let a write go on from wherever the bytes now lie.
  SSL_CTX_set_mode(context.get(),
                   SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_default_passwd_cb(context.get(), refuse_passphrase);

  if (SSL_CTX_use_certificate_chain_file(context.get(), certificate_file_.c_str()) != 1) {
    return invalid(fmt::format("tls_cert \"{}\": {}; it must be a PEM file with the certificate and its chain",
                               certificate_file_, last_error()));
  }
  if (SSL_CTX_use_PrivateKey_file(context.get(), key_file_.c_str(), SSL_FILETYPE_PEM) != 1) {
    return invalid(fmt::format("tls_key \"{}\": {}; it must be a PEM file with the unencrypted private key of \"{}\"",
                               key_file_, last_error(), certificate_file_));
  }
  return context;
}

std::unique_ptr<TlsSession> TlsContext::session(int descriptor) {
  std::unique_ptr<ssl_st, TlsFree> session;
  {
    MutexLock lock(mutex_);
    session.reset(SSL_new(context_.get()));
  }
  BIO* bio = session != nullptr ? BIO_new(socket_method()) : nullptr;
  if (bio == nullptr) return nullptr;
  BIO_set_data(bio, reinterpret_cast<void*>(static_cast<std::intptr_t>(descriptor)));
  BIO_set_init(bio, 1);
  SSL_set_bio(session.get(), bio, bio);
  SSL_set_accept_state(session.get());
  return std::make_unique<TlsSession>(std::move(session));
}

}  // namespace hookonce
