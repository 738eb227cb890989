// Any sender that signs with an HMAC: which header, algorithm and text is the source's configuration.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/bytes.h"
#include "core/dedup.h"
#include "provider/hmac_scheme.h"
#include "provider/key_ring.h"
#include "provider/plain_identity.h"
#include "provider/provider.h"
#include "provider/refusal.h"
#include "provider/sample_text.h"
#include "provider/signed_header.h"
#include "provider/time_stamp.h"

namespace hookonce {
namespace {

HmacKey::Algorithm key_algorithm(HmacScheme::Algorithm algorithm) {
  switch (algorithm) {
    case HmacScheme::Algorithm::kSha1:
      return HmacKey::Algorithm::kSha1;
    case HmacScheme::Algorithm::kSha256:
      return HmacKey::Algorithm::kSha256;
    case HmacScheme::Algorithm::kSha512:
      return HmacKey::Algorithm::kSha512;
  }
  HK_CHECK(false);
}

// Senders write seconds, milliseconds or RFC 3339. Read as seconds, the smallest number taken for milliseconds would
// lie in the year 5138.
std::optional<Time> read_time(std::string_view text) {
  constexpr std::int64_t kMillisecondsMin = 100'000'000'000;
  constexpr std::int64_t kMillisecondsMax = 1'000'000'000'000'000;  // beyond it a Time would overflow
  const auto number = parse_digits(text);
  if (number && *number >= kMillisecondsMin && *number <= kMillisecondsMax)
    return Time(std::chrono::milliseconds(*number));
  if (auto seconds = parse_unix_seconds(text)) return seconds;
  return parse_rfc3339(text);
}

class BoundHmac final : public BoundProvider {
 public:
  BoundHmac(KeyRing keys, SignedText signed_text, const BindSettings& settings)
      : keys_(std::move(keys)),
        signed_text_(std::move(signed_text)),
        scheme_(*settings.hmac),
        tolerance_(settings.tolerance),
        id_reader_(settings.dedup_key),
        identity_(settings) {}

  Verification verify(const HttpRequest& request, Time now) const override {
    const SignedHeader header = signed_header(request.headers, scheme_.header);
    if (header.refusal) return *header.refusal;
    SignedHeader time;
    std::optional<Time> stamp;
    if (scheme_.timestamp) {
      time = signed_header(request.headers, scheme_.timestamp->name);
      if (time.refusal) return *time.refusal;
      stamp = read_time(time.value);
      if (!stamp) return refused_malformed(scheme_.timestamp->name, "unix seconds, milliseconds, or RFC 3339");
    }
    const std::string_view value = header.value;
    if (value.substr(0, scheme_.prefix.size()) != scheme_.prefix) {
      return refused_malformed(scheme_.header, fmt::format("{}<signature>", scheme_.prefix));
    }
    std::string id;
    if (signed_text_.has_id()) {
      const auto found = id_reader_.read(request).values.at(0);
      if (!found)
        return refused(Reason::kMissingHeader,
                       fmt::format("the signed id is missing at {}", id_reader_.specs().at(0).text()));
      id = *found;
    }

    Verification verification = verify_signature(value.substr(scheme_.prefix.size()), {time.value, id}, request.body);
    if (verification.reason == Reason::kOk && stamp) {
      verification.signature_hash = signature_hash({time.value, value});
      if (auto refusal = time_stamp_refusal(*stamp, now, tolerance_)) verification = *refusal;
    }
    verification.provider_time = stamp;
    return verification;
  }

  Identity identify(const HttpRequest& request) const override { return identity_.read(request); }

 private:
  Verification verify_signature(std::string_view value, const SignedText::Values& values, std::string_view body) const {
    const bool hex = scheme_.encoding == HmacScheme::Encoding::kHex;
    const std::string candidate = hex ? to_lower(value) : std::string(value);
    const std::string_view listed[] = {candidate};
    const auto secret = keys_.match({signed_text_.before(values), body, signed_text_.after(values)},
                                    hex ? SignatureText::kHex : SignatureText::kBase64, listed);
    if (!secret) return refused_mismatch("compare secret, algorithm, encoding and signed text with the sender's");
    Verification verification;
    verification.secret = *secret;
    return verification;
  }

  KeyRing keys_;
  SignedText signed_text_;
  HmacScheme scheme_;
  Duration tolerance_;
  FieldReader id_reader_;
  PlainIdentity identity_;
};

class Hmac final : public Provider {
 public:
  const ProviderTraits& traits() const override {
    static const ProviderTraits traits = [] {
      ProviderTraits t;
      t.name = "hmac";
      t.ack_deadline = std::chrono::seconds(2);
      t.tolerance = std::chrono::minutes(5);  // where the scheme has a time stamp
      t.needs_hmac = true;
      t.takes_items = true;
      return t;
    }();
    return traits;
  }

  Result<std::unique_ptr<const BoundProvider>> bind(const BindSettings& settings) const override {
    if (!settings.hmac) return invalid("the table `hmac` is needed; it says which header holds the signature");
    const HmacScheme& scheme = *settings.hmac;
    if (scheme.header.empty()) return invalid("hmac.header is needed; it names the header with the signature");
    HK_ASSIGN(SignedText signed_text, SignedText::parse(scheme.signed_text));
    if (scheme.timestamp && scheme.timestamp->kind != FieldSpec::Kind::kHeader) {
      return invalid("hmac.timestamp must be a header, as in `header:X-Timestamp`");
    }
    if (signed_text.has_timestamp() && !scheme.timestamp) {
      return invalid("hmac.signed holds {timestamp}, and hmac.timestamp does not say where it is");
    }
    if (signed_text.has_id() && settings.items) {
      return invalid("hmac.signed holds {id}, and with `items` there is no one id; remove either");
    }
    if (signed_text.has_id() && settings.dedup_key.size() != 1) {
      return invalid("hmac.signed holds {id}, which is the one part of `dedup_key`; give `dedup_key` exactly one");
    }
    HK_ASSIGN(KeyRing keys, KeyRing::make(key_algorithm(scheme.algorithm), settings.secrets));
    return std::unique_ptr<const BoundProvider>(
        std::make_unique<BoundHmac>(std::move(keys), std::move(signed_text), settings));
  }

  std::string sample_id(std::string_view seed) const override { return "evt_" + seeded_text(seed, 24); }

  Result<SampleMessage> sample(const SampleRequest& request, std::string_view secret, Time) const override {
    if (request.signature_header.empty()) return invalid("give the header for the signature (--header NAME)");
    HK_ASSIGN(KeyRing keys, KeyRing::make(HmacKey::Algorithm::kSha256, {std::string(secret)}));
    SampleMessage message;
    message.body = request.body;
    if (message.body.empty()) {
      message.body = fmt::format(R"({{"id":{},"type":{},"note":"Zoë 北京"}})", json_quoted(request.id),
                                 json_quoted(request.type.empty() ? "sample" : request.type));
    }
    message.headers.add("Content-Type", "application/json");
    message.headers.add(request.signature_header, keys.sign(0, {message.body}, SignatureText::kHex));
    return message;
  }

  std::optional<std::string> event_id(const HttpRequest&) const override { return std::nullopt; }
};

}  // namespace

const Provider& hmac_provider() {
  static const Hmac provider;
  return provider;
}

}  // namespace hookonce
