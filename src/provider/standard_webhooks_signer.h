// Signs what a destination receives as a Standard Webhook (v1, HMAC-SHA256; specification at standardwebhooks.com).
//
// Used for destinations with `secrets`, and by the Standard Webhooks provider for re-signing and samples.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/crypto.h"
#include "base/http_message.h"
#include "base/result.h"

namespace hookonce {

class StandardWebhooksSigner {
 public:
  // Secrets are `whsec_` + base64 or bare base64; kInvalid for anything else (`whpk_` verifies and never signs).
  static Result<StandardWebhooksSigner> make(const std::vector<std::string>& secrets);

  // "v1,<base64> v1,<base64>": one value per secret, in their order.
  std::string signature(std::string_view id, std::string_view timestamp, std::string_view body) const;
  bool empty() const { return keys_.empty(); }

 private:
  std::vector<HmacKey> keys_;
};

// The sender's own id of a Standard Webhook, from the first complete family of headers with which it arrived; nullopt
// where none is complete.
std::optional<std::string> arrived_webhook_id(const Headers& original);

// The key bytes behind a symmetric secret's text; kInvalid where it is not of that form.
Result<std::string> decode_standard_webhooks_secret(std::string_view text);

}  // namespace hookonce
