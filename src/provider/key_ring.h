// The HMAC keys of one source, one per secret, prepared once: any of them may have made a signature.
//
//   HK_ASSIGN(KeyRing ring, KeyRing::make(HmacKey::Algorithm::kSha256, settings.secrets));
//   if (auto secret = ring.match({timestamp, ".", body}, SignatureText::kHex, listed)) ...
#pragma once

#include <cstddef>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/crypto.h"
#include "base/result.h"

namespace hookonce {

enum class SignatureText { kHex, kBase64 };  // hex is lower case, base64 padded

std::string signature_text(std::string_view mac, SignatureText form);

class KeyRing {
 public:
  // kInvalid where there is no secret or an empty one: an empty key would verify what anybody signs.
  static Result<KeyRing> make(HmacKey::Algorithm algorithm, const std::vector<std::string>& secrets);

  // The position of the first secret whose signature over the concatenated pieces is one of `listed`; nullopt where
  // none is. Each comparison takes the same time whatever the bytes.
  std::optional<int> match(std::initializer_list<std::string_view> pieces, SignatureText form,
                           std::span<const std::string_view> listed) const;

  // REQUIRES: secret < size()
  std::string sign(std::size_t secret, std::initializer_list<std::string_view> pieces, SignatureText form) const;
  std::size_t size() const { return keys_.size(); }

 private:
  std::vector<HmacKey> keys_;
};

}  // namespace hookonce
