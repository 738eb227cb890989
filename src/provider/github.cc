// GitHub: `X-Hub-Signature-256: sha256=<hex>`, HMAC-SHA256 over the body; the event id is the header X-GitHub-Delivery.
//
// The signature covers no time stamp and no header, so the delivery id is the only guard against replays, and any
// verified body is taken, JSON or not. The older X-Hub-Signature (SHA-1) does not count. GitHub never retries by
// itself.
#include <fmt/format.h>

#include <utility>

#include "base/bytes.h"
#include "provider/identity_reader.h"
#include "provider/key_ring.h"
#include "provider/provider.h"
#include "provider/refusal.h"
#include "provider/sample_text.h"
#include "provider/signed_header.h"

namespace hookonce {
namespace {

constexpr std::string_view kSignatureHeader = "X-Hub-Signature-256";
constexpr std::string_view kPrefix = "sha256=";
constexpr std::string_view kDeliveryHeader = "X-GitHub-Delivery";
constexpr std::string_view kEventHeader = "X-GitHub-Event";

enum Own : std::size_t { kDelivery, kEvent, kAction, kRepository, kInstallation, kOrganization };

std::vector<FieldSpec> json_own_fields() {
  return {header_field(kDeliveryHeader), header_field(kEventHeader),     json_field("/action"),
          json_field("/repository/id"),  json_field("/installation/id"), json_field("/organization/id")};
}

std::vector<FieldSpec> form_own_fields() {
  const auto payload = [](std::string_view pointer) { return form_json_field("payload", pointer); };
  return {header_field(kDeliveryHeader), header_field(kEventHeader),  payload("/action"),
          payload("/repository/id"),     payload("/installation/id"), payload("/organization/id")};
}

std::optional<std::string> ordering_of(const std::vector<std::optional<std::string>>& own) {
  if (own[kRepository]) return own[kRepository];
  if (own[kInstallation]) return "installation:" + *own[kInstallation];
  // A ping announces the hook and belongs to no order.
  if (own[kOrganization] && own[kEvent] != "ping") return "organization:" + *own[kOrganization];
  return std::nullopt;
}

std::string signature(const KeyRing& keys, std::string_view body) {
  return std::string(kPrefix) + keys.sign(0, {body}, SignatureText::kHex);
}

class BoundGithub final : public BoundProvider {
 public:
  BoundGithub(KeyRing keys, const BindSettings& settings)
      : keys_(std::move(keys)),
        json_reader_(settings, json_own_fields(), BodyKind::kAnything),
        form_reader_(settings, form_own_fields(), BodyKind::kAnything) {}

  Verification verify(const HttpRequest& request, Time) const override {
    const SignedHeader header = signed_header(request.headers, kSignatureHeader);
    if (header.refusal) return *header.refusal;
    const std::string_view value = header.value;
    if (!single_header(request.headers, kDeliveryHeader).ok()) return refused_differing(kDeliveryHeader);
    if (value.substr(0, kPrefix.size()) != kPrefix) {
      if (value.find('=') == std::string_view::npos) return refused_malformed(kSignatureHeader, "sha256=<hex>");
      return refused(Reason::kUnknownSignatureVersion,
                     fmt::format("header {} names another algorithm; only sha256 is accepted", kSignatureHeader));
    }
    const std::string_view listed[] = {value.substr(kPrefix.size())};
    const auto secret = keys_.match({request.body}, SignatureText::kHex, listed);
    if (!secret) return refused_mismatch("compare the secret with the hook's; it can be set anew there but not read");
    Verification verification;
    verification.secret = *secret;
    return verification;
  }

  Identity identify(const HttpRequest& request) const override {
    const IdentityReader& reader = body_kind(request) == BodyKind::kForm ? form_reader_ : json_reader_;
    auto [identity, own] = reader.read(request);
    if (!reader.key_is_configured()) identity.key = key_of({own[kDelivery]});
    identity.type = own[kEvent].value_or("");
    if (own[kEvent] && own[kAction]) identity.type += "." + *own[kAction];
    if (!reader.ordering_is_configured()) identity.ordering_key = ordering_of(own);
    return std::move(identity);
  }

 private:
  KeyRing keys_;
  IdentityReader json_reader_;
  IdentityReader form_reader_;
};

class Github final : public Provider {
 public:
  const ProviderTraits& traits() const override {
    static const ProviderTraits traits = [] {
      ProviderTraits t;
      t.name = "github";
      t.ack_deadline = std::chrono::seconds(8);  // 80 % of its 10 s, since nothing comes again by itself
      t.max_body = 25 * kMiB;
      t.retries.by_itself = false;
      return t;
    }();
    return traits;
  }

  Result<std::unique_ptr<const BoundProvider>> bind(const BindSettings& settings) const override {
    HK_ASSIGN(KeyRing keys, KeyRing::make(HmacKey::Algorithm::kSha256, settings.secrets));
    return std::unique_ptr<const BoundProvider>(std::make_unique<BoundGithub>(std::move(keys), settings));
  }

  std::string sample_id(std::string_view seed) const override {
    const std::string hex = sha256_hex(seed);
    return fmt::format("{}-{}-4{}-8{}-{}", hex.substr(0, 8), hex.substr(8, 4), hex.substr(12, 3), hex.substr(15, 3),
                       hex.substr(18, 12));
  }

  Result<SampleMessage> sample(const SampleRequest& request, std::string_view secret, Time) const override {
    HK_ASSIGN(KeyRing keys, KeyRing::make(HmacKey::Algorithm::kSha256, {std::string(secret)}));
    const std::string type = request.type.empty() ? "push" : request.type;
    const std::size_t dot = type.find('.');  // "issues.opened" is the event issues with that action
    SampleMessage message;
    message.body = request.body;
    if (message.body.empty()) {
      const std::string action =
          dot == std::string::npos ? "" : fmt::format(R"("action":{},)", json_quoted(type.substr(dot + 1)));
      message.body = fmt::format(
          R"({{{}"ref":"refs/heads/main","repository":{{"id":186853002,"full_name":"octo-example/Hello-World"}},)"
          R"("sender":{{"login":"octo-example"}}}})",
          action);
    }
    message.headers.add("Content-Type", "application/json");
    message.headers.add("User-Agent", "GitHub-Hookshot/sample");
    message.headers.add(std::string(kDeliveryHeader), request.id);
    message.headers.add(std::string(kEventHeader), type.substr(0, dot));
    message.headers.add(std::string(kSignatureHeader), signature(keys, message.body));
    return message;
  }

  std::optional<std::string> event_id(const HttpRequest& request) const override {
    static const FieldReader reader({header_field(kDeliveryHeader)});
    return reader.read(request).values[0];
  }
};

}  // namespace

const Provider& github_provider() {
  static const Github provider;
  return provider;
}

}  // namespace hookonce
