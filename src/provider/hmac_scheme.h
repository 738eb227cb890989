// The text that a configured HMAC scheme signs: `{timestamp}.{body}` and the like, read once and filled in per request.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace hookonce {

class SignedText {
 public:
  // kInvalid for an unknown placeholder, and where `{body}` is not there exactly once: what is not signed could be
  // changed.
  static Result<SignedText> parse(std::string_view text);

  bool has_timestamp() const { return has(Piece::Kind::kTimestamp); }
  bool has_id() const { return has(Piece::Kind::kId); }

  struct Values {
    std::string_view timestamp;
    std::string_view id;
  };
  // What stands before and after the body.
  std::string before(const Values& values) const { return fill(before_, values); }
  std::string after(const Values& values) const { return fill(after_, values); }

 private:
  struct Piece {
    enum class Kind { kText, kTimestamp, kId };
    Kind kind = Kind::kText;
    std::string text;  // valid where kind is kText
  };
  static std::string fill(const std::vector<Piece>& pieces, const Values& values);
  bool has(Piece::Kind kind) const;

  std::vector<Piece> before_;
  std::vector<Piece> after_;
};

}  // namespace hookonce
