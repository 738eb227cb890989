#include "provider/registry.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "core/dedup.h"
#include "test/support/asserts.h"

namespace hookonce {
namespace {

const Time kNow = Time(std::chrono::seconds(1790000000));
constexpr std::string_view kSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";  // of every provider's form

HttpRequest request_of(const SampleMessage& message) {
  HttpRequest request;
  request.method = "POST";
  request.headers = message.headers;
  request.body = message.body;
  return request;
}

BindSettings settings_of(const Provider& provider) {
  BindSettings settings;
  settings.secrets = {std::string(kSecret)};
  settings.tolerance = provider.traits().tolerance;
  settings.hmac = HmacScheme{};
  settings.hmac->header = "X-Signature";
  settings.token = TokenScheme{"X-Token", ""};
  return settings;
}

TEST(Registry, IsSortedByNameAndHasNoNameTwice) {
  const auto traits = all_provider_traits();
  ASSERT_EQ(traits.size(), all_providers().size());
  EXPECT_TRUE(
      std::is_sorted(traits.begin(), traits.end(), [](const auto& a, const auto& b) { return a.name < b.name; }));
  for (std::size_t i = 1; i < traits.size(); ++i) EXPECT_NE(traits[i - 1].name, traits[i].name);
}

TEST(Registry, FindsByNameAndAlias) {
  for (const Provider* provider : all_providers()) {
    EXPECT_EQ(find_provider(provider->traits().name), provider);
    if (!provider->traits().alias.empty()) {
      EXPECT_EQ(find_provider(provider->traits().alias), provider);
    }
  }
  EXPECT_EQ(find_provider("svix"), find_provider("standard_webhooks"));
  EXPECT_EQ(find_provider(""), nullptr);
  EXPECT_EQ(find_provider("Stripe"), nullptr);
}

TEST(Registry, DeadlinesAndLimitsAreTheContracts) {
  for (const ProviderTraits& traits : all_provider_traits()) {
    const bool waits_long = traits.name == "github";
    EXPECT_EQ(traits.ack_deadline, waits_long ? std::chrono::seconds(8) : std::chrono::seconds(2)) << traits.name;
    EXPECT_EQ(traits.max_body, (waits_long ? 25 : 4) * kMiB) << traits.name;
    EXPECT_EQ(traits.retries.by_itself, !waits_long) << traits.name;
  }
}

TEST(Registry, UnknownProviderOfASourceIsNamed) {
  SourceConfig source;
  source.provider = "acme";
  EXPECT_NE(check_source_secrets(source).message().find("acme"), std::string::npos);
}

TEST(Registry, RefusedSecretIsNamedByPositionAndNeverShown) {
  SourceConfig source;
  source.provider = "standard_webhooks";
  source.secrets = {std::string(kSecret), "whsec_!!!!"};
  const Status status = check_source_secrets(source);
  EXPECT_EQ(status.code(), Code::kInvalid);
  EXPECT_NE(status.message().find("secret 2"), std::string::npos) << status.message();
  EXPECT_EQ(status.message().find("!!!!"), std::string::npos) << status.message();
}

// The rows of docs/configuration.md's table of default dedup keys: cells without blanks around them.
std::vector<std::vector<std::string>> documented_keys() {
  std::ifstream file(std::string(HOOKONCE_SOURCE_DIR) + "/docs/configuration.md");
  std::vector<std::vector<std::string>> rows;
  std::string line;
  while (std::getline(file, line) && line.rfind("| provider | requests | default dedup key |", 0) != 0) continue;
  std::getline(file, line);  // the rule below the heads
  while (std::getline(file, line) && line.rfind("| ", 0) == 0) {
    std::vector<std::string> cells;
    for (const std::string_view cell : split(std::string_view(line).substr(1, line.size() - 2), '|'))
      cells.emplace_back(trim(cell));
    rows.push_back(std::move(cells));
  }
  return rows;
}

std::string unquoted(std::string_view cell) {
  return std::string(cell.substr(1, cell.find('`', 1) - 1));
}

TEST(Registry, DefaultDedupKeysAreWhereTheDocumentationSays) {
  std::map<std::string, int> judged;
  for (const auto& cells : documented_keys()) {
    ASSERT_EQ(cells.size(), 4u);
    const std::string name = unquoted(cells[0]);
    const Provider* provider = find_provider(name);
    ASSERT_NE(provider, nullptr) << name;
    SampleRequest wanted;
    wanted.id = provider->sample_id("seed");
    wanted.signature_header = "X-Signature";
    if (cells[1] == "slash commands") wanted.type = "slash_command:/x";
    HttpRequest request;
    if (auto sample = provider->sample(wanted, kSecret, kNow); sample.ok()) request = request_of(*sample);
    BindSettings settings = settings_of(*provider);
    const Identity by_default = (*provider->bind(settings))->identify(request);
    if (cells[2] == "none") {
      EXPECT_EQ(by_default.key, std::nullopt) << name;
    } else if (const auto place = FieldSpec::parse(unquoted(cells[2])); place.ok()) {
      settings.dedup_key = {*place};
      const Identity by_place = (*provider->bind(settings))->identify(request);
      ASSERT_TRUE(by_default.key && by_place.key) << name;
      const std::string before = cells[3] == "as it stands there" ? "" : unquoted(cells[3]);
      EXPECT_EQ(key_text(*by_default.key), before + key_text(*by_place.key)) << name;
    } else {
      continue;  // in the form's payload, which no place names
    }
    ++judged[name];
  }
  for (const ProviderTraits& traits : all_provider_traits()) {
    EXPECT_GE(judged[std::string(traits.name)], traits.name == "slack" ? 2 : 1) << traits.name << " has no row";
  }
}

// Samples are what `send` and the demo show to other people's endpoints, so they must pass the provider's own
// verification.
TEST(Samples, VerifyAndCarryTheirIdAndType) {
  for (const Provider* provider : all_providers()) {
    SampleRequest wanted;
    wanted.id = provider->sample_id("seed");
    wanted.signature_header = "X-Signature";
    auto sample = provider->sample(wanted, kSecret, kNow);
    if (!sample.ok()) {
      EXPECT_TRUE(provider->traits().needs_token || !provider->traits().needs_secret) << provider->traits().name;
      continue;
    }
    const HttpRequest request = request_of(*sample);
    auto bound = provider->bind(settings_of(*provider));
    ASSERT_OK(bound);
    EXPECT_EQ((*bound)->verify(request, kNow).reason, Reason::kOk) << provider->traits().name;
    const Identity identity = (*bound)->identify(request);
    EXPECT_OK(identity.body);
    EXPECT_FALSE(identity.type.empty()) << provider->traits().name;
    EXPECT_FALSE(identity.retry.has_value()) << provider->traits().name;
    if (!provider->traits().needs_hmac) {
      EXPECT_EQ(identity.key, std::vector<std::string>{wanted.id}) << provider->traits().name;
      EXPECT_EQ(provider->event_id(request), wanted.id) << provider->traits().name;
    }
  }
}

TEST(Samples, ACopySentLaterHasTheSameBytesAndASignatureOfItsOwn) {
  for (const Provider* provider : all_providers()) {
    SampleRequest wanted;
    wanted.id = provider->sample_id("seed");
    wanted.signature_header = "X-Signature";
    const Time later = kNow + std::chrono::seconds(90);
    auto first = provider->sample(wanted, kSecret, kNow);
    if (!first.ok()) continue;
    auto second = provider->sample(wanted, kSecret, later);
    ASSERT_OK(second);
    EXPECT_EQ(first->body, second->body) << provider->traits().name;

    auto bound = provider->bind(settings_of(*provider));
    ASSERT_OK(bound);
    const auto hash = [&](const SampleMessage& message, Time at) {
      return (*bound)->verify(request_of(message), at).signature_hash;
    };
    const bool stamped = (*bound)->verify(request_of(*first), kNow).provider_time.has_value();
    EXPECT_EQ(hash(*first, kNow), hash(*first, later)) << provider->traits().name;
    EXPECT_EQ(hash(*first, kNow) != hash(*second, later), stamped) << provider->traits().name;
    EXPECT_EQ(hash(*first, kNow) != KeyHash{}, stamped) << provider->traits().name;
  }
}

TEST(Samples, TakeTheGivenTypeAndBody) {
  for (const Provider* provider : all_providers()) {
    SampleRequest wanted;
    wanted.id = "id-1";
    wanted.type = "issues.opened";
    wanted.signature_header = "X-Signature";
    auto typed = provider->sample(wanted, kSecret, kNow);
    if (!typed.ok()) continue;
    auto bound = provider->bind(settings_of(*provider));
    ASSERT_OK(bound);
    EXPECT_EQ((*bound)->identify(request_of(*typed)).type, "issues.opened") << provider->traits().name;

    wanted.body = std::string("\0not json \xff", 11);
    auto given = provider->sample(wanted, kSecret, kNow);
    ASSERT_OK(given);
    EXPECT_EQ(given->body, wanted.body) << provider->traits().name;
    EXPECT_EQ((*bound)->verify(request_of(*given), kNow).reason, Reason::kOk) << provider->traits().name;
  }
}

TEST(Samples, EqualSeedsGiveEqualIdsAndOthersDoNot) {
  for (const Provider* provider : all_providers()) {
    EXPECT_EQ(provider->sample_id("a"), provider->sample_id("a"));
    EXPECT_NE(provider->sample_id("a"), provider->sample_id("b"));
  }
}

TEST(Secrets, AnApiKeyIsNoSigningSecretOfStripe) {
  const Provider* stripe = find_provider("stripe");
  for (const char* key : {"sk_live_value", "pk_test_value", "rk_live_value"}) {
    BindSettings settings = settings_of(*stripe);
    settings.secrets.push_back(key);
    for (const Status& status : {stripe->bind(settings).status(), stripe->sample({}, key, kNow).status()}) {
      EXPECT_EQ(status.code(), Code::kInvalid) << key;
      EXPECT_NE(status.message().find("whsec_"), std::string::npos) << "the mend";
      EXPECT_EQ(status.message().find("value"), std::string::npos) << "never the value";
    }
  }
}

TEST(Configured, KeyReplacesTheDefaultAndUnreadableBodyMattersOnlyWhereTheKeyLiesInIt) {
  const Provider* stripe = find_provider("stripe");
  BindSettings settings = settings_of(*stripe);
  settings.dedup_key = {*FieldSpec::parse("header:X-Id"), *FieldSpec::parse("query:n")};
  settings.dedup_also = {*FieldSpec::parse("json:/other"), *FieldSpec::parse("json:/none")};
  settings.ordering_key = *FieldSpec::parse("json:/account");
  auto bound = stripe->bind(settings);
  ASSERT_OK(bound);

  HttpRequest request;
  request.headers = {{"X-Id", "a"}};
  request.query = "n=1";
  request.body = R"({"id":"evt_1","type":"t","other":7,"account":"acct_1"})";
  Identity identity = (*bound)->identify(request);
  EXPECT_EQ(identity.key, (std::vector<std::string>{"a", "1"}));
  EXPECT_EQ(identity.also, (std::vector<std::optional<std::string>>{"7", std::nullopt}));
  EXPECT_EQ(identity.ordering_key, "acct_1");
  EXPECT_EQ(identity.type, "t");

  request.body = "not json";
  identity = (*bound)->identify(request);
  EXPECT_OK(identity.body);
  EXPECT_TRUE(identity.key.has_value());

  request.query.clear();
  EXPECT_FALSE((*bound)->identify(request).key.has_value()) << "one part of the key is missing";
}

TEST(Configured, CompressedFormIsMalformedWhereTheKeyLiesInIt) {
  const Provider* none = find_provider("none");
  BindSettings settings;
  settings.dedup_key = {*FieldSpec::parse("form:id")};
  auto bound = none->bind(settings);
  ASSERT_OK(bound);
  HttpRequest request;
  request.headers = {{"Content-Encoding", "gzip"}};
  request.body = "\x1f\x8b\x08 looks like a form without the field";
  EXPECT_EQ((*bound)->identify(request).body.code(), Code::kInvalid);
}

TEST(Configured, HmacSchemeThatLeavesTheBodyUnsignedIsRefused) {
  const Provider* hmac = find_provider("hmac");
  BindSettings settings = settings_of(*hmac);
  for (const char* text :
       {"", "{timestamp}", "{body}{body}", "{body", "{bodys}", "{timestamp}.{body}", "{id}.{body}"}) {
    settings.hmac->signed_text = text;
    EXPECT_EQ(hmac->bind(settings).code(), Code::kInvalid) << text;
  }
  settings.hmac->timestamp = *FieldSpec::parse("header:X-Time");
  settings.dedup_key = {*FieldSpec::parse("json:/id")};
  settings.hmac->signed_text = "v1:{id}:{timestamp}:{body}:";
  EXPECT_OK(hmac->bind(settings).status());
}

}  // namespace
}  // namespace hookonce
