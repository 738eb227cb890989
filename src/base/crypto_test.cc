#include "base/crypto.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "base/bytes.h"

namespace hookonce {
namespace {

using Algorithm = HmacKey::Algorithm;

std::string hex_of(const Sha256& digest) {
  return to_hex({reinterpret_cast<const char*>(digest.data()), digest.size()});
}

TEST(Sha256Test, KnownDigestsComeOut) {
  EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_hex(std::string(1'000'000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256Test, PiecesAreConcatenated) {
  EXPECT_EQ(hex_of(sha256({"a", "", "bc"})), sha256_hex("abc"));
  EXPECT_EQ(hex_of(sha256({})), sha256_hex(""));
}

// RFC 4231 (SHA-2) and RFC 2202 (SHA-1), test cases 1, 2 and 6: a short key, a text key, and one longer than a block.
TEST(Hmac, TheVectorsOfTheRfcsHold) {
  const struct {
    Algorithm algorithm;
    std::string key, data, mac;
  } vectors[] = {
      {Algorithm::kSha256, std::string(20, '\x0b'), "Hi There",
       "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"},
      {Algorithm::kSha256, "Jefe", "what do ya want for nothing?",
       "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"},
      {Algorithm::kSha256, std::string(131, '\xaa'), "Test Using Larger Than Block-Size Key - Hash Key First",
       "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"},
      {Algorithm::kSha512, "Jefe", "what do ya want for nothing?",
       "164b7a7bfcf819e2e395fbe73b56e0a387bd64222e831fd610270cd7ea2505549758bf75c05a994a6d034f65f8f0e6fdcaeab1a34d4a6b4"
       "b"
       "636e070a38bce737"},
      {Algorithm::kSha1, "Jefe", "what do ya want for nothing?", "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79"},
  };
  for (const auto& [algorithm, key, data, mac] : vectors) {
    const HmacKey hmac = HmacKey::make(algorithm, key);
    EXPECT_EQ(to_hex(hmac.sign({data})), mac);
    EXPECT_EQ(to_hex(hmac.sign({data})), mac) << "the second time";
    EXPECT_EQ(to_hex(hmac.sign({data.substr(0, 3), "", data.substr(3)})), mac) << "in pieces";
  }
}

TEST(Hmac, AKeyMayHoldAnyBytes) {
  const HmacKey with_nul = HmacKey::make(Algorithm::kSha256, std::string_view("k\0a", 3));
  const HmacKey cut_at_nul = HmacKey::make(Algorithm::kSha256, "k");
  EXPECT_NE(with_nul.sign({"x"}), cut_at_nul.sign({"x"}));
}

TEST(Hmac, AMovedKeySignsAsBefore) {
  HmacKey first = HmacKey::make(Algorithm::kSha256, "one");
  const std::string mac = first.sign({"x"});
  HmacKey second = std::move(first);
  EXPECT_EQ(second.sign({"x"}), mac);
  second = HmacKey::make(Algorithm::kSha256, "two");
  EXPECT_NE(second.sign({"x"}), mac);
}

TEST(Hmac, OneKeySignsOnSeveralThreadsAtOnce) {
  const HmacKey key = HmacKey::make(Algorithm::kSha256, "shared");
  constexpr int kThreads = 4;
  constexpr int kMessages = 2'000;
  std::vector<std::string> expected;
  for (int i = 0; i < kMessages; ++i) expected.push_back(key.sign({std::to_string(i)}));
  std::vector<int> wrong(kThreads, 0);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kMessages; ++i) wrong[t] += key.sign({std::to_string(i)}) != expected[i];
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<int>(kThreads, 0));
}

TEST(HmacDeathTest, AnEmptyKeyIsNeverMade) {
  EXPECT_DEATH(HmacKey::make(Algorithm::kSha256, ""), "check failed");
}

TEST(ConstantTime, OnlyEqualBytesOfEqualLengthAreEqual) {
  EXPECT_TRUE(equal_constant_time("", ""));
  EXPECT_TRUE(equal_constant_time("abc", "abc"));
  EXPECT_FALSE(equal_constant_time("abc", "abd"));
  EXPECT_FALSE(equal_constant_time("bbc", "abc"));
  EXPECT_FALSE(equal_constant_time("abc", "abcd"));
  EXPECT_FALSE(equal_constant_time("", "a"));
  EXPECT_FALSE(equal_constant_time(std::string_view("a\0b", 3), std::string_view("a\0c", 3)));
}

// RFC 8032, section 7.1, tests 2 and 1.
TEST(Ed25519, TheVectorsOfTheRfcVerify) {
  EXPECT_TRUE(
      verify_ed25519(*from_hex("3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c"), "\x72",
                     *from_hex("92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e"
                               "458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00")));
  EXPECT_TRUE(
      verify_ed25519(*from_hex("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"), "",
                     *from_hex("e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bac"
                               "c61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b")));
}

TEST(Ed25519, AnyChangeAndAnyWrongLengthIsNotValid) {
  const std::string key = *from_hex("3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c");
  const std::string signature = *from_hex(
      "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aee"
      "b00d291612bb0c00");
  ASSERT_TRUE(verify_ed25519(key, "\x72", signature));
  EXPECT_FALSE(verify_ed25519(key, "\x73", signature));
  EXPECT_FALSE(verify_ed25519(key, "", signature));
  for (std::size_t i = 0; i < signature.size(); ++i) {
    std::string changed = signature;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    EXPECT_FALSE(verify_ed25519(key, "\x72", changed)) << i;
  }
  EXPECT_FALSE(verify_ed25519(key, "\x72", signature.substr(1)));
  EXPECT_FALSE(verify_ed25519(key, "\x72", signature + "x"));
  EXPECT_FALSE(verify_ed25519(key.substr(1), "\x72", signature));
  EXPECT_FALSE(verify_ed25519("", "\x72", ""));
  EXPECT_FALSE(verify_ed25519(std::string(32, '\xFF'), "\x72", signature));
}

}  // namespace
}  // namespace hookonce
