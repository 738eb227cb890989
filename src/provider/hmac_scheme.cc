#include "provider/hmac_scheme.h"

#include <fmt/format.h>

namespace hookonce {

Result<SignedText> SignedText::parse(std::string_view text) {
  SignedText parsed;
  int bodies = 0;
  std::string_view rest = text;
  const auto pieces = [&]() -> std::vector<Piece>& { return bodies == 0 ? parsed.before_ : parsed.after_; };
  while (!rest.empty()) {
    const std::size_t open = rest.find('{');
    if (open > 0) pieces().push_back({Piece::Kind::kText, std::string(rest.substr(0, open))});
    if (open == std::string_view::npos) break;
    const std::size_t close = rest.find('}', open);
    const std::string_view name =
        close == std::string_view::npos ? rest.substr(open) : rest.substr(open, close - open + 1);
    if (name == "{body}") {
      ++bodies;
    } else if (name == "{timestamp}") {
      pieces().push_back({Piece::Kind::kTimestamp, ""});
    } else if (name == "{id}") {
      pieces().push_back({Piece::Kind::kId, ""});
    } else {
      return invalid(
          fmt::format("hmac.signed: `{}` is no placeholder; known are {{body}}, {{timestamp}} and {{id}}", name));
    }
    rest.remove_prefix(open + name.size());
  }
  if (bodies != 1)
    return invalid(fmt::format("hmac.signed: `{}` must hold {{body}} once; what is not signed could be changed", text));
  return parsed;
}

std::string SignedText::fill(const std::vector<Piece>& pieces, const Values& values) {
  std::string text;
  for (const Piece& piece : pieces) {
    switch (piece.kind) {
      case Piece::Kind::kText:
        text += piece.text;
        break;
      case Piece::Kind::kTimestamp:
        text += values.timestamp;
        break;
      case Piece::Kind::kId:
        text += values.id;
        break;
    }
  }
  return text;
}

bool SignedText::has(Piece::Kind kind) const {
  for (const auto* pieces : {&before_, &after_}) {
    for (const Piece& piece : *pieces) {
      if (piece.kind == kind) return true;
    }
  }
  return false;
}

}  // namespace hookonce
