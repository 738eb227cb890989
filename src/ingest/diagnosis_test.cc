// What the operator is told about a rejected request beyond its sender: only what was proven.
#include "ingest/diagnosis.h"

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "base/crypto.h"
#include "test/support/ingest_fixture.h"

namespace hookonce {
namespace {

using std::chrono::seconds;

const std::string kStripe = "whsec_stripe";
const std::string kOther = "whsec_other";
const std::string kSlack = "slack-secret";
const std::string kGithub = "github-secret";
const std::string kStandard = "whsec_c3RhbmRhcmQtc2VjcmV0LW9mLTI0LWI=";
const std::string kShop = "shop-secret";

// As a shop system signs: base64 in a header of its own, over the body alone.
SourceConfig shop_source() {
  SourceConfig source = source_of("shop", "hmac", {kShop});
  HmacScheme scheme;
  scheme.header = "X-Shop-Hmac-Sha256";
  scheme.encoding = HmacScheme::Encoding::kBase64;
  scheme.signed_text = "{body}";
  source.hmac = scheme;
  return source;
}

class Diagnosis : public IngestFixture {
 protected:
  Diagnosis() {
    use(config_of({source_of("stripe", "stripe", {kStripe}), source_of("stripe-eu", "stripe", {kOther}),
                   source_of("slack", "slack", {kSlack}), source_of("github", "github", {kGithub}),
                   source_of("standard", "standard_webhooks", {kStandard}), shop_source(),
                   source_of("open", "none", {})}));
  }
  void keep(RejectedRequest request) override { kept_.push_back(std::move(request)); }
  void explained(const std::string& source, const std::string& reason) override {
    explained_.push_back(source + ": " + reason);
  }

  HttpRequest shop(const std::string& body) const {
    const HmacKey key = HmacKey::make(HmacKey::Algorithm::kSha256, kShop);
    return post("/in/shop", {{"X-Shop-Hmac-Sha256", to_base64(key.sign({body}))}}, body);
  }
  HttpRequest of(const std::string& source, const std::string& body = "") const {
    if (source == "stripe") return signed_by("stripe", source, kStripe, {.id = "evt_1", .body = body});
    if (source == "slack") return signed_by("slack", source, kSlack, {.id = "Ev1", .body = body});
    if (source == "github") return signed_by("github", source, kGithub, {.id = "d-1", .body = body});
    if (source == "standard") return signed_by("standard_webhooks", source, kStandard, {.id = "msg_1", .body = body});
    return shop(body);
  }
  // What is said of `request`, which the gateway must refuse.
  std::optional<std::string> said_of(HttpRequest request) {
    const std::string body = request.body;
    const HttpResponse answer = send(std::move(request));
    EXPECT_GE(answer.status, 400) << body;
    told_ = error_message(answer);
    EXPECT_FALSE(kept_.empty());
    if (kept_.empty()) return std::nullopt;
    EXPECT_EQ(kept_.back().reason, told_) << "the sender is told what is kept until it is looked at";
    return ingest_.explain(kept_.back());
  }

  std::vector<RejectedRequest> kept_;
  std::vector<std::string> explained_;
  std::string told_;
};

constexpr const char* kAll[] = {"stripe", "slack", "github", "standard", "shop"};
constexpr const char* kSent = R"({"id": "evt_1", "event_id": "Ev1", "name": "Zo\u00eb"})";
constexpr const char* kRewritten = R"({"id":"evt_1","event_id":"Ev1","name":"Zoë"})";

TEST_F(Diagnosis, ABodyThatWasWrittenAnewIsSaidToBeChangedAfterSigning) {
  for (const std::string source : kAll) {
    HttpRequest request = of(source, kSent);
    request.body = kRewritten;
    const auto said = said_of(std::move(request));
    ASSERT_TRUE(said) << source;
    EXPECT_TRUE(said->starts_with("source \"" + source +
                                  "\": the body was changed after signing: the signature fits "
                                  "the same JSON with a blank behind each comma and colon, with \\u escapes"))
        << *said;
    EXPECT_EQ(told_.find("changed"), std::string::npos) << "the sender learns nothing";
  }
}

TEST_F(Diagnosis, ABodyThatSaysSomethingElseIsNotSaidToBeWrittenAnew) {
  for (const std::string source : kAll) {
    HttpRequest request = of(source, kSent);
    request.body = R"({"id":"evt_2","event_id":"Ev1","name":"Zoë"})";
    EXPECT_EQ(said_of(std::move(request)), std::nullopt) << source;
  }
}

TEST_F(Diagnosis, AWrongSecretIsNotSaidToBeAChangedBody) {
  EXPECT_EQ(said_of(signed_by("stripe", "stripe", "whsec_nobody", {.id = "evt_1"})), std::nullopt);
  EXPECT_EQ(said_of(signed_by("slack", "slack", "nobody", {.id = "Ev1"})), std::nullopt);
  EXPECT_EQ(said_of(signed_by("github", "github", "nobody", {.id = "d-1"})), std::nullopt);
}

TEST_F(Diagnosis, AChangedBodyWithAStaleTimeStampIsStillOne) {
  HttpRequest request = of("stripe", kSent);
  request.body = kRewritten;
  clock_.advance(seconds(3600));
  request.wall_at = clock_.wall();
  const auto said = said_of(std::move(request));
  ASSERT_TRUE(said);
  EXPECT_NE(said->find("changed after signing"), std::string::npos) << *said;
}

TEST_F(Diagnosis, AnotherSourcesSecretIsNamedByThatSource) {
  const auto said = said_of(signed_by("stripe", "stripe", kOther, {.id = "evt_1"}));
  ASSERT_TRUE(said);
  EXPECT_NE(said->find("it verifies with the secret of source \"stripe-eu\""), std::string::npos) << *said;
  EXPECT_NE(said->find("/in/stripe-eu"), std::string::npos) << *said;
  for (const std::string& secret : {kStripe, kOther, std::string("v1=")})
    EXPECT_EQ(said->find(secret), std::string::npos) << *said;
  EXPECT_EQ(told_.find("stripe-eu"), std::string::npos) << "the sender learns nothing";
}

TEST_F(Diagnosis, AnotherProvidersRequestIsNamedByItsSource) {
  HttpRequest request = of("slack");
  request.path = "/in/stripe";
  const auto said = said_of(std::move(request));
  ASSERT_TRUE(said);
  EXPECT_NE(said->find("\"slack\""), std::string::npos) << *said;
}

TEST_F(Diagnosis, ASourceWithoutSecretsVouchesForNothing) {
  use(config_of({source_of("stripe", "stripe", {kStripe}), source_of("open", "none", {})}));
  EXPECT_EQ(said_of(signed_by("stripe", "stripe", "whsec_nobody", {.id = "evt_1"})), std::nullopt);
}

TEST_F(Diagnosis, NothingIsSaidOfWhatWouldBeAcceptedNow) {
  const auto request = signed_by("stripe", "stripe", "whsec_new", {.id = "evt_1"});
  EXPECT_EQ(send(post(request.path, request.headers, request.body)).status, 401);
  use(source_of("stripe", "stripe", {"whsec_new"}));
  EXPECT_EQ(ingest_.explain(kept_.at(0)), std::nullopt);
  use(source_of("other", "stripe", {"whsec_new"}));
  EXPECT_EQ(ingest_.explain(kept_.at(0)), std::nullopt) << "its source is gone";
}

TEST_F(Diagnosis, ASecretThatWasPutInMistakenlyIsNamedByItsMend) {
  const std::pair<std::string, std::string> mistakes[] = {
      {"\"" + kStripe + "\"", "without the quotes"}, {"'" + kStripe + "'", "without the quotes"},
      {" " + kStripe + "\n", "without the blanks"},  {to_base64(kStripe), "decoded as base64"},
      {to_hex(kStripe), "decoded as hexadecimal"},
  };
  for (const auto& [configured, mend] : mistakes) {
    use(source_of("stripe", "stripe", {"whsec_old", configured}));
    const auto said = said_of(signed_by("stripe", "stripe", kStripe, {.id = "evt_1"}));
    ASSERT_TRUE(said) << configured;
    EXPECT_NE(said->find("it verifies with a configured secret " + mend), std::string::npos) << *said;
    EXPECT_EQ(said->find(kStripe), std::string::npos) << *said;
    EXPECT_EQ(said_of(signed_by("stripe", "stripe", "whsec_nobody", {.id = "evt_1"})), std::nullopt);
  }
  SourceConfig pass = source_of("pass", "token", {"\"right\""});
  pass.token = TokenScheme{"X-Pass", ""};
  use(pass);
  const auto said = said_of(post("/in/pass", {{"X-Pass", "right"}}, "{}"));
  ASSERT_TRUE(said);
  EXPECT_NE(said->find("without the quotes"), std::string::npos) << *said;
}

TEST_F(Diagnosis, AnEmptyBodyIsPointedOut) {
  HttpRequest request = of("github", kSent);
  request.body.clear();
  const auto said = said_of(std::move(request));
  ASSERT_TRUE(said);
  EXPECT_NE(said->find("the body arrived empty"), std::string::npos) << *said;
}

TEST_F(Diagnosis, TheClockIsNamedWithItsDistance) {
  SourceConfig source = source_of("clocks-1", "stripe", {kStripe});
  use(source);
  HttpRequest request = signed_by("stripe", "clocks-1", kStripe, {.id = "evt_1"});
  request.wall_at -= seconds(412);
  const auto said = said_of(std::move(request));
  ASSERT_TRUE(said);
  EXPECT_NE(said->find("this machine's clock is 412 s behind its time stamp"), std::string::npos) << *said;
  EXPECT_NE(said->find("check the clock"), std::string::npos) << *said;
}

TEST_F(Diagnosis, OtherTimeStampsOfTheSourceSayWhoseFaultItIs) {
  use(source_of("clocks-2", "stripe", {kStripe}));
  for (int i = 0; i < 5; ++i) send(signed_by("stripe", "clocks-2", kStripe, {.id = "evt_" + std::to_string(i)}));
  HttpRequest late = signed_by("stripe", "clocks-2", kStripe, {.id = "evt_9"});
  late.wall_at += seconds(1000);
  auto said = said_of(std::move(late));
  ASSERT_TRUE(said);
  EXPECT_NE(said->find("1000 s ahead of its time stamp"), std::string::npos) << *said;
  EXPECT_NE(said->find("held back on the way"), std::string::npos) << *said;

  use(source_of("clocks-3", "stripe", {kStripe}));
  for (int i = 0; i < 5; ++i) {
    HttpRequest early = signed_by("stripe", "clocks-3", kStripe, {.id = "evt_" + std::to_string(i)});
    early.wall_at -= seconds(412);
    said = said_of(std::move(early));
  }
  ASSERT_TRUE(said);
  EXPECT_NE(said->find("probably this machine's clock is wrong"), std::string::npos) << *said;
}

TEST_F(Diagnosis, WhatIsFoundIsToldToWhoeverWatchesAndAFloodOfItIsNot) {
  for (int i = 0; i < 100; ++i) said_of(signed_by("stripe", "stripe", kOther, {.id = "evt_" + std::to_string(i)}));
  EXPECT_EQ(explained_.size(), LineLimit::kBurst);
  EXPECT_TRUE(explained_.at(0).starts_with("stripe: it verifies with the secret of")) << explained_.at(0);
  said_of(signed_by("stripe", "stripe", "whsec_nobody", {.id = "evt_1"}));
  EXPECT_EQ(explained_.size(), LineLimit::kBurst);
}

TEST_F(Diagnosis, ALargeBodyIsNotLookedAt) {
  HttpRequest request = of("github", kSent);
  request.body = std::string(kDiagnosisBytesMax, ' ') + kSent;
  EXPECT_EQ(said_of(std::move(request)), std::nullopt);
}

}  // namespace
}  // namespace hookonce
