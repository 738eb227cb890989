// Every provider of the registry against its recorded requests in test/vectors/<name>.json.
//
// The test walks the registry, so that a provider without vectors, or without one of the cases that its scheme can
// have, fails it.
#include "provider/vector.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>

#include "provider/registry.h"
#include "test/support/asserts.h"

namespace hookonce {
namespace {

std::string read_file(std::string_view name) {
  std::ifstream file(std::string(HOOKONCE_SOURCE_DIR) + "/test/vectors/" + std::string(name) + ".json",
                     std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// The names under which a provider is configured; each has a file of its own.
std::vector<std::string_view> names_of(const Provider& provider) {
  std::vector<std::string_view> names = {provider.traits().name};
  if (!provider.traits().alias.empty()) names.push_back(provider.traits().alias);
  return names;
}

// The cases without which a provider's verification is not shown to work.
std::set<std::string> needed_cases(const ProviderTraits& traits) {
  std::set<std::string> cases = {"valid"};
  if (traits.needs_secret) {
    cases.insert({"wrong_secret", "one_byte_changed", "missing_header", "malformed_header", "rotated_secret"});
  }
  if (traits.tolerance > Duration::zero()) cases.insert({"stale", "future"});
  return cases;
}

std::vector<Vector> vectors_of(const Provider& provider) {
  std::vector<Vector> all;
  for (std::string_view name : names_of(provider)) {
    auto vectors = parse_vectors(read_file(name));
    EXPECT_OK(vectors);
    if (vectors.ok()) std::move(vectors->begin(), vectors->end(), std::back_inserter(all));
  }
  return all;
}

constexpr std::size_t kShortestSignature = 28;  // SHA-1 in base64

// The longest run of characters that hex and base64 are written with.
std::size_t longest_word(const std::string& text) {
  std::size_t longest = 0;
  std::size_t current = 0;
  for (const char c : text) {
    const bool inside = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '+' || c == '/' || c == '=';
    current = inside ? current + 1 : 0;
    longest = std::max(longest, current);
  }
  return longest;
}

class ProviderVectors : public ::testing::TestWithParam<const Provider*> {};

TEST_P(ProviderVectors, HaveEveryCaseThatTheSchemeCanHave) {
  for (std::string_view name : names_of(*GetParam())) {
    auto vectors = parse_vectors(read_file(name));
    ASSERT_OK(vectors);
    std::set<std::string> missing = needed_cases(GetParam()->traits());
    for (const Vector& vector : *vectors) {
      EXPECT_EQ(vector.provider, name) << vector.id;
      missing.erase(vector.test_case);
    }
    EXPECT_TRUE(missing.empty()) << name << ".json has no vector for the case " << *missing.begin();
  }
}

TEST_P(ProviderVectors, AreJudgedAsTheyExpect) {
  for (const Vector& vector : vectors_of(*GetParam())) {
    auto outcome = run_vector(vector);
    ASSERT_OK(outcome);
    const json::object actual = vector_json(vector.id, *outcome);
    EXPECT_TRUE(differences(vector, *outcome).empty())
        << to_json(actual) << " where expected " << to_json(vector.expect);
    // Here, unlike for a foreign file, a field that is expected to be absent must be.
    for (const auto& [name, expected] : vector.expect) {
      if (const json::value* value = actual.if_contains(name); value != nullptr && expected.is_null()) {
        EXPECT_TRUE(value->is_null()) << vector.id << ": " << name << " is " << to_json(*value);
      }
    }
    EXPECT_EQ(outcome->valid, outcome->message.empty()) << vector.id;
  }
}

TEST_P(ProviderVectors, RefusalsTellNoSecretAndNoSignature) {
  for (const Vector& vector : vectors_of(*GetParam())) {
    auto outcome = run_vector(vector);
    auto settings = vector_settings(*GetParam(), vector.config);
    ASSERT_OK(outcome);
    ASSERT_OK(settings);
    for (const std::string& secret : settings->secrets) {
      EXPECT_EQ(outcome->message.find(secret), std::string::npos) << vector.id;
    }
    EXPECT_LT(longest_word(outcome->message), kShortestSignature) << vector.id << ": " << outcome->message;
    EXPECT_LT(outcome->message.size(), 300u) << vector.id;
  }
}

TEST_P(ProviderVectors, WithoutTheirSecretAreRefused) {
  if (!GetParam()->traits().needs_secret) return;
  BindSettings settings;
  settings.tolerance = GetParam()->traits().tolerance;
  settings.hmac = HmacScheme{};
  settings.hmac->header = "X-Signature";
  settings.token = TokenScheme{"X-Token", ""};
  EXPECT_EQ(GetParam()->bind(settings).code(), Code::kInvalid) << "no secret at all";
  settings.secrets = {""};
  EXPECT_EQ(GetParam()->bind(settings).code(), Code::kInvalid) << "an empty secret";
}

TEST_P(ProviderVectors, AreResignedAsTheirSdkAccepts) {
  auto document = parse_json(read_file(GetParam()->traits().name));
  ASSERT_OK(document);
  const json::value* resigned = document->get_object().if_contains("resign");
  if (resigned == nullptr) return;
  for (const json::value& entry : resigned->get_array()) {
    BindSettings settings;
    settings.secrets = {json_string(entry, "secret").value()};
    settings.tolerance = GetParam()->traits().tolerance;
    auto bound = GetParam()->bind(settings);
    ASSERT_OK(bound);
    const json::value& original = entry.at("original");
    HttpRequest request;
    for (const auto& [name, value] : original.at("headers").get_object()) {
      request.headers.add(std::string(name), std::string(value.get_string()));
    }
    request.body = json_string(original, "body").value();
    const Time now = Time(std::chrono::seconds(json_int(entry, "delivered_at").value()));
    EXPECT_EQ((*bound)->verify(request, now).reason, Reason::kTimestampTooOld);

    const auto fresh = (*bound)->resign(request.headers, request.body, now);
    ASSERT_TRUE(fresh.has_value());
    for (const Header& header : fresh->items()) {
      EXPECT_TRUE(request.headers.has(header.name)) << header.name << " did not arrive";
      request.headers.set(header.name, header.value);
    }
    for (const auto& [name, value] : entry.at("resigned").at("headers").get_object()) {
      EXPECT_EQ(request.headers.first(std::string(name)), std::string(value.get_string())) << std::string(name);
    }
    EXPECT_EQ((*bound)->verify(request, now).reason, Reason::kOk);
  }
}

INSTANTIATE_TEST_SUITE_P(Registry, ProviderVectors, ::testing::ValuesIn(all_providers().begin(), all_providers().end()),
                         [](const auto& test) { return std::string(test.param->traits().name); });

TEST(Vector, FileOfAnotherFormIsRefusedByName) {
  EXPECT_EQ(parse_vectors("[]").code(), Code::kInvalid);
  auto vectors =
      parse_vectors(R"({"vectors":[{"id":"a","provider":"stripe","now":1,"request":{},"config":{},"expect":{}}]})");
  ASSERT_FALSE(vectors.ok());
  EXPECT_NE(vectors.status().message().find("vector a"), std::string::npos);
}

TEST(Vector, UnknownProviderIsNotFound) {
  Vector vector;
  vector.id = "x";
  vector.provider = "acme";
  EXPECT_EQ(run_vector(vector).code(), Code::kNotFound);
}

TEST(Vector, DifferenceIsNamed) {
  Vector vector;
  vector.expect = {{"valid", true}, {"event_id", "a"}, {"event_type", nullptr}};
  VectorOutcome outcome;
  outcome.valid = true;
  outcome.event_id = "b";
  outcome.event_type = "whatever";
  EXPECT_EQ(differences(vector, outcome), std::vector<std::string>{"event_id"});
}

}  // namespace
}  // namespace hookonce
