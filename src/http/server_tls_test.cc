#include "http/server_tls.h"

#include <gtest/gtest.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "test/support/http_server_fixture.h"

namespace hookonce {
namespace {

using std::chrono::milliseconds;

// A blocking TLS client over a raw connection.
class TlsClient {
 public:
  explicit TlsClient(RawClient connection, int version_max = TLS1_3_VERSION)
      : connection_(std::move(connection)), context_(SSL_CTX_new(TLS_client_method())), session_(SSL_new(context_)) {
    // Level 0 lets the client even offer what the server must refuse.
    SSL_set_security_level(session_, 0);
    SSL_set_min_proto_version(session_, TLS1_VERSION);
    SSL_set_max_proto_version(session_, version_max);
    SSL_set_fd(session_, connection_.descriptor());
    is_connected_ = SSL_connect(session_) == 1;
  }
  TlsClient(const TlsClient&) = delete;
  TlsClient& operator=(const TlsClient&) = delete;
  ~TlsClient() {
    SSL_free(session_);
    SSL_CTX_free(context_);
    ERR_clear_error();
  }

  bool is_connected() const { return is_connected_; }
  RawClient& connection() { return connection_; }

  // Nothing without a handshake: SSL_write into a closed socket would end the test by SIGPIPE.
  void send(const std::string& bytes) {
    if (is_connected_) SSL_write(session_, bytes.data(), static_cast<int>(bytes.size()));
  }
  // The body of the next answer, whose size must be known.
  std::string read_body(std::size_t size) {
    while (unread_.find("\r\n\r\n") == std::string::npos && receive()) {
    }
    const std::size_t start = unread_.find("\r\n\r\n");
    if (start == std::string::npos) return "no answer";
    while (unread_.size() < start + 4 + size && receive()) {
    }
    std::string body = unread_.substr(start + 4, size);
    unread_.erase(0, start + 4 + size);
    return body;
  }
  bool is_closed_by_peer() { return !receive() && SSL_get_shutdown(session_) == SSL_RECEIVED_SHUTDOWN; }
  std::string common_name() {
    X509* certificate = SSL_get1_peer_certificate(session_);
    char name[64] = "";
    X509_NAME_get_text_by_NID(X509_get_subject_name(certificate), NID_commonName, name, sizeof(name));
    X509_free(certificate);
    return name;
  }

 private:
  bool receive() {
    char buffer[16 * 1024];
    const int received = SSL_read(session_, buffer, sizeof(buffer));
    if (received > 0) unread_.append(buffer, static_cast<std::size_t>(received));
    return received > 0;
  }

  RawClient connection_;
  SSL_CTX* context_;
  SSL* session_;
  bool is_connected_ = false;
  std::string unread_;
};

class HttpServerTls : public HttpServerTest {
 protected:
  HttpServerTls() {
    options_.head_timeout = std::chrono::seconds(60);  // a handshake under a memory checker takes its time
    std::string pattern = testing::TempDir() + "hookonce_tls_XXXXXX";
    directory_ = mkdtemp(pattern.data());
    make_certificate("one");
    options_.tls_cert = directory_ + "/one.crt";
    options_.tls_key = directory_ + "/one.key";
  }
  ~HttpServerTls() override { std::filesystem::remove_all(directory_); }

  void make_certificate(const std::string& name) {
    const std::string command =
        "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=" + name +
        " -keyout " + directory_ + "/" + name + ".key -out " + directory_ + "/" + name + ".crt 2>&1 | grep -i error";
    ASSERT_NE(std::system(command.c_str()), 0) << "openssl made no certificate";
  }
  void replace(const std::string& file, const std::string& by) {
    std::filesystem::copy_file(directory_ + "/" + by, directory_ + "/" + file,
                               std::filesystem::copy_options::overwrite_existing);
  }
  void expect_refused(const std::string& cert, const std::string& key, const std::string& named) {
    options_.tls_cert = cert;
    options_.tls_key = key;
    const auto started = HttpServer::start(options_, handler_, system_clock());
    ASSERT_EQ(started.code(), Code::kInvalid);
    EXPECT_NE(started.status().message().find(named), std::string::npos) << started.status().message();
  }

  std::string directory_;
};

TEST_F(HttpServerTls, ServesRequestsOfAnySizeOverTls) {
  Arrivals<bool> tls;
  const auto echo = handler_.request_script;
  handler_.head_script = [](const HttpRequest&) { return HeadDecision{std::nullopt, 16 * 1024 * 1024}; };
  handler_.request_script = [&](HttpRequest request, Responder responder) {
    tls.put(request.tls);
    echo(std::move(request), std::move(responder));
  };
  const auto server = start();
  for (int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    TlsClient client(connect(), version);
    ASSERT_TRUE(client.is_connected());
    for (std::size_t size : {10u, 20'000u, 3'000'000u, 1u}) {
      const std::string body(size, 'x');
      std::thread sender([&] { client.send(post_request("/", body)); });
      sender.join();
      EXPECT_EQ(client.read_body(size), body);
      EXPECT_TRUE(tls.take());
    }
  }
}

TEST_F(HttpServerTls, EndsAConnectionInGoodOrder) {
  const auto server = start();
  TlsClient client(connect());
  client.send(post_request("/", "x", "Connection: close\r\n"));
  EXPECT_EQ(client.read_body(1), "x");
  EXPECT_TRUE(client.is_closed_by_peer());
}

TEST_F(HttpServerTls, PlainHttpIsClosed) {
  const auto server = start();
  RawClient client = connect();
  client.send(post_request("/", "x"));
  EXPECT_EQ(client.read().status, 0);
}

TEST_F(HttpServerTls, OldVersionsAreRefused) {
  const auto server = start();
  EXPECT_FALSE(TlsClient(connect(), TLS1_1_VERSION).is_connected());
}

TEST_F(HttpServerTls, SlowHandshakeIsEnded) {
  options_.head_timeout = milliseconds(100);
  const auto server = start();
  RawClient silent = connect();
  RawClient dripping = connect();
  // The beginning of a handshake record that never ends.
  dripping.send(std::string("\x16\x03\x01\x02\x00\x01", 6));
  while (!dripping.has_news(milliseconds(5))) dripping.send(std::string(1, '\0'));
  EXPECT_EQ(dripping.read().status, 0);
  EXPECT_TRUE(silent.is_closed_by_peer());
}

TEST_F(HttpServerTls, ClientThatHangsUpInsideItsAnswerHurtsNobody) {
  Arrivals<Responder> held;
  const auto echo = handler_.request_script;
  handler_.request_script = [&](HttpRequest request, Responder responder) {
    if (request.path != "/held") return echo(std::move(request), std::move(responder));
    held.put(std::move(responder));
  };
  const auto server = start();
  TlsClient client(connect());
  client.send(post_request("/held", "x"));
  Responder responder = held.take();
  client.connection().reset();
  responder.respond({200, {}, std::string(16 * 1024 * 1024, 'x')});
  TlsClient other(connect());
  other.send(post_request("/", "y"));
  EXPECT_EQ(other.read_body(1), "y");
}

TEST_F(HttpServerTls, ReloadServesTheNewCertificateAndKeepsTheOldOneWhereItFails) {
  const auto server = start();
  TlsClient before(connect());
  EXPECT_EQ(before.common_name(), "one");
  make_certificate("two");
  replace("one.crt", "two.crt");
  const Status mismatch = server_->reload_tls();
  EXPECT_EQ(mismatch.code(), Code::kInvalid);
  EXPECT_EQ(TlsClient(connect()).common_name(), "one");

  replace("one.key", "two.key");
  EXPECT_OK(server_->reload_tls());
  EXPECT_EQ(TlsClient(connect()).common_name(), "two");
  before.send(post_request("/", "x"));
  EXPECT_EQ(before.read_body(1), "x");

  std::ofstream(directory_ + "/one.crt") << "no certificate";
  EXPECT_EQ(server_->reload_tls().code(), Code::kInvalid);
  EXPECT_EQ(TlsClient(connect()).common_name(), "two");
}

TEST_F(HttpServerTls, FilesThatCannotServeAreNamed) {
  make_certificate("two");
  const std::string cert = options_.tls_cert;
  const std::string key = options_.tls_key;
  expect_refused(directory_ + "/missing.crt", key, "missing.crt");
  expect_refused(cert, directory_ + "/missing.key", "missing.key");
  expect_refused(key, key, "tls_cert");
  expect_refused(cert, directory_ + "/two.key", "two.key");
  expect_refused(cert, "", "tls_key");
  expect_refused("", key, "tls_cert");
}

}  // namespace
}  // namespace hookonce
