#include "cli/sample_sender.h"

#include <gmock/gmock.h>

#include "provider/registry.h"
#include "test/support/asserts.h"

namespace hookonce {
namespace {

using testing::HasSubstr;

SampleOptions options_for(std::string provider) {
  SampleOptions options;
  options.provider = std::move(provider);
  options.to = "http://127.0.0.1:1/in";
  options.secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
  return options;
}

TEST(SampleSender, SignsForEveryProviderThatCanSign) {
  for (const char* name : {"stripe", "slack", "github", "standard_webhooks", "svix"})
    EXPECT_OK(SampleSender::make(options_for(name)));
  for (const char* name : {"token", "none"})
    EXPECT_EQ(SampleSender::make(options_for(name)).code(), Code::kInvalid) << name;
  EXPECT_THAT(SampleSender::make(options_for("hmac")).status().message(), HasSubstr("--header"));
  SampleOptions options = options_for("hmac");
  options.header = "X-Signature";
  EXPECT_OK(SampleSender::make(options));
  options = options_for("stripe");
  options.header = "X-Signature";
  EXPECT_EQ(SampleSender::make(options).code(), Code::kInvalid);
}

TEST(SampleSender, MistakesAreNamedBeforeAnythingIsSent) {
  EXPECT_THAT(SampleSender::make(options_for("strpe")).status().message(), HasSubstr("did you mean stripe"));
  SampleOptions options = options_for("stripe");
  options.to = "127.0.0.1:8080/in";
  EXPECT_THAT(SampleSender::make(options).status().message(), HasSubstr("--to"));
  options = options_for("stripe");
  options.secret = "env:HOOKONCE_TEST_NO_SUCH_VARIABLE";
  EXPECT_THAT(SampleSender::make(options).status().message(), HasSubstr("--secret"));
  options = options_for("svix");
  options.secret = "whpk_6kpsY+KcUgq+9VB7Ey7F+ZVHdq6+vnuSQh7qaRRG0iw=";
  EXPECT_THAT(SampleSender::make(options).status().message(), HasSubstr("never signs"));
}

TEST(SampleSender, RequestIsSignedAndItsIdsAreNew) {
  auto sender = SampleSender::make(options_for("stripe"));
  ASSERT_OK(sender);
  EXPECT_NE(sender->fresh_id(), sender->fresh_id());
  SampleRequest sample;
  sample.id = "evt_1";
  auto made = sender->request(sample, Time(std::chrono::seconds(1790000000)));
  ASSERT_OK(made);
  EXPECT_TRUE(made->headers.has("Stripe-Signature"));
  EXPECT_THAT(*made->body, HasSubstr("evt_1"));
}

TEST(Url, HostIsWhatWouldBeConnectedTo) {
  EXPECT_EQ(url_host("http://127.0.0.1:8080/in"), "127.0.0.1");
  EXPECT_EQ(url_host("HTTPS://Example.com"), "Example.com");
  EXPECT_EQ(url_host("http://[::1]:80/x"), "::1");
  EXPECT_EQ(url_host("http://127.0.0.1@example.com/"), "example.com");
  EXPECT_EQ(url_host("http://a@b@example.com:1/"), "example.com");
  EXPECT_EQ(url_host("http://example.com?@127.0.0.1/"), "example.com");
  EXPECT_EQ(url_host("ftp://127.0.0.1/"), "");
  EXPECT_EQ(url_host("127.0.0.1"), "");
  EXPECT_EQ(url_host("http://"), "");
}

TEST(Url, OnlyPlainLoopbackIsThisMachine) {
  for (const char* host : {"127.0.0.1", "127.9.9.9", "::1", "localhost", "LOCALHOST"})
    EXPECT_TRUE(is_loopback_host(host)) << host;
  for (const char* host : {"", "128.0.0.1", "127.1", "127.0.0.1.example.com", "localhost.example.com", "0.0.0.0",
                           "::", "::ffff:10.0.0.1", "2130706433"}) {
    EXPECT_FALSE(is_loopback_host(host)) << host;
  }
}

}  // namespace
}  // namespace hookonce
