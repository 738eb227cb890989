// Stripe: `Stripe-Signature: t=<unix seconds>,v1=<hex>[,v1=<hex>...][,v0=<hex>]`, HMAC-SHA256 over `t.body`.
//
// The key is the whole text of the secret, `whsec_` included. While a secret is rolled there is one v1 per secret, and
// a CLI listener signs with a secret of its own: any v1 by any secret counts. v0 is the scheme of test fixtures and
// never does.
#include <fmt/format.h>

#include <utility>

#include "base/bytes.h"
#include "core/dedup.h"
#include "provider/identity_reader.h"
#include "provider/key_ring.h"
#include "provider/provider.h"
#include "provider/refusal.h"
#include "provider/sample_text.h"
#include "provider/signed_header.h"
#include "provider/time_stamp.h"

namespace hookonce {
namespace {

constexpr std::string_view kSignatureHeader = "Stripe-Signature";
constexpr std::string_view kForm = "t=<unix seconds>,v1=<hex>";

struct Listed {
  std::string_view time_text;  // empty: none
  bool differing_times = false;
  std::vector<std::string_view> v1;
};

// Views into `value`. Schemes other than t and v1 are skipped, whatever they hold.
Listed read_list(std::string_view value) {
  Listed listed;
  for (std::string_view item : split(value, ',')) {
    item = trim(item);
    const std::size_t equals = item.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view scheme = item.substr(0, equals);
    const std::string_view text = item.substr(equals + 1);
    if (scheme == "v1") listed.v1.push_back(text);
    if (scheme != "t") continue;
    listed.differing_times |= !listed.time_text.empty() && listed.time_text != text;
    listed.time_text = text;
  }
  return listed;
}

// The keys of the provider's API stand beside the endpoint's secret in its dashboard; they sign nothing.
Status check_secrets(const std::vector<std::string>& secrets) {
  for (std::size_t i = 0; i < secrets.size(); ++i) {
    for (std::string_view prefix : {"sk_", "pk_", "rk_"}) {
      if (secrets[i].substr(0, prefix.size()) != prefix) continue;
      return invalid(
          fmt::format("secret {} is an API key ({}...), which signs no webhook; take the endpoint's signing secret, "
                      "which begins with whsec_",
                      i + 1, prefix));
    }
  }
  return {};
}

std::vector<FieldSpec> own_fields() {
  return {json_field("/id"),
          json_field("/type"),
          json_field("/data/object/customer"),
          json_field("/data/object/customer/id"),
          json_field("/data/object/id"),
          json_field("/related_object/id")};
}

std::string signature_header(const KeyRing& keys, std::string_view body, Time now) {
  const std::string time_text = unix_seconds(now);
  std::string value = fmt::format("t={}", time_text);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    value += fmt::format(",v1={}", keys.sign(i, {time_text, ".", body}, SignatureText::kHex));
  }
  return value;
}

class BoundStripe final : public BoundProvider {
 public:
  BoundStripe(KeyRing keys, const BindSettings& settings)
      : keys_(std::move(keys)), tolerance_(settings.tolerance), reader_(settings, own_fields(), BodyKind::kJson) {}

  Verification verify(const HttpRequest& request, Time now) const override {
    const SignedHeader header = signed_header(request.headers, kSignatureHeader);
    if (header.refusal) return *header.refusal;
    const Listed listed = read_list(header.value);
    const std::optional<Time> stamp = parse_unix_seconds(listed.time_text);
    if (!stamp || listed.differing_times) return refused_malformed(kSignatureHeader, kForm);

    Verification verification;
    if (listed.v1.empty()) {
      verification = refused(Reason::kNoSignatureWithExpectedScheme,
                             fmt::format("header {} holds no v1 signature; only v1 is accepted", kSignatureHeader));
    } else if (auto secret = keys_.match({listed.time_text, ".", request.body}, SignatureText::kHex, listed.v1)) {
      verification.secret = *secret;
      verification.signature_hash = signature_hash({header.value});
      if (auto refusal = time_stamp_refusal(*stamp, now, tolerance_)) verification = *refusal;
    } else {
      verification = refused_mismatch("if you use `stripe listen`, add the secret that it prints");
    }
    verification.provider_time = stamp;
    return verification;
  }

  Identity identify(const HttpRequest& request) const override {
    auto [identity, own] = reader_.read(request);
    if (!reader_.key_is_configured()) identity.key = key_of({own[0]});
    identity.type = own[1].value_or("");
    // Changes of one customer belong together; a thin event names its object only.
    if (!reader_.ordering_is_configured()) identity.ordering_key = first_of({own[2], own[3], own[4], own[5]});
    return std::move(identity);
  }

  std::optional<Headers> resign(const Headers& original, std::string_view body, Time now) const override {
    const auto name = arrived_name(original, kSignatureHeader);
    if (!name) return std::nullopt;
    return Headers{{*name, signature_header(keys_, body, now)}};
  }

 private:
  KeyRing keys_;
  Duration tolerance_;
  IdentityReader reader_;
};

std::string sample_body(std::string_view id, std::string_view type) {
  // Two blanks of indentation, as the provider sends it: whatever writes the body anew breaks the signature.
  return fmt::format(
      "{{\n  \"id\": {},\n  \"object\": \"event\",\n  \"api_version\": \"2026-08-27.basil\",\n  \"created\": {},\n"
      "  \"data\": {{\n    \"object\": {{\n      \"id\": \"in_sample\",\n      \"object\": \"invoice\",\n"
      "      \"customer\": \"cus_sample\",\n      \"amount_paid\": 2000,\n      \"currency\": \"usd\"\n    }}\n  }},\n"
      "  \"livemode\": false,\n  \"pending_webhooks\": 1,\n"
      "  \"request\": {{\n    \"id\": null,\n    \"idempotency_key\": null\n  }},\n  \"type\": {}\n}}",
      json_quoted(id), unix_seconds(sample_time(id)), json_quoted(type));
}

class Stripe final : public Provider {
 public:
  const ProviderTraits& traits() const override {
    static const ProviderTraits traits = [] {
      ProviderTraits t;
      t.name = "stripe";
      t.ack_deadline = std::chrono::seconds(2);
      t.tolerance = std::chrono::minutes(5);
      t.retry_horizon = std::chrono::hours(3 * 24);
      t.resigns = true;
      t.retries.signs_anew = true;
      t.retries.changes_body = true;  // pending_webhooks counts the endpoints that have not taken it yet
      return t;
    }();
    return traits;
  }

  Result<std::unique_ptr<const BoundProvider>> bind(const BindSettings& settings) const override {
    HK_TRY(check_secrets(settings.secrets));
    HK_ASSIGN(KeyRing keys, KeyRing::make(HmacKey::Algorithm::kSha256, settings.secrets));
    return std::unique_ptr<const BoundProvider>(std::make_unique<BoundStripe>(std::move(keys), settings));
  }

  std::string sample_id(std::string_view seed) const override { return "evt_1" + seeded_text(seed, 23); }

  Result<SampleMessage> sample(const SampleRequest& request, std::string_view secret, Time now) const override {
    HK_TRY(check_secrets({std::string(secret)}));
    HK_ASSIGN(KeyRing keys, KeyRing::make(HmacKey::Algorithm::kSha256, {std::string(secret)}));
    SampleMessage message;
    message.body = request.body.empty() ? sample_body(request.id, request.type.empty() ? "invoice.paid" : request.type)
                                        : request.body;
    message.headers.add("Content-Type", "application/json; charset=utf-8");
    message.headers.add("User-Agent", "Stripe/1.0 (+https://stripe.com/docs/webhooks)");
    message.headers.add(std::string(kSignatureHeader), signature_header(keys, message.body, now));
    return message;
  }

  std::optional<std::string> event_id(const HttpRequest& request) const override {
    static const FieldReader reader({json_field("/id")});
    return reader.read(request).values[0];
  }
};

}  // namespace

const Provider& stripe_provider() {
  static const Stripe provider;
  return provider;
}

}  // namespace hookonce
