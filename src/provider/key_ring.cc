#include "provider/key_ring.h"

#include <fmt/format.h>

#include "base/bytes.h"

namespace hookonce {

std::string signature_text(std::string_view mac, SignatureText form) {
  return form == SignatureText::kHex ? to_hex(mac) : to_base64(mac);
}

Result<KeyRing> KeyRing::make(HmacKey::Algorithm algorithm, const std::vector<std::string>& secrets) {
  if (secrets.empty()) return invalid("at least one secret is needed");
  KeyRing ring;
  ring.keys_.reserve(secrets.size());
  for (std::size_t i = 0; i < secrets.size(); ++i) {
    if (secrets[i].empty()) return invalid(fmt::format("secret {} is empty", i + 1));
    ring.keys_.push_back(HmacKey::make(algorithm, secrets[i]));
  }
  return ring;
}

std::optional<int> KeyRing::match(std::initializer_list<std::string_view> pieces, SignatureText form,
                                  std::span<const std::string_view> listed) const {
  for (std::size_t i = 0; i < keys_.size(); ++i) {
    const std::string expected = sign(i, pieces, form);
    bool equal = false;
    for (std::string_view candidate : listed) equal |= equal_constant_time(expected, candidate);
    if (equal) return static_cast<int>(i);
  }
  return std::nullopt;
}

std::string KeyRing::sign(std::size_t secret, std::initializer_list<std::string_view> pieces,
                          SignatureText form) const {
  return signature_text(keys_.at(secret).sign(pieces), form);
}

}  // namespace hookonce
