// Standard Webhooks: an id, a time stamp and a list of signatures over `id.timestamp.body`, in headers `webhook-*` or
// `svix-*`.
//
// `v1,<base64>` is HMAC-SHA256 by a `whsec_` secret, `v1a,<base64>` Ed25519 by the private half of a `whpk_` key. Any
// listed signature by any key counts. The id is signed and stays the same on retries: it is the dedup key.
#include <fmt/format.h>

#include <array>
#include <utility>

#include "base/bytes.h"
#include "base/crypto.h"
#include "core/dedup.h"
#include "provider/identity_reader.h"
#include "provider/provider.h"
#include "provider/refusal.h"
#include "provider/sample_text.h"
#include "provider/signed_header.h"
#include "provider/standard_webhooks_signer.h"
#include "provider/time_stamp.h"

namespace hookonce {
namespace {

constexpr std::string_view kPublicPrefix = "whpk_";
constexpr std::size_t kPublicKeyBytes = 32;  // Ed25519

struct Family {
  std::string_view id;
  std::string_view timestamp;
  std::string_view signature;
};
constexpr std::array kFamilies = {
    Family{"webhook-id", "webhook-timestamp", "webhook-signature"},
    Family{"svix-id", "svix-timestamp", "svix-signature"},
};

bool has_value(const Headers& headers, std::string_view name) {
  for (std::string_view value : headers.all(name)) {
    if (!value.empty()) return true;
  }
  return false;
}

bool is_complete(const Headers& headers, const Family& family) {
  return has_value(headers, family.id) && has_value(headers, family.timestamp) && has_value(headers, family.signature);
}

// The first complete family. Where none is, the one that has anything of its own, so that the message names what is
// missing of it.
const Family& family_of(const Headers& headers) {
  for (const Family& family : kFamilies) {
    if (is_complete(headers, family)) return family;
  }
  for (const Family& family : kFamilies) {
    if (headers.has(family.id) || headers.has(family.timestamp) || headers.has(family.signature)) return family;
  }
  return kFamilies.front();
}

// Views into the header's value.
struct Listed {
  bool readable = false;  // at least one entry is a version and a value
  std::vector<std::string_view> v1;
  std::vector<std::string_view> v1a;
};

Listed read_list(std::string_view value) {
  Listed listed;
  for (std::string_view entry : split(value, ' ')) {
    const std::size_t comma = entry.find(',');
    if (comma == std::string_view::npos || comma == 0) continue;
    listed.readable = true;
    const std::string_view version = entry.substr(0, comma);
    if (version == "v1") listed.v1.push_back(entry.substr(comma + 1));
    if (version == "v1a") listed.v1a.push_back(entry.substr(comma + 1));
  }
  return listed;
}

// One configured secret: exactly one of both is set.
struct Key {
  std::optional<HmacKey> symmetric;
  std::string public_key;
};

Result<Key> read_key(std::string_view secret) {
  if (secret.empty()) return invalid("is empty");
  Key key;
  if (secret.substr(0, kPublicPrefix.size()) == kPublicPrefix) {
    auto bytes = from_base64(secret.substr(kPublicPrefix.size()));
    if (!bytes || bytes->size() != kPublicKeyBytes) {
      return invalid("a `whpk_` key must be base64 of 32 bytes; copy it again, whole");
    }
    key.public_key = std::move(*bytes);
    return key;
  }
  HK_ASSIGN(std::string bytes, decode_standard_webhooks_secret(secret));
  key.symmetric = HmacKey::make(HmacKey::Algorithm::kSha256, bytes);
  return key;
}

class BoundStandardWebhooks final : public BoundProvider {
 public:
  BoundStandardWebhooks(std::vector<Key> keys, StandardWebhooksSigner signer, const BindSettings& settings)
      : keys_(std::move(keys)),
        signer_(std::move(signer)),
        tolerance_(settings.tolerance),
        reader_(settings, {json_field("/type"), json_field("/data/id")}, BodyKind::kAnything) {}

  Verification verify(const HttpRequest& request, Time now) const override {
    const Family& family = family_of(request.headers);
    const SignedHeader id = signed_header(request.headers, family.id);
    if (id.refusal) return *id.refusal;
    const SignedHeader time = signed_header(request.headers, family.timestamp);
    if (time.refusal) return *time.refusal;
    const SignedHeader signatures = signed_header(request.headers, family.signature);
    if (signatures.refusal) return *signatures.refusal;
    const std::optional<Time> stamp = parse_unix_seconds(time.value);
    if (!stamp) return refused_malformed(family.timestamp, "unix seconds, digits only");
    const Listed listed = read_list(signatures.value);
    if (!listed.readable) return refused_malformed(family.signature, "v1,<base64> entries with a blank between them");

    Verification verification = verify_list(listed, {id.value, time.value, request.body});
    if (verification.reason == Reason::kOk) {
      verification.signature_hash = signature_hash({time.value, signatures.value});
      if (auto refusal = time_stamp_refusal(*stamp, now, tolerance_)) verification = *refusal;
    }
    verification.provider_time = stamp;
    return verification;
  }

  Identity identify(const HttpRequest& request) const override {
    auto [identity, own] = reader_.read(request);
    if (!reader_.key_is_configured()) {
      identity.key = key_of({signed_header(request.headers, family_of(request.headers).id).value});
    }
    identity.type = own[0].value_or("");
    if (!reader_.ordering_is_configured()) identity.ordering_key = own[1];
    return std::move(identity);
  }

  std::optional<Headers> resign(const Headers& original, std::string_view body, Time now) const override {
    const Family& verified = family_of(original);
    const std::string id = signed_header(original, verified.id).value;
    if (signer_.empty() || !is_complete(original, verified) || id.empty()) return std::nullopt;
    const std::string time_text = unix_seconds(now);
    const std::string signatures = signer_.signature(id, time_text, body);
    Headers fresh;
    for (const Family& family : kFamilies) {
      // A second family was not verified. With the same id it says the same, and is kept as fresh; another id is never
      // signed.
      if (!is_complete(original, family) || signed_header(original, family.id).value != id) continue;
      fresh.add(arrived_name(original, family.timestamp).value(), time_text);
      fresh.add(arrived_name(original, family.signature).value(), signatures);
    }
    return fresh;
  }

 private:
  struct Signed {
    std::string_view id;
    std::string_view timestamp;
    std::string_view body;
  };

  Verification verify_list(const Listed& listed, const Signed& content) const {
    bool any_of_scheme = false;
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      any_of_scheme |= !(keys_[i].symmetric ? listed.v1 : listed.v1a).empty();
      if (keys_[i].symmetric ? made_by_secret(*keys_[i].symmetric, listed, content)
                             : made_by_public_key(keys_[i].public_key, listed, content)) {
        Verification verification;
        verification.secret = static_cast<int>(i);
        return verification;
      }
    }
    if (any_of_scheme)
      return refused_mismatch("copy the endpoint's secret again; the id and the time stamp are signed too");
    return refused(
        Reason::kNoSignatureWithExpectedScheme,
        "no listed signature is of the configured secrets' kind; v1 needs a `whsec_` secret, v1a a `whpk_` key");
  }

  static bool made_by_secret(const HmacKey& key, const Listed& listed, const Signed& content) {
    if (listed.v1.empty()) return false;
    const std::string expected = to_base64(key.sign({content.id, ".", content.timestamp, ".", content.body}));
    bool equal = false;
    for (std::string_view candidate : listed.v1) equal |= equal_constant_time(expected, candidate);
    return equal;
  }

  static bool made_by_public_key(const std::string& key, const Listed& listed, const Signed& content) {
    // Far more than any rotation lists; checking one costs a hundred times an HMAC, and a forger may list thousands.
    constexpr std::size_t kCheckedMax = 16;
    if (listed.v1a.empty()) return false;
    const std::string message = fmt::format("{}.{}.{}", content.id, content.timestamp, content.body);
    for (std::size_t i = 0; i < listed.v1a.size() && i < kCheckedMax; ++i) {
      const auto signature = from_base64(listed.v1a[i]);
      if (signature && verify_ed25519(key, message, *signature)) return true;
    }
    return false;
  }

  std::vector<Key> keys_;
  StandardWebhooksSigner signer_;  // the symmetric secrets, in their order
  Duration tolerance_;
  IdentityReader reader_;
};

class StandardWebhooks final : public Provider {
 public:
  const ProviderTraits& traits() const override {
    static const ProviderTraits traits = [] {
      ProviderTraits t;
      t.name = "standard_webhooks";
      t.alias = "svix";
      t.ack_deadline = std::chrono::seconds(2);
      t.tolerance = std::chrono::minutes(5);
      t.retry_horizon = std::chrono::hours(76);  // the specification's example schedule ends after 75 h 35 min
      t.resigns = true;
      t.retries.signs_anew = true;
      // The specification's example, which its adopters follow at least to the seventh.
      t.retries.waits = {std::chrono::seconds(5), std::chrono::minutes(5), std::chrono::minutes(30),
                         std::chrono::hours(2),   std::chrono::hours(5),   std::chrono::hours(10),
                         std::chrono::hours(14),  std::chrono::hours(20),  std::chrono::hours(24)};
      t.carries_webhook_id = true;
      return t;
    }();
    return traits;
  }

  Result<std::unique_ptr<const BoundProvider>> bind(const BindSettings& settings) const override {
    if (settings.secrets.empty()) return invalid("at least one secret is needed");
    std::vector<Key> keys;
    std::vector<std::string> symmetric;
    for (std::size_t i = 0; i < settings.secrets.size(); ++i) {
      auto key = read_key(settings.secrets[i]);
      if (!key.ok()) return key.status().with_context(fmt::format("secret {}", i + 1));
      if (key->symmetric) symmetric.push_back(settings.secrets[i]);
      keys.push_back(std::move(*key));
    }
    HK_ASSIGN(StandardWebhooksSigner signer, StandardWebhooksSigner::make(symmetric));
    return std::unique_ptr<const BoundProvider>(
        std::make_unique<BoundStandardWebhooks>(std::move(keys), std::move(signer), settings));
  }

  std::string sample_id(std::string_view seed) const override { return "msg_" + seeded_text(seed, 27); }

  Result<SampleMessage> sample(const SampleRequest& request, std::string_view secret, Time now) const override {
    HK_ASSIGN(StandardWebhooksSigner signer, StandardWebhooksSigner::make({std::string(secret)}));
    SampleMessage message;
    message.body = request.body;
    if (message.body.empty()) {
      message.body = fmt::format(R"({{"type":{},"timestamp":"{}","data":{{"id":"sample","fullName":"Zoë 山田"}}}})",
                                 json_quoted(request.type.empty() ? "contact.created" : request.type),
                                 to_rfc3339(sample_time(request.id)));
    }
    const std::string time_text = unix_seconds(now);
    const Family& family = kFamilies.front();
    message.headers.add("Content-Type", "application/json");
    message.headers.add(std::string(family.id), request.id);
    message.headers.add(std::string(family.timestamp), time_text);
    message.headers.add(std::string(family.signature), signer.signature(request.id, time_text, message.body));
    return message;
  }

  std::optional<std::string> event_id(const HttpRequest& request) const override {
    const SignedHeader id = signed_header(request.headers, family_of(request.headers).id);
    if (id.refusal) return std::nullopt;
    return id.value;
  }
};

}  // namespace

std::optional<std::string> arrived_webhook_id(const Headers& original) {
  const Family& family = family_of(original);
  const SignedHeader id = signed_header(original, family.id);
  if (id.refusal || !is_complete(original, family)) return std::nullopt;
  return id.value;
}

const Provider& standard_webhooks_provider() {
  static const StandardWebhooks provider;
  return provider;
}

}  // namespace hookonce
