// The client's TLS against this project's own server with a certificate that no system store knows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "http/client.h"
#include "test/support/client_call.h"
#include "test/support/http_server_fixture.h"

namespace hookonce {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;

class HttpClientTls : public HttpServerTest {
 protected:
  HttpClientTls() {
    std::string pattern = testing::TempDir() + "hookonce_client_tls_XXXXXX";
    directory_ = mkdtemp(pattern.data());
    options_.tls_cert = directory_ + "/self.crt";
    options_.tls_key = directory_ + "/self.key";
    const std::string command =
        "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost"
        " -addext subjectAltName=DNS:localhost,IP:127.0.0.1 -keyout " +
        options_.tls_key + " -out " + options_.tls_cert + " 2>/dev/null";
    HK_CHECK(std::system(command.c_str()) == 0);
  }
  ~HttpClientTls() override { std::filesystem::remove_all(directory_); }

  // One request to a fresh server with the fixture's certificate, by a client that trusts `ca_file` alone.
  ClientResponse get_trusting(const std::string& ca_file) {
    const auto server = start();
    const auto client = start_client();
    return ClientCall(*client, {.url = "https://" + server->addresses().at(0) + "/", .ca_file = ca_file}).wait();
  }

  std::string directory_;
};

TEST_F(HttpClientTls, ACertificateThatTheSystemDoesNotKnowGetsNoRequest) {
  Arrivals<int> requests;
  handler_.request_script = [&](HttpRequest, Responder responder) {
    requests.put(1);
    responder.respond({});
  };
  const auto server = start();
  const auto client = start_client();
  ClientCall call(*client, {.url = "https://" + server->addresses().at(0) + "/"});
  const ClientResponse response = call.wait();
  EXPECT_EQ(response.result, ClientResponse::Result::kNotSent);
  EXPECT_THAT(response.error, HasSubstr("certificate"));
  EXPECT_EQ(requests.size(), 0u);
}

TEST_F(HttpClientTls, AnOwnCaFileIsTrusted) {
  const ClientResponse response = get_trusting(options_.tls_cert);
  EXPECT_EQ(response.status, 200) << response.error;
}

TEST_F(HttpClientTls, AnOwnCaFileIsTrustedInsteadOfTheSystemsAuthorities) {
  // A file whose only certificate is another one's.
  const std::string other = directory_ + "/other.crt";
  const std::string command =
      "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=other -keyout " +
      directory_ + "/other.key -out " + other + " 2>/dev/null";
  ASSERT_EQ(std::system(command.c_str()), 0);
  const ClientResponse response = get_trusting(other);
  EXPECT_EQ(response.result, ClientResponse::Result::kNotSent);
  EXPECT_THAT(response.error, HasSubstr("certificate"));
}

TEST_F(HttpClientTls, ATrustedCertificateForAnotherNameGetsNoRequest) {
  options_.listen = {"127.0.0.2:0"};
  const auto server = start();
  const auto client = start_client();
  ClientCall call(*client, {.url = "https://" + server->addresses().at(0) + "/", .ca_file = options_.tls_cert});
  const ClientResponse response = call.wait();
  EXPECT_EQ(response.result, ClientResponse::Result::kNotSent);
  EXPECT_THAT(response.error, HasSubstr("127.0.0.2"));
}

TEST_F(HttpClientTls, AnExpiredCertificateGetsNoRequestAndTheReasonNamesIt) {
  const std::string request = directory_ + "/request.pem";
  const std::string command = "openssl req -new -key " + options_.tls_key + " -subj /CN=127.0.0.1 -out " + request +
                              " 2>/dev/null && openssl x509 -req -days -1 -in " + request + " -signkey " +
                              options_.tls_key + " -out " + options_.tls_cert + " 2>/dev/null";
  ASSERT_EQ(std::system(command.c_str()), 0);
  const ClientResponse response = get_trusting(options_.tls_cert);
  EXPECT_EQ(response.result, ClientResponse::Result::kNotSent);
  EXPECT_THAT(response.error, HasSubstr("certificate has expired"));
}

TEST_F(HttpClientTls, AMissingCaFileTrustsNobodyAndIsNamed) {
  const ClientResponse response = get_trusting(directory_ + "/missing.crt");
  EXPECT_EQ(response.result, ClientResponse::Result::kNotSent);
  EXPECT_THAT(response.error, HasSubstr("missing.crt"));
}

TEST_F(HttpClientTls, AServerWithoutTlsGetsNoRequestEither) {
  options_.tls_cert.clear();
  options_.tls_key.clear();
  const auto server = start();
  const auto client = start_client();
  ClientCall call(*client, {.url = "https://" + server->addresses().at(0) + "/"});
  const ClientResponse response = call.wait();
  EXPECT_EQ(response.result, ClientResponse::Result::kNotSent);
  EXPECT_THAT(response.error, AnyOf(HasSubstr("ssl"), HasSubstr("tls")));
}

}  // namespace
}  // namespace hookonce
