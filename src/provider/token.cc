// Any sender that shows a static token: in a header of its own, or as the password of HTTP basic authentication.
//
// A token proves who sent, not what was sent: the body is not authenticated.
#include <fmt/format.h>

#include <utility>

#include "base/bytes.h"
#include "base/crypto.h"
#include "provider/plain_identity.h"
#include "provider/provider.h"
#include "provider/refusal.h"
#include "provider/sample_text.h"

namespace hookonce {
namespace {

constexpr std::string_view kBasicHeader = "Authorization";
constexpr std::string_view kBasicScheme = "Basic ";

// Digests have one length, so that comparing them tells nothing of the secret's.
std::string digest(std::string_view text) {
  const Sha256 bytes = sha256({text});
  return {bytes.begin(), bytes.end()};
}

// Exactly one of both is set.
struct Presented {
  std::string token;
  std::optional<Verification> refusal;
};

Verification missing(std::string_view what) {
  return refused(Reason::kMissingToken, fmt::format("{} is missing; send the token, and let no proxy remove it", what));
}

class BoundToken final : public BoundProvider {
 public:
  explicit BoundToken(const BindSettings& settings) : scheme_(*settings.token), identity_(settings) {
    for (const std::string& secret : settings.secrets) secrets_.push_back(digest(secret));
  }

  Verification verify(const HttpRequest& request, Time) const override {
    const Presented presented =
        scheme_.header.empty() ? basic_password(request.headers) : header_token(request.headers);
    if (presented.refusal) return *presented.refusal;
    const std::string candidate = digest(presented.token);
    std::optional<int> match;
    for (std::size_t i = 0; i < secrets_.size(); ++i) {
      if (equal_constant_time(secrets_[i], candidate) && !match) match = static_cast<int>(i);
    }
    if (!match)
      return refused(Reason::kTokenMismatch,
                     "the token is none of the configured secrets; compare it with the sender's");
    Verification verification;
    verification.secret = *match;
    return verification;
  }

  Identity identify(const HttpRequest& request) const override { return identity_.read(request); }

 private:
  Presented header_token(const Headers& headers) const {
    auto value = single_header(headers, scheme_.header);
    if (!value.ok()) return {"", refused_differing(scheme_.header)};
    if (!*value || (*value)->empty()) return {"", missing(fmt::format("header {}", scheme_.header))};
    return {std::move(**value), std::nullopt};
  }

  Presented basic_password(const Headers& headers) const {
    auto value = single_header(headers, kBasicHeader);
    if (!value.ok()) return {"", refused_differing(kBasicHeader)};
    const std::string_view text = *value ? std::string_view(**value) : std::string_view();
    if (!equals_ignore_case(text.substr(0, kBasicScheme.size()), kBasicScheme))
      return {"", missing("basic authentication")};
    const auto pair = from_base64(trim(text.substr(kBasicScheme.size())));
    const std::size_t colon = pair ? pair->find(':') : std::string::npos;
    if (colon == std::string::npos)
      return {"", refused_malformed(kBasicHeader, "Basic, a blank, and base64 of user:password")};
    if (!equal_constant_time(digest(pair->substr(0, colon)), digest(scheme_.basic_user))) {
      return {"", refused(Reason::kTokenMismatch, "basic authentication is for another user than token.basic_user")};
    }
    return {pair->substr(colon + 1), std::nullopt};
  }

  TokenScheme scheme_;
  std::vector<std::string> secrets_;  // digests
  PlainIdentity identity_;
};

class Token final : public Provider {
 public:
  const ProviderTraits& traits() const override {
    static const ProviderTraits traits = [] {
      ProviderTraits t;
      t.name = "token";
      t.ack_deadline = std::chrono::seconds(2);
      t.needs_token = true;
      t.takes_items = true;
      return t;
    }();
    return traits;
  }

  Result<std::unique_ptr<const BoundProvider>> bind(const BindSettings& settings) const override {
    if (!settings.token || settings.token->header.empty() == settings.token->basic_user.empty()) {
      return invalid("the table `token` is needed, with either `header` or `basic_user`");
    }
    if (settings.secrets.empty()) return invalid("at least one secret is needed");
    for (std::size_t i = 0; i < settings.secrets.size(); ++i) {
      if (settings.secrets[i].empty()) return invalid(fmt::format("secret {} is empty", i + 1));
    }
    return std::unique_ptr<const BoundProvider>(std::make_unique<BoundToken>(settings));
  }

  std::string sample_id(std::string_view seed) const override { return "evt_" + seeded_text(seed, 24); }

  Result<SampleMessage> sample(const SampleRequest&, std::string_view, Time) const override {
    return invalid("a token signs nothing; send such requests with any HTTP client");
  }

  std::optional<std::string> event_id(const HttpRequest&) const override { return std::nullopt; }
};

}  // namespace

const Provider& token_provider() {
  static const Token provider;
  return provider;
}

}  // namespace hookonce
