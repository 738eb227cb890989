#include "base/json_mend.h"

#include <algorithm>
#include <cstdint>

#include "base/bytes.h"

namespace hookonce {
namespace {

constexpr std::size_t kEscapeSize = 6;  // \uXXXX
constexpr std::string_view kEighths = "01234567";

// The parser adds the exponent to the number of digits in 32 bits; nine digits and any body stay below that.
constexpr std::size_t kExponentDigitsMax = 9;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

struct Surrogate {
  bool high = false;
  bool low = false;
};

// What the text begins with, if it is the escape of a surrogate.
Surrogate surrogate_at(std::string_view text) {
  if (text.size() < kEscapeSize || !text.starts_with("\\u")) return {};
  const auto unit = from_hex(text.substr(2, 4));
  if (!unit) return {};
  const auto high_byte = static_cast<unsigned char>((*unit)[0]);
  return {high_byte >= 0xD8 && high_byte <= 0xDB, high_byte >= 0xDC && high_byte <= 0xDF};
}

class Mender {
 public:
  explicit Mender(std::string_view document) : text_(document) {}

  std::optional<std::string> mend() {
    while (at_ < text_.size()) {
      if (text_[at_] == '"') {
        ++at_;
        skip_string();
      } else if (is_exponent()) {
        ++at_;
        mend_exponent();
      } else {
        ++at_;
      }
    }
    if (!changed_) return std::nullopt;
    return std::move(text_);
  }

 private:
  std::string_view rest() const { return std::string_view(text_).substr(at_); }

  // Up to behind the closing quote, or the end.
  void skip_string() {
    while (at_ < text_.size() && text_[at_] != '"') {
      if (text_[at_] == '\\') {
        skip_escape();
      } else {
        ++at_;
      }
    }
    if (at_ < text_.size()) ++at_;
  }

  void skip_escape() {
    const Surrogate first = surrogate_at(rest());
    if (!first.high && !first.low) {
      at_ = std::min(at_ + 2, text_.size());
      return;
    }
    if (first.high && surrogate_at(rest().substr(kEscapeSize)).low) {
      at_ += 2 * kEscapeSize;
      return;
    }
    // D800 to DFFF become E000 to E7FF, each its own: two ids that differ only here must not become one.
    text_[at_ + 2] = 'E';
    text_[at_ + 3] = kEighths[static_cast<std::size_t>(from_hex(std::string("0") + text_[at_ + 3])->front()) - 8];
    changed_ = true;
    at_ += kEscapeSize;
  }

  // The `e` of a number, not that of true or false.
  bool is_exponent() const { return (text_[at_] == 'e' || text_[at_] == 'E') && at_ > 0 && is_digit(text_[at_ - 1]); }

  void mend_exponent() {
    if (at_ < text_.size() && (text_[at_] == '+' || text_[at_] == '-')) ++at_;
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_digit(text_[at_])) ++at_;
    if (at_ - begin <= kExponentDigitsMax) return;
    std::fill(text_.begin() + static_cast<std::ptrdiff_t>(begin), text_.begin() + static_cast<std::ptrdiff_t>(at_),
              '0');
    changed_ = true;
  }

  std::string text_;
  std::size_t at_ = 0;
  bool changed_ = false;
};

}  // namespace

std::optional<std::string> mend_json(std::string_view document) {
  return Mender(document).mend();
}

std::string unmend_text(std::string text) {
  // In UTF-8, E000 to E7FF are EE 80 80 to EE 9F BF, and D800 to DFFF would be ED A0 80 to ED BF BF.
  for (std::size_t at = text.find('\xEE'); at != std::string::npos; at = text.find('\xEE', at + 1)) {
    const auto second = static_cast<unsigned char>(text[at + 1]);
    if (second > 0x9F) continue;
    text[at] = '\xED';
    text[at + 1] = static_cast<char>(second + 0x20);
  }
  return text;
}

}  // namespace hookonce
