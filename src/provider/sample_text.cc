#include "provider/sample_text.h"

#include "base/bytes.h"
#include "base/check.h"
#include "base/crypto.h"
#include "base/json.h"

namespace hookonce {

std::string seeded_text(std::string_view seed, std::size_t length) {
  constexpr std::string_view kAlphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  const Sha256 digest = sha256({seed});
  HK_CHECK(length <= digest.size());
  std::string text;
  for (std::size_t i = 0; i < length; ++i) text.push_back(kAlphabet[digest[i] % kAlphabet.size()]);
  return text;
}

Time sample_time(std::string_view seed) {
  constexpr std::int64_t kNewest = 1'790'000'000;
  constexpr std::uint32_t kSpan = 2'000'000;  // seconds
  const Sha256 digest = sha256({seed});
  std::uint32_t number = 0;
  for (std::size_t i = 0; i < sizeof number; ++i) number = number << 8 | digest[i];
  return Time(std::chrono::seconds(kNewest - number % kSpan));
}

std::string json_quoted(std::string_view text) {
  return to_json(json::value(json::string(to_utf8(text))));
}

}  // namespace hookonce
