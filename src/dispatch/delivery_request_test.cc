// Contract section 6, header by header. Signatures are judged by the providers' own verification, as a backend's SDK
// would.
#include "dispatch/delivery_request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/bytes.h"
#include "provider/registry.h"

namespace hookonce {
namespace {

using std::chrono::hours;

const Time kSent{std::chrono::seconds(1790000000)};
const Time kNow = kSent + hours(30);  // a late retry: the original time stamp is far out of tolerance
constexpr const char* kBody = R"({"type":"order.paid","data":{"id":"o_1"}})";

std::string secret_of(std::string_view seed) {
  return "whsec_" + to_base64(std::string(24, seed.front()));
}

std::unique_ptr<const BoundProvider> bound_provider(std::string_view name, std::vector<std::string> secrets) {
  BindSettings settings;
  settings.secrets = std::move(secrets);
  settings.tolerance = std::chrono::minutes(5);
  auto bound = find_provider(name)->bind(settings);
  EXPECT_TRUE(bound.ok()) << bound.status().message();
  return std::move(bound).value();
}

Headers sample_headers(std::string_view provider, const std::string& id, const std::string& secret) {
  SampleRequest request;
  request.id = id;
  request.body = kBody;
  auto message = find_provider(provider)->sample(request, secret, kSent);
  EXPECT_TRUE(message.ok()) << message.status().message();
  return message->headers;
}

class DeliveryRequestTest : public ::testing::Test {
 protected:
  DeliveryRequestTest() {
    destination_.name = "backend";
    destination_.url = "http://127.0.0.1:9000/in";
    context_.destination = &destination_;
    context_.carries_webhook_id = false;
    lease_.event = *EventId::parse("0199a1b2-0000-7000-8000-000000000001");
    lease_.destination = "backend";
    lease_.source = "shop";
    lease_.attempt = 3;
    lease_.received_at = kSent + std::chrono::milliseconds(678);
    arrive({{"Content-Type", "application/json"}});
  }

  void arrive(Headers headers) { lease_.headers = std::make_shared<const Headers>(std::move(headers)); }
  void resign_by(std::string_view provider, std::vector<std::string> secrets) {
    provider_ = bound_provider(provider, std::move(secrets));
    context_.provider = provider_.get();
    context_.carries_webhook_id = find_provider(provider)->traits().carries_webhook_id;
  }
  void sign_by(std::vector<std::string> secrets) {
    auto signer = StandardWebhooksSigner::make(secrets);
    ASSERT_TRUE(signer.ok());
    signer_ = std::make_unique<StandardWebhooksSigner>(std::move(signer).value());
    context_.signer = signer_.get();
  }
  Headers sent() { return delivery_request(lease_, context_, kNow).headers; }

  static Reason judged(std::string_view provider, const std::string& secret, const Headers& headers, Time now = kNow) {
    HttpRequest request;
    request.headers = headers;
    request.body = kBody;
    return bound_provider(provider, {secret})->verify(request, now).reason;
  }

  std::string event_id() const { return lease_.event.text(); }

  DestinationConfig destination_;
  std::unique_ptr<const BoundProvider> provider_;
  std::unique_ptr<StandardWebhooksSigner> signer_;
  DeliveryContext context_;
  Lease lease_ = [] {
    Lease lease;
    lease.body = std::make_shared<const std::string>(kBody);
    return lease;
  }();
};

TEST_F(DeliveryRequestTest, CarriesTheOriginalHeadersAndTheNamedOnesAndNothingElse) {
  arrive({{"content-type", "application/json"},
          {"X-Empty", ""},
          {"X-Twice", "1"},
          {"Other", "caf\xe9"},
          {"x-twice", "2"}});
  destination_.timeout = std::chrono::seconds(3);
  destination_.allow_private = false;
  const ClientRequest request = delivery_request(lease_, context_, kNow);
  EXPECT_EQ(request.method, "POST");
  EXPECT_EQ(request.url, "http://127.0.0.1:9000/in");
  EXPECT_EQ(request.body, lease_.body) << "the same bytes, not a copy";
  EXPECT_EQ(request.timeout, std::chrono::seconds(3));
  EXPECT_FALSE(request.allow_private);
  EXPECT_EQ(request.headers, (Headers{{"content-type", "application/json"},
                                      {"X-Empty", ""},
                                      {"X-Twice", "1"},
                                      {"Other", "caf\xe9"},
                                      {"x-twice", "2"},
                                      {"Idempotency-Key", event_id()},
                                      {"Webhook-Id", event_id()},
                                      {"Hookonce-Source", "shop"},
                                      {"Hookonce-Event", event_id()},
                                      {"Hookonce-Attempt", "3"},
                                      {"Hookonce-Received-At", to_rfc3339(lease_.received_at)}}));
}

TEST_F(DeliveryRequestTest, HeadersOfTheConnectionStayBehind) {
  arrive({{"Host", "public.example"},
          {"Content-Length", "2"},
          {"Transfer-Encoding", "chunked"},
          {"Connection", "close, X-Hop ,"},
          {"connection", "x-other"},
          {"X-Hop", "1"},
          {"X-Other", "2"},
          {"Keep-Alive", "timeout=5"},
          {"TE", "trailers"},
          {"Trailer", "X"},
          {"Upgrade", "h2c"},
          {"EXPECT", "100-continue"},
          {"Proxy-Authorization", "p"},
          {"proxy-connection", "keep-alive"},
          {"Kept", "yes"}});
  const Headers headers = sent();
  EXPECT_EQ(headers.items().front(), (Header{"Kept", "yes"}));
  EXPECT_EQ(headers.items().size(), 7u);
}

TEST_F(DeliveryRequestTest, ForwardedHeadersPassOnlyFromTrustedProxies) {
  arrive({{"X-Forwarded-For", "203.0.113.7"}, {"x-forwarded-anything", "a"}, {"Forwarded", "for=x"}});
  for (const char* name : {"X-Forwarded-For", "X-Forwarded-Anything", "Forwarded"})
    EXPECT_FALSE(sent().has(name)) << name;
  lease_.forwarded_trusted = true;
  for (const char* name : {"X-Forwarded-For", "X-Forwarded-Anything", "Forwarded"})
    EXPECT_TRUE(sent().has(name)) << name;
}

TEST_F(DeliveryRequestTest, NamesOfTheGatewayAreRemovedAndNeverMerged) {
  arrive({{"idempotency-key", "theirs"},
          {"Webhook-Id", "theirs"},
          {"Webhook-Timestamp", "1"},
          {"Webhook-Signature", "v1,x"},
          {"Hookonce-Event", "theirs"},
          {"hookonce-replay", "true"},
          {"Hookonce-Anything", "x"},
          {"HOOKONCE-ATTEMPT", "99"}});
  const Headers headers = sent();
  EXPECT_EQ(headers.all("Idempotency-Key"), std::vector<std::string_view>{event_id()});
  EXPECT_EQ(headers.all("Webhook-Id"), std::vector<std::string_view>{event_id()});
  EXPECT_EQ(headers.all("Hookonce-Attempt"), std::vector<std::string_view>{"3"});
  for (const char* name : {"Webhook-Timestamp", "Webhook-Signature", "Hookonce-Replay", "Hookonce-Anything"})
    EXPECT_FALSE(headers.has(name)) << name;
}

// WSGI and CGI have one variable for both spellings, and join the two values: the backend's dedup key was spoilt.
TEST_F(DeliveryRequestTest, NamesOfTheGatewaySpeltWithUnderscoresStayBehind) {
  lease_.forwarded_trusted = true;  // the proxy's word is for the names that it writes itself
  context_.carries_webhook_id = true;
  arrive({{"Idempotency_Key", "theirs"},
          {"IDEMPOTENCY_KEY", "theirs"},
          {"Webhook-Id", "msg_1"},
          {"Webhook-Timestamp", "1"},
          {"Webhook-Signature", "v1,x"},
          {"Webhook_Id", "theirs"},
          {"webhook_timestamp", "1"},
          {"Webhook_Signature", "v1,y"},
          {"Hookonce_Event", "theirs"},
          {"Hookonce-Received_At", "theirs"},
          {"hookonce_anything", "x"},
          {"X_Forwarded_For", "203.0.113.7"},
          {"X-Forwarded_Proto", "https"},
          {"Content_Length", "2"},
          {"Transfer_Encoding", "chunked"},
          {"Proxy_Authorization", "p"},
          {"X_Their_Own", "kept"}});
  const Headers headers = sent();
  for (const Header& header : headers.items()) {
    EXPECT_TRUE(header.name.find('_') == std::string::npos || header.name == "X_Their_Own") << header.name;
  }
  EXPECT_EQ(headers.first("X_Their_Own"), "kept");
  EXPECT_EQ(headers.all("Webhook-Id"), std::vector<std::string_view>{"msg_1"});
}

TEST_F(DeliveryRequestTest, ASignatureThatIsMadeAnewStandsAloneInEverySpelling) {
  const std::string secret = secret_of("a");
  resign_by("standard_webhooks", {secret});
  destination_.resign = true;
  Headers headers = sample_headers("standard_webhooks", "msg_1", secret);
  headers.add("Webhook_Signature", "v1,theirs");
  arrive(std::move(headers));
  EXPECT_FALSE(sent().has("Webhook_Signature"));

  resign_by("stripe", {"whsec_test"});
  headers = sample_headers("stripe", "evt_1", "whsec_test");
  headers.add("Stripe_Signature", "t=1,v1=theirs");
  headers.add("Stripe_Other", "kept");
  arrive(std::move(headers));
  EXPECT_TRUE(sent().has("Stripe-Signature"));
  EXPECT_FALSE(sent().has("Stripe_Signature"));
  EXPECT_TRUE(sent().has("Stripe_Other"));
}

TEST_F(DeliveryRequestTest, AReplaySaysSoAndANewKeyIsANewKey) {
  lease_.replay = true;
  EXPECT_EQ(sent().first("Hookonce-Replay"), "true");
  EXPECT_EQ(sent().first("Idempotency-Key"), event_id());
  lease_.new_key = 2;
  EXPECT_EQ(sent().first("Idempotency-Key"), event_id() + ".2");
  EXPECT_EQ(sent().first("Webhook-Id"), event_id() + ".2");
  EXPECT_EQ(sent().first("Hookonce-Event"), event_id());
}

TEST_F(DeliveryRequestTest, ABatchNamesItsNewItemsAndNothingElseDoes) {
  arrive({{"Hookonce-New-Items", "7"}});
  EXPECT_FALSE(sent().has("Hookonce-New-Items"));
  lease_.new_items = "1,3";
  EXPECT_EQ(sent().first("Hookonce-New-Items"), "1,3");
}

TEST_F(DeliveryRequestTest, ADestinationWithSecretsGetsAFreshSignatureOfEach) {
  sign_by({secret_of("a"), secret_of("b")});
  const Headers headers = sent();
  EXPECT_EQ(headers.first("Webhook-Id"), event_id());
  EXPECT_EQ(split(*headers.first("Webhook-Signature"), ' ').size(), 2u);
  EXPECT_EQ(judged("standard_webhooks", secret_of("a"), headers), Reason::kOk);
  EXPECT_EQ(judged("standard_webhooks", secret_of("b"), headers), Reason::kOk);
  EXPECT_NE(judged("standard_webhooks", secret_of("c"), headers), Reason::kOk);
}

TEST_F(DeliveryRequestTest, ProvidersSignaturesAreFreshUnderTheNamesWithWhichTheyArrived) {
  struct Case {
    const char* provider;
    const char* secret;
    const char* header;
  };
  for (const Case& c : {Case{"slack", "signing", "X-Slack-Signature"}, Case{"stripe", "whsec_a", "Stripe-Signature"}}) {
    const Headers original = sample_headers(c.provider, find_provider(c.provider)->sample_id("seed"), c.secret);
    arrive(original);
    resign_by(c.provider, {c.secret});
    EXPECT_EQ(judged(c.provider, c.secret, original), Reason::kTimestampTooOld) << c.provider;
    const Headers headers = sent();
    EXPECT_EQ(judged(c.provider, c.secret, headers), Reason::kOk) << c.provider;
    EXPECT_EQ(headers.all(c.header).size(), 1u) << c.provider;
    EXPECT_EQ(headers.first("Webhook-Id"), event_id()) << c.provider;

    destination_.resign = false;
    EXPECT_EQ(sent().first(c.header), original.first(c.header)) << "untouched";
    destination_.resign = true;
    context_.provider = nullptr;
    context_.carries_webhook_id.reset();
    EXPECT_EQ(sent().first(c.header), original.first(c.header)) << "a removed source's event is not re-signed";
  }
}

class StandardWebhookRequestTest : public DeliveryRequestTest {
 protected:
  const std::string source_secret_ = secret_of("s");
  const Headers original_ = sample_headers("standard_webhooks", "msg_1", source_secret_);
};

TEST_F(StandardWebhookRequestTest, KeepsTheSendersIdAndIsSignedByTheSourceFirst) {
  arrive(original_);
  resign_by("standard_webhooks", {source_secret_});
  sign_by({secret_of("d")});
  lease_.new_key = 1;
  const Headers headers = sent();
  EXPECT_EQ(headers.all("Webhook-Id"), std::vector<std::string_view>{"msg_1"});
  EXPECT_EQ(headers.first("Idempotency-Key"), event_id() + ".1");
  EXPECT_EQ(headers.all("Webhook-Timestamp").size(), 1u);
  ASSERT_EQ(headers.all("Webhook-Signature").size(), 1u);
  const auto values = split(*headers.first("Webhook-Signature"), ' ');
  ASSERT_EQ(values.size(), 2u);
  EXPECT_EQ(judged("standard_webhooks", source_secret_, headers), Reason::kOk);
  EXPECT_EQ(judged("standard_webhooks", secret_of("d"), headers), Reason::kOk);
  Headers first_only = headers;
  first_only.set("Webhook-Signature", std::string(values[0]));
  EXPECT_EQ(judged("standard_webhooks", source_secret_, first_only), Reason::kOk);
}

TEST_F(StandardWebhookRequestTest, WithoutDestinationSecretsTheSourceAloneSigns) {
  arrive(original_);
  resign_by("standard_webhooks", {source_secret_, secret_of("t")});
  const Headers headers = sent();
  EXPECT_EQ(split(*headers.first("Webhook-Signature"), ' ').size(), 2u) << "one value per secret of the source";
  EXPECT_EQ(judged("standard_webhooks", source_secret_, headers), Reason::kOk);
}

TEST_F(StandardWebhookRequestTest, TheOtherFamilysNamesAreKeptAndBothAreFresh) {
  Headers renamed;
  for (const Header& header : original_.items()) {
    const bool own = to_lower(header.name).rfind("webhook-", 0) == 0;
    renamed.add(own ? "svix-" + to_lower(header.name).substr(8) : header.name, header.value);
  }
  arrive(renamed);
  resign_by("standard_webhooks", {source_secret_});
  const Headers headers = sent();
  EXPECT_EQ(headers.first("svix-id"), "msg_1");
  EXPECT_EQ(headers.first("Webhook-Id"), "msg_1");
  EXPECT_EQ(headers.first("svix-timestamp"), headers.first("Webhook-Timestamp"));
  EXPECT_EQ(judged("standard_webhooks", source_secret_, headers), Reason::kOk);
  Headers svix_only = headers;
  svix_only.remove("Webhook-Id");
  EXPECT_EQ(judged("standard_webhooks", source_secret_, svix_only), Reason::kOk);
}

TEST_F(StandardWebhookRequestTest, UntouchedWhereNeitherSideSigns) {
  arrive(original_);
  resign_by("standard_webhooks", {source_secret_});
  destination_.resign = false;
  Headers headers = sent();
  for (const char* name : {"Webhook-Id", "Webhook-Timestamp", "Webhook-Signature"})
    EXPECT_EQ(headers.all(name), original_.all(name)) << name;

  destination_.resign = true;
  context_.provider = nullptr;
  context_.carries_webhook_id.reset();
  headers = sent();
  for (const char* name : {"Webhook-Id", "Webhook-Timestamp", "Webhook-Signature"})
    EXPECT_EQ(headers.all(name), original_.all(name)) << name;
}

TEST_F(StandardWebhookRequestTest, WithoutResigningTheDestinationsSecretsSignTheEventId) {
  arrive(original_);
  resign_by("standard_webhooks", {source_secret_});
  destination_.resign = false;
  sign_by({secret_of("d")});
  const Headers headers = sent();
  EXPECT_EQ(headers.all("Webhook-Id"), std::vector<std::string_view>{event_id()});
  EXPECT_EQ(judged("standard_webhooks", secret_of("d"), headers), Reason::kOk);
  EXPECT_NE(judged("standard_webhooks", source_secret_, headers), Reason::kOk);
}

TEST_F(StandardWebhookRequestTest, APublicKeyCannotSignButTheIdStays) {
  arrive(original_);
  resign_by("standard_webhooks", {"whpk_" + to_base64(std::string(32, 'k'))});
  EXPECT_EQ(sent().first("Webhook-Signature"), original_.first("Webhook-Signature"));
  sign_by({secret_of("d")});
  const Headers headers = sent();
  EXPECT_EQ(headers.first("Webhook-Id"), "msg_1");
  EXPECT_EQ(judged("standard_webhooks", secret_of("d"), headers), Reason::kOk);
}

}  // namespace
}  // namespace hookonce
