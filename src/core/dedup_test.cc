#include "core/dedup.h"

#include <algorithm>
#include <random>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/bytes.h"

namespace hookonce {
namespace {

using testing::Contains;

std::string hex(const KeyHash& hash) {
  return to_hex({reinterpret_cast<const char*>(hash.data()), hash.size()});
}

TEST(Dedup, EqualBytesSplitOtherwiseAreOtherKeys) {
  const std::set<KeyHash> hashes = {
      key_hash("", {"abc"}),     key_hash("", {"ab", "c"}), key_hash("", {"a", "bc"}), key_hash("", {"", "abc"}),
      key_hash("", {"abc", ""}), key_hash("a", {"bc"}),     key_hash("abc", {}),       key_hash("", {}),
      key_hash("", {""}),        key_hash("", {"", ""}),    key_hash("abc", {""}),     key_hash("", {"a", "b", "c"})};
  EXPECT_EQ(hashes.size(), 12u);
}

TEST(Dedup, LengthPrefixedTextInsideAPartIsNotAnotherSplit) {
  const std::string prefix(7, '\0');
  EXPECT_NE(key_hash("", {"a", "b"}), key_hash("", {"a" + prefix + "\x01" + "b"}));
}

// A key's hash is stored: another value for the same key would forget every key of an inbox that exists.
TEST(Dedup, TheHashOfAKeyNeverChanges) {
  EXPECT_EQ(hex(key_hash("", {"evt_1"})), "f5e526ec6bfae22aaff81730cf6f53fe");
  EXPECT_EQ(hex(key_hash("json:/a", {"evt_1", "2"})), "768143235b6929298349fc7673a8d5fe");
  EXPECT_EQ(hex(body_hash("")), "e3b0c44298fc1c149afbf4c8996fb924");
  EXPECT_EQ(signature_hash({"1", "v1=a"}), signature_hash({"1", "v1=a"}));
  EXPECT_NE(signature_hash({"1", "v1=a"}), signature_hash({"1v", "1=a"}));
  EXPECT_NE(signature_hash({"1", ""}), signature_hash({"1"}));
}

TEST(Dedup, OnePartReadsAsItIsAndSeveralAreJoined) {
  EXPECT_EQ(key_text({"a:b\\c"}), "a:b\\c");
  EXPECT_EQ(key_text({"T1", "C2", "3.5"}), "T1:C2:3.5");
  EXPECT_EQ(key_text({"a:b", "c\\d"}), "a\\:b:c\\\\d");
  EXPECT_EQ(key_text({"", ""}), ":");
}

TEST(Dedup, TextFindsTheKeyThatItShows) {
  for (const std::vector<std::string>& parts : std::vector<std::vector<std::string>>{
           {"evt_1"}, {"a:b"}, {"a\\"}, {"a", "b"}, {"a:b", "c"}, {"", ""}, {"\\", ":"}, {"a", "", "b"}}) {
    EXPECT_THAT(hashes_of_text(key_text(parts)), Contains(key_hash("", parts))) << key_text(parts);
  }
}

TEST(Dedup, TextThatNoPartsGiveIsOnePartAlone) {
  EXPECT_EQ(hashes_of_text("plain").size(), 1u);
  EXPECT_EQ(hashes_of_text("a\\:b").size(), 1u);
  EXPECT_EQ(hashes_of_text("a:b\\").size(), 1u);
  EXPECT_EQ(hashes_of_text("a:\\b").size(), 1u);
  EXPECT_EQ(hashes_of_text("a:b").size(), 2u);
}

TEST(Dedup, TextFindsRandomKeys) {
  const std::uint32_t seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  constexpr std::string_view kAlphabet = "ab:\\";
  for (int round = 0; round < 3000; ++round) {
    std::vector<std::string> parts(1 + random() % 3);
    for (std::string& part : parts) {
      for (std::size_t length = random() % 5; length > 0; --length)
        part.push_back(kAlphabet[random() % kAlphabet.size()]);
    }
    ASSERT_THAT(hashes_of_text(key_text(parts)), Contains(key_hash("", parts))) << key_text(parts);
  }
}

}  // namespace
}  // namespace hookonce
