// UTF-8 of base/bytes.h: checking and mending.
#include <cstring>

#include "base/bytes.h"

namespace hookonce {
namespace {

// U+FFFD, which stands for what could not be read.
constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

// How many bytes the text begins with that are ASCII, counted eight at a time.
std::size_t ascii_prefix(std::string_view bytes) {
  constexpr std::uint64_t kHighBits = 0x8080808080808080;
  std::size_t i = 0;
  while (bytes.size() - i >= sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + i, sizeof word);
    if ((word & kHighBits) != 0) break;
    i += sizeof word;
  }
  while (i < bytes.size() && static_cast<unsigned char>(bytes[i]) < 0x80) ++i;
  return i;
}

struct Sequence {
  std::size_t length = 1;  // bytes that belong together, at least one
  bool valid = false;
};

struct Range {
  unsigned char low, high;
};

// The sequence at the front. A broken one ends before the first byte that can't continue it (Unicode, section 3.9), so
// that a good character behind it is never swallowed.
// REQUIRES: bytes begins with a byte of 0x80 or above.
Sequence front_sequence(std::string_view bytes) {
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
  const unsigned char lead = at(0);
  std::size_t length = 0;
  Range second{0x80, 0xBF};
  if (lead >= 0xC2 && lead <= 0xDF) {
    length = 2;
  } else if (lead >= 0xE0 && lead <= 0xEF) {
    length = 3;
    if (lead == 0xE0) second.low = 0xA0;   // below are overlong forms
    if (lead == 0xED) second.high = 0x9F;  // above are surrogates
  } else if (lead >= 0xF0 && lead <= 0xF4) {
    length = 4;
    if (lead == 0xF0) second.low = 0x90;
    if (lead == 0xF4) second.high = 0x8F;  // above is beyond U+10FFFF
  } else {
    return {};
  }
  for (std::size_t i = 1; i < length; ++i) {
    const Range range = i == 1 ? second : Range{0x80, 0xBF};
    if (i >= bytes.size() || at(i) < range.low || at(i) > range.high) return {i, false};
  }
  return {length, true};
}

}  // namespace

bool is_utf8(std::string_view bytes) {
  while (true) {
    bytes.remove_prefix(ascii_prefix(bytes));
    if (bytes.empty()) return true;
    const Sequence sequence = front_sequence(bytes);
    if (!sequence.valid) return false;
    bytes.remove_prefix(sequence.length);
  }
}

std::string to_utf8(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size());
  while (true) {
    const std::size_t ascii = ascii_prefix(bytes);
    out += bytes.substr(0, ascii);
    bytes.remove_prefix(ascii);
    if (bytes.empty()) return out;
    const Sequence sequence = front_sequence(bytes);
    out += sequence.valid ? bytes.substr(0, sequence.length) : kReplacement;
    bytes.remove_prefix(sequence.length);
  }
}

}  // namespace hookonce
