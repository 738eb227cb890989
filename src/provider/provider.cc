#include "provider/provider.h"

namespace hookonce {

std::string_view to_string(Reason reason) {
  switch (reason) {
    case Reason::kOk:
      return "ok";
    case Reason::kSignatureMismatch:
      return "signature_mismatch";
    case Reason::kMissingHeader:
      return "missing_header";
    case Reason::kMalformedHeader:
      return "malformed_header";
    case Reason::kMissingSignature:
      return "missing_signature";
    case Reason::kMissingTimestamp:
      return "missing_timestamp";
    case Reason::kMissingToken:
      return "missing_token";
    case Reason::kTokenMismatch:
      return "token_mismatch";
    case Reason::kTimestampTooOld:
      return "timestamp_too_old";
    case Reason::kTimestampInFuture:
      return "timestamp_in_future";
    case Reason::kUnknownSignatureVersion:
      return "unknown_signature_version";
    case Reason::kNoSignatureWithExpectedScheme:
      return "no_signature_with_expected_scheme";
  }
  HK_CHECK(false);
}

bool is_signed_rightly(Reason reason) {
  return reason == Reason::kOk || reason == Reason::kTimestampTooOld || reason == Reason::kTimestampInFuture;
}

std::optional<HttpResponse> BoundProvider::unsigned_handshake(const HttpRequest&) const {
  return std::nullopt;
}
std::optional<HttpResponse> BoundProvider::handshake(const HttpRequest&) const {
  return std::nullopt;
}
bool BoundProvider::empty_answer(const HttpRequest&) const {
  return false;
}
std::optional<HttpResponse> BoundProvider::late_answer(const HttpRequest&) const {
  return std::nullopt;
}
std::optional<std::string> BoundProvider::response_url(const Headers&, std::string_view) const {
  return std::nullopt;
}
std::optional<Headers> BoundProvider::resign(const Headers&, std::string_view, Time) const {
  return std::nullopt;
}

}  // namespace hookonce
