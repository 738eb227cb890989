// Hashes, MACs and signatures over bytes (OpenSSL 3 behind it; no other file includes OpenSSL).
//
//   HmacKey key = HmacKey::make(HmacKey::Algorithm::kSha256, secret);
//   std::string mac = key.sign({timestamp, ".", body});           // raw bytes; the pieces are concatenated
//
// A HmacKey is prepared once per secret: fetching the algorithm on each call costs more than hashing a small body.
// Const calls are safe from several threads at once.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace hookonce {

using Sha256 = std::array<std::uint8_t, 32>;
Sha256 sha256(std::initializer_list<std::string_view> pieces);
std::string sha256_hex(std::string_view bytes);

// Takes the same time for equal lengths whatever the bytes; different lengths are unequal at once.
bool equal_constant_time(std::string_view a, std::string_view b);

class HmacKey {
 public:
  enum class Algorithm { kSha1, kSha256, kSha512 };

  // REQUIRES: !secret.empty(). An empty key would verify what anybody signs.
  static HmacKey make(Algorithm algorithm, std::string_view secret);

  HmacKey(HmacKey&&) noexcept;
  HmacKey& operator=(HmacKey&&) noexcept;
  ~HmacKey();

  std::string sign(std::initializer_list<std::string_view> pieces) const;

 private:
  struct State;
  explicit HmacKey(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// Ed25519 (RFC 8032). `public_key` is the raw 32 bytes, `signature` the raw 64; a wrong length is simply not valid.
bool verify_ed25519(std::string_view public_key, std::string_view message, std::string_view signature);

}  // namespace hookonce
