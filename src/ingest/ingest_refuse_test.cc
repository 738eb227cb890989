// What is refused, with which code, and what handshakes get: the middle rows of the table of answers and the edges of
// verification.
#include <gtest/gtest.h>

#include "base/bytes.h"
#include "base/crypto.h"
#include "test/support/ingest_fixture.h"

namespace hookonce {
namespace {

const std::string kStripeSecret = "whsec_test_stripe";
const std::string kSlackSecret = "8f742231b10e8888abcd99yyyzzz85a5";
const std::string kGithubSecret = "test github secret";
const std::string kWebhookSecret = "whsec_" + to_base64("a signing key for tests only");
constexpr const char* kForm = "application/x-www-form-urlencoded";
constexpr const char* kJson = "application/json";

std::string unix_text(Time time) {
  return std::to_string(std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch()).count());
}

class IngestRefuse : public IngestFixture {
 protected:
  void SetUp() override {
    SourceConfig hmac = source_of("hmac", "hmac", {"hmac secret"});
    hmac.hmac = HmacScheme{};
    hmac.hmac->header = "X-Signature";
    hmac.dedup_key = {FieldSpec::parse("json:/id").value()};
    SourceConfig token = source_of("token", "token", {"the token"});
    token.token = TokenScheme{"X-Token", ""};
    SourceConfig strict = source_of("strict", "stripe", {kStripeSecret});
    strict.missing_key = MissingKey::kReject;
    SourceConfig strict_github = source_of("strict_github", "github", {kGithubSecret});
    strict_github.missing_key = MissingKey::kReject;
    use(config_of({source_of("stripe", "stripe", {kStripeSecret}), source_of("slack", "slack", {kSlackSecret}),
                   source_of("github", "github", {kGithubSecret}),
                   source_of("standard_webhooks", "standard_webhooks", {kWebhookSecret}), hmac, token, strict,
                   strict_github}));
  }

  HttpRequest slack(const std::string& body, const char* type, const std::string& stamp) const {
    const HmacKey key = HmacKey::make(HmacKey::Algorithm::kSha256, kSlackSecret);
    return post("/in/slack",
                {{"Content-Type", type},
                 {"X-Slack-Request-Timestamp", stamp},
                 {"X-Slack-Signature", "v0=" + to_hex(key.sign({"v0:", stamp, ":", body}))}},
                body);
  }
  HttpRequest slack(const std::string& body, const char* type = kJson) const {
    return slack(body, type, unix_text(clock_.wall()));
  }
  HttpRequest stripe(const std::string& header, const std::string& body = R"({"id":"evt_1"})") const {
    return post("/in/stripe", {{"Stripe-Signature", header}}, body);
  }
  std::string stripe_v1(const std::string& stamp, const std::string& body = R"({"id":"evt_1"})") const {
    return to_hex(HmacKey::make(HmacKey::Algorithm::kSha256, kStripeSecret).sign({stamp, ".", body}));
  }
  HttpRequest github(const std::string& source, Headers headers, const std::string& body) const {
    const HmacKey key = HmacKey::make(HmacKey::Algorithm::kSha256, kGithubSecret);
    headers.add("X-Hub-Signature-256", "sha256=" + to_hex(key.sign({body})));
    return post("/in/" + source, std::move(headers), body);
  }

  void expect_refused(HttpRequest request, int status, const std::string& code) {
    const HttpResponse answer = send(std::move(request));
    EXPECT_EQ(answer.status, status);
    EXPECT_EQ(error_code(answer), code) << answer.body;
    EXPECT_FALSE(answer.headers.has("Hookonce-Status"));
    EXPECT_FALSE(answer.headers.has("Retry-After"));
    EXPECT_TRUE(events().empty()) << "a refused request became an event";
  }
};

TEST_F(IngestRefuse, AMissingSignatureIs401) {
  for (const char* source : {"stripe", "slack", "github", "standard_webhooks", "hmac", "token"}) {
    SCOPED_TRACE(source);
    expect_refused(post(std::string("/in/") + source, {{"Content-Type", kJson}}, R"({"id":"1"})"), 401,
                   "signature_missing");
  }
}

TEST_F(IngestRefuse, AWrongSignatureIs401) {
  const std::pair<std::string, std::string> cases[] = {{"stripe", "whsec_other"},
                                                       {"slack", "other secret"},
                                                       {"github", "other secret"},
                                                       {"standard_webhooks", "whsec_" + to_base64("another key")},
                                                       {"hmac", "other secret"}};
  for (const auto& [source, secret] : cases) {
    SCOPED_TRACE(source);
    SampleRequest sample;
    sample.id = "id_1";
    sample.signature_header = source == "hmac" ? "X-Signature" : "";
    expect_refused(signed_by(source, source, secret, sample), 401, "signature_mismatch");
  }
  expect_refused(post("/in/token", {{"X-Token", "the toke"}}, ""), 401, "signature_mismatch");
}

TEST_F(IngestRefuse, OneChangedByteIs401) {
  for (const auto& [source, secret] :
       {std::pair{"stripe", kStripeSecret}, std::pair{"slack", kSlackSecret}, std::pair{"github", kGithubSecret},
        std::pair{"standard_webhooks", kWebhookSecret}}) {
    SCOPED_TRACE(source);
    HttpRequest request = signed_by(source, source, secret, {.id = "id_1"});
    request.body.back() ^= 1;
    expect_refused(std::move(request), 401, "signature_mismatch");
  }
}

TEST_F(IngestRefuse, TheToleranceItselfPassesInBothDirectionsAndOneSecondMoreDoesNot) {
  for (const auto& [source, secret] : {std::pair{"stripe", kStripeSecret}, std::pair{"slack", kSlackSecret},
                                       std::pair{"standard_webhooks", kWebhookSecret}}) {
    for (const int direction : {-1, 1}) {
      SCOPED_TRACE(std::string(source) + (direction < 0 ? ", future" : ", past"));
      const auto arriving_after = [&, provider = source, key = secret](int seconds, const std::string& id) {
        HttpRequest request = signed_by(provider, provider, key, {.id = id});
        request.wall_at += direction * std::chrono::seconds(seconds);
        return request;
      };
      const std::string id = std::string(source) + (direction < 0 ? "_future" : "_past");
      const HttpResponse late = send(arriving_after(301, id));
      EXPECT_EQ(late.status, 401);
      EXPECT_EQ(error_code(late), "timestamp_out_of_tolerance");
      EXPECT_EQ(header_of(send(arriving_after(300, id)), "Hookonce-Status"), "accepted");
    }
  }
}

TEST_F(IngestRefuse, WrongAndStaleIsAMismatch) {
  HttpRequest request = signed_by("stripe", "stripe", "whsec_other", {.id = "evt_1"});
  request.wall_at += std::chrono::hours(1);
  expect_refused(std::move(request), 401, "signature_mismatch");
}

TEST_F(IngestRefuse, SlackHeadersThatAreOff) {
  const std::string stamp = unix_text(clock_.wall());
  const std::string good(*slack("{}").headers.first("X-Slack-Signature"));
  HttpRequest request = slack("{}");
  request.headers.remove("X-Slack-Request-Timestamp");
  expect_refused(request.headers.has("X-Slack-Signature") ? std::move(request) : HttpRequest(), 401,
                 "signature_missing");
  for (const std::string& signature :
       {good.substr(0, good.size() - 1), good + "0", "v0=" + std::string(64, 'z'), "v1=" + good.substr(3)}) {
    SCOPED_TRACE(signature);
    request = slack("{}");
    request.headers.set("X-Slack-Signature", signature);
    expect_refused(std::move(request), 401, "signature_mismatch");
  }
}

TEST_F(IngestRefuse, StripeHeadersThatAreOff) {
  const std::string stamp = unix_text(clock_.wall());
  const std::string v1 = stripe_v1(stamp);
  expect_refused(stripe("t=" + stamp + ",v0=" + v1), 401, "signature_mismatch");
  expect_refused(stripe("t=" + stamp), 401, "signature_mismatch");
  expect_refused(stripe("v1=" + v1), 400, "malformed");
  expect_refused(stripe("t=" + stamp + "x,v1=" + v1), 400, "malformed");
}

TEST_F(IngestRefuse, RepeatedHeadersMustAgree) {
  const std::string stamp = unix_text(clock_.wall());
  HttpRequest request = stripe("t=" + stamp + ",v1=" + stripe_v1(stamp));
  request.headers.add("stripe-signature", "t=" + stamp + ",v1=" + std::string(64, '0'));
  expect_refused(std::move(request), 400, "malformed");
  request = stripe("t=" + stamp + ",v1=" + stripe_v1(stamp));
  request.headers.add("stripe-signature", std::string(*request.headers.first("Stripe-Signature")));
  EXPECT_EQ(header_of(send(std::move(request)), "Hookonce-Status"), "accepted");
}

TEST_F(IngestRefuse, ABodyThatHoldsTheKeyMustBeReadable) {
  for (const std::string& body :
       {std::string("not json"), std::string(R"({"id":"evt_1")"), std::string("\xEF\xBB\xBF{}"),
        std::string("{\"id\":\"evt_1\",\"x\":\"\xff\"}"), std::string()}) {
    SCOPED_TRACE(body);
    const std::string stamp = unix_text(clock_.wall());
    expect_refused(stripe("t=" + stamp + ",v1=" + stripe_v1(stamp, body), body), 400, "malformed");
  }
  expect_refused(slack("command=%zz", kForm), 400, "malformed");
  expect_refused(slack("text=neither", kForm), 400, "malformed");
  expect_refused(slack("payload=notjson", kForm), 400, "malformed");
}

TEST_F(IngestRefuse, AnUnreadableBodyGoesBeforeAMissingKey) {
  const std::string stamp = unix_text(clock_.wall());
  HttpRequest request = stripe("t=" + stamp + ",v1=" + stripe_v1(stamp, "["), "[");
  request.path = "/in/strict";
  expect_refused(std::move(request), 400, "malformed");
}

TEST_F(IngestRefuse, WhereTheKeyIsInAHeaderAnyVerifiedBodyIsAccepted) {
  int id = 0;
  for (const std::string& body :
       {std::string(), std::string("not json"), std::string("\x1f\x8b\x08\x00\xff\x00gzip", 10)}) {
    const HttpResponse answer =
        send(github("github", {{"X-GitHub-Delivery", std::to_string(++id)}, {"X-GitHub-Event", "push"}}, body));
    ASSERT_EQ(header_of(answer, "Hookonce-Status"), "accepted");
    EXPECT_EQ(event(header_of(answer, "Hookonce-Event")).body, body);
  }
}

TEST_F(IngestRefuse, AMissingKeyIs422WhereTheSourceSaysReject) {
  const std::string body = R"({"type":"t"})";
  const std::string stamp = unix_text(clock_.wall());
  HttpRequest request = stripe("t=" + stamp + ",v1=" + stripe_v1(stamp, body), body);
  request.path = "/in/strict";
  expect_refused(std::move(request), 422, "dedup_key_missing");
  expect_refused(github("strict_github", {{"X-GitHub-Event", "push"}}, "{}"), 422, "dedup_key_missing");
}

TEST_F(IngestRefuse, ASignedUrlVerificationIsAnsweredWithItsChallenge) {
  const HttpResponse answer = send(slack(R"({"type":"url_verification","token":"t","challenge":"c\"1"})"));
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(header_of(answer, "Hookonce-Status"), "handshake");
  EXPECT_EQ(header_of(answer, "Content-Type"), kJson);
  EXPECT_EQ(answer.body, R"({"challenge":"c\"1"})");
  EXPECT_FALSE(answer.headers.has("Hookonce-Event"));
  EXPECT_TRUE(events().empty());
}

TEST_F(IngestRefuse, AnUnsignedUrlVerificationIs401) {
  expect_refused(post("/in/slack", {{"Content-Type", kJson}}, R"({"type":"url_verification","challenge":"c"})"), 401,
                 "signature_missing");
}

TEST_F(IngestRefuse, AnUnsignedSslCheckIsAnsweredEmptyAndNothingElseInItCounts) {
  for (const char* body :
       {"ssl_check=1&token=t", "ssl_check=1&payload=%7B%22type%22%3A%22block_actions%22%7D&command=%2Fx"}) {
    const HttpResponse answer = send(post("/in/slack", {{"Content-Type", kForm}}, body));
    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(answer.body, "");
    EXPECT_EQ(header_of(answer, "Hookonce-Status"), "handshake");
    EXPECT_TRUE(events().empty());
  }
}

TEST_F(IngestRefuse, APathIsComparedByteForByteButForOneTrailingSlash) {
  const auto status_at = [&](const std::string& path) {
    HttpRequest request = signed_by("stripe", "stripe", kStripeSecret, {.id = "evt_1"});
    request.path = path;
    return send(std::move(request)).status;
  };
  EXPECT_EQ(status_at("/in/stripe"), 200);
  EXPECT_EQ(status_at("/in/stripe/"), 200);
  for (const char* path :
       {"/in/stripe//", "//in/stripe", "/IN/stripe", "/in/%73tripe", "/in/stripe/x", "/in", "/", ""}) {
    EXPECT_EQ(status_at(path), 404) << path;
  }
  HttpRequest request = signed_by("stripe", "stripe", kStripeSecret, {.id = "evt_1"});
  request.query = "any=thing";
  EXPECT_EQ(send(std::move(request)).status, 200);
}

TEST_F(IngestRefuse, ASourceAtTheRootAnswersAtTheRootAlone) {
  SourceConfig source = source_of("root", "none", {});
  source.path = "/";
  use(source);
  EXPECT_EQ(send(post("/", {}, "x")).status, 200);
  EXPECT_EQ(send(post("/in/root", {}, "x")).status, 404);
}

TEST_F(IngestRefuse, AnUnknownPathIs404BeforeItsBodyIsRead) {
  HttpRequest head = post("/nowhere", {}, "");
  const HeadDecision decision = ingest_.on_head(head);
  ASSERT_TRUE(decision.refuse);
  EXPECT_EQ(decision.refuse->status, 404);
  EXPECT_EQ(error_code(*decision.refuse), "no_such_source");
}

TEST_F(IngestRefuse, AnotherMethodIs405WithAllow) {
  for (const char* method : {"GET", "HEAD", "PUT", "DELETE", "PATCH", "OPTIONS", "post"}) {
    HttpRequest head = post("/in/stripe", {}, "");
    head.method = method;
    const HeadDecision decision = ingest_.on_head(head);
    ASSERT_TRUE(decision.refuse) << method;
    EXPECT_EQ(decision.refuse->status, 405) << method;
    EXPECT_EQ(header_of(*decision.refuse, "Allow"), "POST");
    EXPECT_EQ(error_code(*decision.refuse), "method_not_allowed");
  }
}

TEST_F(IngestRefuse, TheBodyLimitIsTheSources) {
  SourceConfig source = source_of("limited", "stripe", {kStripeSecret});
  source.max_body = 1234;
  use(config_of({source, source_of("github", "github", {kGithubSecret})}));
  EXPECT_EQ(ingest_.on_head(post("/in/limited", {}, "")).body_limit, 1234u);
  EXPECT_EQ(ingest_.on_head(post("/in/github", {}, "")).body_limit, 25 * kMiB);
}

TEST_F(IngestRefuse, TheMessageNamesTheSourceAndNeverTheExpectedSignature) {
  const std::string stamp = unix_text(clock_.wall());
  const HttpResponse answer = send(stripe("t=" + stamp + ",v1=" + std::string(64, '0')));
  EXPECT_EQ(answer.status, 401);
  EXPECT_NE(error_message(answer).find("source \"stripe\": "), std::string::npos);
  EXPECT_GT(error_message(answer).size(), std::string("source \"stripe\": ").size());
  EXPECT_EQ(answer.body.find(stripe_v1(stamp)), std::string::npos);
  EXPECT_EQ(answer.body.find(kStripeSecret), std::string::npos);
}

}  // namespace
}  // namespace hookonce
