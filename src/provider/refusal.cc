#include "provider/refusal.h"

#include <fmt/format.h>

#include <utility>

namespace hookonce {

Verification refused(Reason reason, std::string message) {
  Verification verification;
  verification.reason = reason;
  verification.message = std::move(message);
  return verification;
}

Verification refused_missing(std::string_view header) {
  return refused(Reason::kMissingHeader,
                 fmt::format("header {} is missing; send it, and let no proxy remove it", header));
}

Verification refused_differing(std::string_view header) {
  return refused(Reason::kMalformedHeader,
                 fmt::format("header {} is there several times with different values; send it once", header));
}

Verification refused_malformed(std::string_view header, std::string_view form) {
  return refused(Reason::kMalformedHeader, fmt::format("header {} can't be read; it reads {}", header, form));
}

Verification refused_mismatch(std::string_view hint) {
  std::string message = "no configured secret made this signature over these bytes";
  if (!hint.empty()) message += fmt::format("; {}", hint);
  return refused(Reason::kSignatureMismatch, std::move(message));
}

}  // namespace hookonce
