#include "provider/standard_webhooks_signer.h"

#include <fmt/format.h>

#include "base/bytes.h"

namespace hookonce {
namespace {

constexpr std::string_view kSecretPrefix = "whsec_";
constexpr std::string_view kPublicPrefix = "whpk_";
constexpr std::string_view kPrivatePrefix = "whsk_";
constexpr std::string_view kPastedPrefix = "v1,";

bool begins_with(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

}  // namespace

Result<std::string> decode_standard_webhooks_secret(std::string_view text) {
  if (begins_with(text, kPastedPrefix)) return invalid("a secret does not begin with `v1,`; remove that");
  if (begins_with(text, kPublicPrefix))
    return invalid("a `whpk_` key is public: it verifies and never signs; give a `whsec_` secret");
  if (begins_with(text, kPrivatePrefix)) return invalid("a `whsk_` key is the sender's own; give its `whpk_` key");
  const std::string_view base64 = begins_with(text, kSecretPrefix) ? text.substr(kSecretPrefix.size()) : text;
  auto key = from_base64(base64);
  // A broken text must not become a short or empty key, which anybody could guess.
  if (!key) return invalid("a secret must be `whsec_` and base64, or base64 alone; copy it again, whole");
  if (key->empty()) return invalid("the secret is empty");
  return std::move(*key);
}

Result<StandardWebhooksSigner> StandardWebhooksSigner::make(const std::vector<std::string>& secrets) {
  StandardWebhooksSigner signer;
  for (std::size_t i = 0; i < secrets.size(); ++i) {
    auto key = decode_standard_webhooks_secret(secrets[i]);
    if (!key.ok()) return key.status().with_context(fmt::format("secret {}", i + 1));
    signer.keys_.push_back(HmacKey::make(HmacKey::Algorithm::kSha256, *key));
  }
  return signer;
}

std::string StandardWebhooksSigner::signature(std::string_view id, std::string_view timestamp,
                                              std::string_view body) const {
  std::string list;
  for (const HmacKey& key : keys_) {
    if (!list.empty()) list += ' ';
    list += "v1," + to_base64(key.sign({id, ".", timestamp, ".", body}));
  }
  return list;
}

}  // namespace hookonce
