#include "base/crypto.h"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/params.h>

#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/check.h"
#include "base/sync.h"

namespace hookonce {
namespace {

struct Free {
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
  void operator()(EVP_MAC_CTX* context) const { EVP_MAC_CTX_free(context); }
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
};
using MacContext = std::unique_ptr<EVP_MAC_CTX, Free>;

const unsigned char* unsigned_data(std::string_view bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}

// Fetched once for the process: a fetch takes a lock and costs more than a small hash. Never freed, as OpenSSL's own
// clean-up at exit may come first.
EVP_MAC* hmac_algorithm() {
  static EVP_MAC* const algorithm = EVP_MAC_fetch(nullptr, "HMAC", nullptr);
  HK_CHECK(algorithm != nullptr);
  return algorithm;
}

EVP_MD* sha256_algorithm() {
  static EVP_MD* const algorithm = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  HK_CHECK(algorithm != nullptr);
  return algorithm;
}

const char* digest_name(HmacKey::Algorithm algorithm) {
  switch (algorithm) {
    case HmacKey::Algorithm::kSha1:
      return "SHA1";
    case HmacKey::Algorithm::kSha256:
      return "SHA256";
    case HmacKey::Algorithm::kSha512:
      return "SHA512";
  }
  HK_CHECK(false);
}

}  // namespace

Sha256 sha256(std::initializer_list<std::string_view> pieces) {
  const std::unique_ptr<EVP_MD_CTX, Free> context(EVP_MD_CTX_new());
  HK_CHECK(context != nullptr && EVP_DigestInit_ex2(context.get(), sha256_algorithm(), nullptr) == 1);
  for (const std::string_view piece : pieces) {
    HK_CHECK(EVP_DigestUpdate(context.get(), piece.data(), piece.size()) == 1);
  }
  Sha256 digest;
  HK_CHECK(EVP_DigestFinal_ex(context.get(), digest.data(), nullptr) == 1);
  return digest;
}

std::string sha256_hex(std::string_view bytes) {
  const Sha256 digest = sha256({bytes});
  return to_hex({reinterpret_cast<const char*>(digest.data()), digest.size()});
}

bool equal_constant_time(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

// Contexts that have the key already. sign() takes one, or copies the first where all are in use, and puts it back: a
// copy per call costs more than a small MAC, a context per thread would outlive the key. There are as many as threads
// ever signed at once.
struct HmacKey::State {
  MacContext prepared;  // never signs itself; constant after construction
  Mutex mutex;
  std::vector<MacContext> idle GUARDED_BY(mutex);

  MacContext take() {
    {
      MutexLock lock(mutex);
      if (!idle.empty()) {
        MacContext context = std::move(idle.back());
        idle.pop_back();
        return context;
      }
    }
    MacContext context(EVP_MAC_CTX_dup(prepared.get()));
    HK_CHECK(context != nullptr);
    return context;
  }
  void put_back(MacContext context) {
    MutexLock lock(mutex);
    idle.push_back(std::move(context));
  }
};

HmacKey::HmacKey(std::unique_ptr<State> state) : state_(std::move(state)) {}
HmacKey::HmacKey(HmacKey&&) noexcept = default;
HmacKey& HmacKey::operator=(HmacKey&&) noexcept = default;
HmacKey::~HmacKey() = default;

HmacKey HmacKey::make(Algorithm algorithm, std::string_view secret) {
  HK_CHECK(!secret.empty());
  auto state = std::make_unique<State>();
  state->prepared.reset(EVP_MAC_CTX_new(hmac_algorithm()));
  HK_CHECK(state->prepared != nullptr);
  const OSSL_PARAM parameters[] = {
      OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, const_cast<char*>(digest_name(algorithm)), 0),
      OSSL_PARAM_construct_end()};
  HK_CHECK(EVP_MAC_init(state->prepared.get(), unsigned_data(secret), secret.size(), parameters) == 1);
  return HmacKey(std::move(state));
}

std::string HmacKey::sign(std::initializer_list<std::string_view> pieces) const {
  MacContext context = state_->take();
  // No key: begins anew with the one it was prepared with.
  HK_CHECK(EVP_MAC_init(context.get(), nullptr, 0, nullptr) == 1);
  for (const std::string_view piece : pieces) {
    HK_CHECK(EVP_MAC_update(context.get(), unsigned_data(piece), piece.size()) == 1);
  }
  std::array<unsigned char, EVP_MAX_MD_SIZE> mac;
  std::size_t size = 0;
  HK_CHECK(EVP_MAC_final(context.get(), mac.data(), &size, mac.size()) == 1);
  state_->put_back(std::move(context));
  return std::string(reinterpret_cast<const char*>(mac.data()), size);
}

bool verify_ed25519(std::string_view public_key, std::string_view message, std::string_view signature) {
  constexpr std::size_t kPublicKeySize = 32;
  constexpr std::size_t kSignatureSize = 64;
  if (public_key.size() != kPublicKeySize || signature.size() != kSignatureSize) return false;
  const std::unique_ptr<EVP_PKEY, Free> key(
      EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, unsigned_data(public_key), public_key.size()));
  const std::unique_ptr<EVP_MD_CTX, Free> context(EVP_MD_CTX_new());
  if (key == nullptr || context == nullptr) return false;
  if (EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr, key.get()) != 1) return false;
  return EVP_DigestVerify(context.get(), unsigned_data(signature), signature.size(), unsigned_data(message),
                          message.size()) == 1;
}

}  // namespace hookonce
