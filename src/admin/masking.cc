#include "admin/masking.h"

#include "base/bytes.h"

namespace hookonce {

namespace {
constexpr std::string_view kSecretWords[] = {
    "authorization", "cookie",   "token",  "secret",     "api-key",          "apikey",        "password", "passwd",
    "credential",    "auth-key", "x-auth", "access-key", "subscription-key", "functions-key", "jwt"};
}  // namespace

bool bears_secret(std::string_view header_name) {
  std::string name = to_lower(header_name);
  for (char& c : name) c = c == '_' ? '-' : c;
  for (const std::string_view word : kSecretWords) {
    if (name.find(word) != std::string::npos) return true;
  }
  return false;
}

std::string masked_url(std::string_view url) {
  std::string shown;
  const auto scheme_end = url.find("://");
  if (scheme_end != std::string_view::npos) {
    shown = url.substr(0, scheme_end + 3);
    url.remove_prefix(scheme_end + 3);
  }
  const auto authority = url.substr(0, url.find_first_of("/?#"));
  if (const auto at = authority.rfind('@'); at != std::string_view::npos) {
    shown += std::string(kMasked) + "@";
    url.remove_prefix(at + 1);
  }
  const auto query = url.find('?');
  shown += url.substr(0, query);
  if (query != std::string_view::npos) shown += "?" + std::string(kMasked);
  return shown;
}

}  // namespace hookonce
