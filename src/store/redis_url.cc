#include "store/redis_url.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/bytes.h"

namespace hookonce {

namespace {

constexpr std::string_view kPlain = "redis://";
constexpr std::string_view kTls = "rediss://";
constexpr int kPortMax = 65535;
constexpr int kDatabaseMax = 9999;  // servers have 16 unless configured otherwise; more digits are a slip
constexpr std::size_t kPrefixMax = 64;
constexpr const char* kForm = "write redis://USER:PASSWORD@HOST:PORT/DATABASE, with %XX for special characters";

Status wrong(std::string_view what) {
  return invalid(fmt::format("store redis: {}; {}", what, kForm));
}

// No brace, because braces mark the hash tag.
bool is_prefix(std::string_view text) {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
           c == '.' || c == ':';
  };
  return !text.empty() && text.size() <= kPrefixMax && std::all_of(text.begin(), text.end(), fits);
}

Status parse_credentials(std::string_view text, RedisTarget& target) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos)
    return wrong("a user without a password (write :PASSWORD@ for a password alone)");
  const auto user = percent_decode(text.substr(0, colon), false);
  const auto password = percent_decode(text.substr(colon + 1), false);
  if (!user || !password) return wrong("a bad %XX in user or password");
  if (password->empty()) return wrong("an empty password");
  target.user = *user;
  target.password = *password;
  return {};
}

Status parse_address(std::string_view text, RedisTarget& target) {
  std::string_view port;
  if (!text.empty() && text.front() == '[') {
    const std::size_t end = text.find(']');
    if (end == std::string_view::npos) return wrong("an IPv6 address without its closing bracket");
    target.host = text.substr(1, end - 1);
    port = text.substr(end + 1);
  } else {
    const std::size_t colon = text.find(':');
    target.host = text.substr(0, colon);
    if (colon != std::string_view::npos) port = text.substr(colon);
  }
  if (target.host.empty()) return wrong("no host");
  if (port.empty()) return {};
  const auto number = port.front() == ':' ? parse_digits(port.substr(1)) : std::nullopt;
  if (!number || *number < 1 || *number > kPortMax) return wrong("the port must be a number from 1 to 65535");
  target.port = static_cast<int>(*number);
  return {};
}

Status parse_query(std::string_view query, RedisTarget& target) {
  for (std::string_view part : split(query, '&')) {
    const std::size_t equals = std::min(part.find('='), part.size());
    const std::string_view name = part.substr(0, equals);
    const std::string_view value = part.substr(std::min(equals + 1, part.size()));
    if (name == "durability") {
      if (value != "relaxed" && value != "strict") return wrong("durability must be strict (the default) or relaxed");
      target.relaxed = value == "relaxed";
    } else if (name == "prefix") {
      if (!is_prefix(value)) return wrong("prefix must be at most 64 letters, digits, `_`, `-`, `.` and `:`");
      target.prefix = value;
    } else {
      return wrong(fmt::format("there are the options durability and prefix, and no `{}`", to_utf8(name)));
    }
  }
  return {};
}

}  // namespace

bool is_redis_url(std::string_view url) {
  return url.substr(0, kPlain.size()) == kPlain || url.substr(0, kTls.size()) == kTls;
}

Result<RedisTarget> parse_redis_url(std::string_view url) {
  if (url.substr(0, kTls.size()) == kTls) {
    return invalid(
        "store rediss: this build cannot speak TLS to Redis (hiredis 0.14 has none); use redis:// over a private "
        "network, or a TLS tunnel beside the gateway");
  }
  if (url.substr(0, kPlain.size()) != kPlain) return wrong("not a URL");
  if (url.find('\0') != std::string_view::npos) return wrong("a NUL in the URL");
  url.remove_prefix(kPlain.size());
  RedisTarget target;
  const std::string_view authority = url.substr(0, url.find_first_of("/?#"));
  std::string_view rest = url.substr(authority.size());
  if (url.find('#') != std::string_view::npos) return wrong("a `#` in the URL");
  // A password with a bare `/` or `?` in it ends the authority too early; what is behind that would be quoted.
  if (rest.find('@') != std::string_view::npos) return wrong("an `@` behind the host and port");
  std::string_view address = authority;
  if (const std::size_t at = authority.rfind('@'); at != std::string_view::npos) {
    HK_TRY(parse_credentials(authority.substr(0, at), target));
    address = authority.substr(at + 1);
  }
  HK_TRY(parse_address(address, target));
  const std::string_view path = rest.substr(0, rest.find('?'));
  if (path.size() > 1) {
    const auto database = parse_digits(path.substr(1));
    // A password with a bare `/` in it would stand here, so it is not quoted.
    if (!database || *database > kDatabaseMax) return wrong("the database must be a number");
    target.database = static_cast<int>(*database);
  }
  if (path.size() < rest.size()) HK_TRY(parse_query(rest.substr(path.size() + 1), target));
  const bool is_v6 = target.host.find(':') != std::string::npos;
  target.shown = fmt::format("redis://{}{}{}:{}/{}?prefix={}", is_v6 ? "[" : "", target.host, is_v6 ? "]" : "",
                             target.port, target.database, target.prefix);
  return target;
}

}  // namespace hookonce
