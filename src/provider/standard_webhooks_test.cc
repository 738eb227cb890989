// What the vectors of Standard Webhooks cannot show: secrets' forms, and re-signing with two families of headers.
#include <gtest/gtest.h>

#include "provider/registry.h"
#include "provider/standard_webhooks_signer.h"
#include "test/support/asserts.h"

namespace hookonce {
namespace {

constexpr const char* kSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
constexpr const char* kOtherSecret = "c2Vjb25kIGtleSBvZiB0aGUgdGVzdHM=";
constexpr const char* kPublicKey = "whpk_6kpsY+KcUgq+9VB7Ey7F+ZVHdq6+vnuSQh7qaRRG0iw=";
const Time kNow = Time(std::chrono::seconds(1790007200));

std::unique_ptr<const BoundProvider> bound_to(std::vector<std::string> secrets) {
  BindSettings settings;
  settings.secrets = std::move(secrets);
  settings.tolerance = std::chrono::minutes(5);
  return std::move(find_provider("standard_webhooks")->bind(settings)).value();
}

TEST(StandardWebhooks, SecretOfAnotherFormIsRefusedAndNotShown) {
  for (const char* secret : {"", "whsec_", "whsec_!!!!", "v1,whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsk_AAAA",
                             "whpk_AAAA", "whpk_", "not base64"}) {
    BindSettings settings;
    settings.secrets = {secret};
    const Status status = find_provider("svix")->bind(settings).status();
    EXPECT_EQ(status.code(), Code::kInvalid) << secret;
    EXPECT_EQ(status.message().find("AAAA"), std::string::npos) << status.message();
  }
}

TEST(StandardWebhooks, SignsWithOneValuePerSecret) {
  auto signer = StandardWebhooksSigner::make({kSecret, kOtherSecret});
  ASSERT_OK(signer);
  auto first = StandardWebhooksSigner::make({kSecret});
  auto second = StandardWebhooksSigner::make({kOtherSecret});
  ASSERT_OK(first);
  ASSERT_OK(second);
  EXPECT_EQ(signer->signature("id", "1", "body"),
            first->signature("id", "1", "body") + " " + second->signature("id", "1", "body"));
  EXPECT_EQ(StandardWebhooksSigner::make({kPublicKey}).code(), Code::kInvalid) << "a public key signs nothing";
}

TEST(StandardWebhooks, IsResignedWithItsOwnIdByEverySymmetricSecret) {
  auto bound = bound_to({kPublicKey, kSecret, kOtherSecret});
  HttpRequest request;
  request.headers = {{"Svix-Id", "msg_1"}, {"svix-timestamp", "1"}, {"SVIX-signature", "v1,old"}};
  request.body = "{}";
  auto fresh = bound->resign(request.headers, request.body, kNow);
  ASSERT_TRUE(fresh.has_value());
  ASSERT_EQ(fresh->items().size(), 2u);
  EXPECT_EQ(fresh->items()[0], (Header{"svix-timestamp", "1790007200"}));
  EXPECT_EQ(fresh->items()[1].name, "SVIX-signature");
  for (const Header& header : fresh->items()) request.headers.set(header.name, header.value);
  for (const char* secret : {kSecret, kOtherSecret}) {
    EXPECT_EQ(bound_to({secret})->verify(request, kNow).reason, Reason::kOk);
  }
}

TEST(StandardWebhooks, PublicKeysAloneSignNothingAnew) {
  const Headers headers = {{"webhook-id", "a"}, {"webhook-timestamp", "1"}, {"webhook-signature", "v1a,x"}};
  EXPECT_FALSE(bound_to({kPublicKey})->resign(headers, "{}", kNow));
}

// Only what was verified is signed anew: the second family's own id was not.
TEST(StandardWebhooks, SecondFamilyIsResignedOnlyUnderTheVerifiedId) {
  auto bound = bound_to({kSecret});
  Headers headers = {{"webhook-id", "a"}, {"webhook-timestamp", "1"}, {"webhook-signature", "v1,x"},
                     {"svix-id", "b"},    {"svix-timestamp", "1"},    {"svix-signature", "v1,x"}};
  EXPECT_EQ(bound->resign(headers, "{}", kNow)->items().size(), 2u);
  headers.set("svix-id", "a");
  EXPECT_EQ(bound->resign(headers, "{}", kNow)->items().size(), 4u);
}

TEST(StandardWebhooks, SecretThatVerifiedIsNamedByItsPosition) {
  HttpRequest request;
  request.headers = {{"webhook-id", "a"}, {"webhook-timestamp", "1790007200"}};
  request.body = "{}";
  auto signer = StandardWebhooksSigner::make({kOtherSecret});
  ASSERT_OK(signer);
  request.headers.add("webhook-signature", signer->signature("a", "1790007200", "{}"));
  const Verification verification = bound_to({kPublicKey, kSecret, kOtherSecret})->verify(request, kNow);
  EXPECT_EQ(verification.reason, Reason::kOk);
  EXPECT_EQ(verification.secret, 2);
  EXPECT_EQ(verification.provider_time, kNow);
}

}  // namespace
}  // namespace hookonce
