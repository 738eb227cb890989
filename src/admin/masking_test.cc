#include "admin/masking.h"

#include <gtest/gtest.h>

namespace hookonce {
namespace {

TEST(Masking, KnowsHeadersThatBearSecrets) {
  for (const char* name : {"Authorization", "PROXY-AUTHORIZATION", "Cookie", "set-cookie", "X-Gitlab-Token",
                           "X-Telegram-Bot-Api-Secret-Token", "X-Api-Key", "x-api_key", "ApiKey", "X-Password",
                           "X-Client-Secret", "X-Auth-Token", "X-Auth", "X-Access-Key", "Ocp-Apim-Subscription-Key",
                           "X-Functions-Key", "X-Goog-Iap-Jwt-Assertion"}) {
    EXPECT_TRUE(bears_secret(name)) << name;
  }
}

TEST(Masking, LeavesSignaturesAndIdsVisible) {
  for (const char* name : {"Stripe-Signature", "X-Hub-Signature-256", "X-Slack-Signature", "webhook-id", "Content-Type",
                           "Idempotency-Key", "X-GitHub-Delivery", "User-Agent"}) {
    EXPECT_FALSE(bears_secret(name)) << name;
  }
}

TEST(Masking, AUrlLosesUserPasswordAndQueryValues) {
  EXPECT_EQ(masked_url("http://127.0.0.1:9000/events"), "http://127.0.0.1:9000/events");
  EXPECT_EQ(masked_url("https://user:pa@ss@example.com/x"), "https://[masked]@example.com/x");
  EXPECT_EQ(masked_url("https://example.com/x?key=s3cret&y=z"), "https://example.com/x?[masked]");
  EXPECT_EQ(masked_url("https://example.com?key=s3cret@here"), "https://example.com?[masked]");
  EXPECT_EQ(masked_url("https://example.com/a@b"), "https://example.com/a@b");
}

}  // namespace
}  // namespace hookonce
