#include "core/address.h"

#include <arpa/inet.h>
#include <sys/socket.h>

#include <array>
#include <cstdint>
#include <optional>

#include <fmt/format.h>

#include "base/bytes.h"

namespace hookonce {

namespace {

constexpr std::int64_t kPortMax = 65535;

// The address in network order: 4 or 16 bytes, empty where the text is none.
std::string address_bytes(std::string_view text) {
  if (text.find('\0') != std::string_view::npos) return {};
  const std::string terminated(text);
  std::array<char, 16> bytes{};
  if (inet_pton(AF_INET, terminated.c_str(), bytes.data()) == 1) return {bytes.data(), 4};
  if (inet_pton(AF_INET6, terminated.c_str(), bytes.data()) == 1) return {bytes.data(), bytes.size()};
  return {};
}

std::optional<int> parse_port(std::string_view text) {
  const std::optional<std::int64_t> port = parse_digits(text);
  if (!port || *port > kPortMax) return std::nullopt;
  return static_cast<int>(*port);
}

Status no_listen_address(std::string_view text, std::string_view mend) {
  return invalid(fmt::format("`{}` is no address to listen on; {}", text, mend));
}

bool is_host_name(std::string_view host) {
  constexpr std::string_view kAllowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_";
  return !host.empty() && host.size() <= 253 && host.find_first_not_of(kAllowed) == std::string_view::npos &&
         host.front() != '.' && host.front() != '-';
}

// A URL goes into a request line as it is: blanks, control and non-ASCII characters must have been escaped.
bool is_visible_ascii(std::string_view text) {
  for (const char c : text) {
    if (c <= 0x20 || c >= 0x7f || c == '\\') return false;
  }
  return true;
}

// "host", "host:port", "[v6]:port" of a URL.
Status check_authority(std::string_view authority) {
  if (authority.find('@') != std::string_view::npos) {
    return invalid("must not hold a user or password, because URLs are shown; let the destination judge the signature");
  }
  std::string_view port;
  bool has_port = false;
  std::string_view host = authority;
  if (!authority.empty() && authority.front() == '[') {
    const std::size_t end = authority.find(']');
    if (end == std::string_view::npos || address_bytes(authority.substr(1, end - 1)).size() != 16) {
      return invalid("has no IPv6 address between its brackets; write http://[::1]:9000/path");
    }
    host = authority.substr(1, end - 1);
    const std::string_view rest = authority.substr(end + 1);
    if (!rest.empty() && rest.front() != ':') return invalid("has something between `]` and the port");
    has_port = !rest.empty();
    if (has_port) port = rest.substr(1);
  } else {
    const std::size_t colon = authority.find(':');
    host = authority.substr(0, colon);
    has_port = colon != std::string_view::npos;
    if (has_port) port = authority.substr(colon + 1);
    if (host.empty()) return invalid("has no host; write http://127.0.0.1:9000/path");
    if (!is_host_name(host)) return invalid("has a host that is neither a name nor an address");
  }
  if (has_port && parse_port(port).value_or(0) == 0) return invalid("has a port that is not between 1 and 65535");
  return {};
}

}  // namespace

std::string ListenAddress::text() const {
  return host.find(':') == std::string::npos ? fmt::format("{}:{}", host, port) : fmt::format("[{}]:{}", host, port);
}

Result<ListenAddress> parse_listen_address(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) {
    const bool is_port = parse_port(text).has_value();
    return no_listen_address(text, is_port ? fmt::format("did you mean `0.0.0.0:{}`?", text)
                                           : std::string("write ADDRESS:PORT, as in 127.0.0.1:8080"));
  }
  const std::string_view port_text = text.substr(colon + 1);
  std::string_view host = text.substr(0, colon);
  const std::optional<int> port = parse_port(port_text);
  if (!port) return no_listen_address(text, "its port must be between 0 and 65535");
  if (host.empty() || host == "*") return no_listen_address(text, fmt::format("did you mean `0.0.0.0:{}`?", *port));
  if (host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
    if (address_bytes(host).size() != 16) return no_listen_address(text, "only an IPv6 address stands in brackets");
    return ListenAddress{std::string(host), *port};
  }
  if (address_bytes(host).size() == 16 || address_bytes(text).size() == 16) {
    return no_listen_address(text, "write an IPv6 address in brackets, as in [::1]:8080");
  }
  if (equals_ignore_case(host, "localhost")) return ListenAddress{"127.0.0.1", *port};
  if (address_bytes(host).size() != 4) {
    return no_listen_address(text, "write an IP address of this machine, or 0.0.0.0 for all of them");
  }
  return ListenAddress{std::string(host), *port};
}

bool is_ip_address(std::string_view text) {
  return !address_bytes(text).empty();
}

bool is_ip_block(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return false;
  const std::size_t bits = 8 * address_bytes(text.substr(0, slash)).size();
  const std::optional<std::int64_t> prefix = parse_digits(text.substr(slash + 1));
  return bits > 0 && prefix && *prefix <= static_cast<std::int64_t>(bits);
}

bool is_loopback(std::string_view address) {
  const std::string bytes = address_bytes(address);
  if (bytes.size() == 4) return bytes[0] == 127;
  return bytes.size() == 16 && bytes == address_bytes("::1");
}

bool is_any_address(std::string_view address) {
  const std::string bytes = address_bytes(address);
  return !bytes.empty() && bytes.find_first_not_of('\0') == std::string::npos;
}

Status check_http_url(std::string_view url) {
  const std::size_t scheme_end = url.find("://");
  if (scheme_end == std::string_view::npos) return invalid("is no URL; begin it with http:// or https://");
  const std::string_view scheme = url.substr(0, scheme_end);
  if (!equals_ignore_case(scheme, "http") && !equals_ignore_case(scheme, "https")) {
    return invalid(fmt::format("begins with `{}://`; only http:// and https:// are possible", scheme));
  }
  if (!is_visible_ascii(url)) return invalid("holds a blank or another character that must be written as %XX");
  if (url.find('#') != std::string_view::npos) return invalid("holds a `#`: a fragment is never sent; remove it");
  const std::string_view rest = url.substr(scheme_end + 3);
  return check_authority(rest.substr(0, rest.find_first_of("/?")));
}

Status check_proxy_url(std::string_view url) {
  constexpr std::string_view kScheme = "http://";
  constexpr std::string_view kMend = "write http://HOST:PORT, or env:NAME where it has a password";
  if (!equals_ignore_case(url.substr(0, kScheme.size()), kScheme)) {
    return invalid(fmt::format("must begin with http://, the way to the proxy itself; {}", kMend));
  }
  std::string_view authority = url.substr(kScheme.size());
  if (!authority.empty() && authority.back() == '/') authority.remove_suffix(1);
  if (authority.find_first_of("/?#") != std::string_view::npos || !is_visible_ascii(authority)) {
    return invalid(fmt::format("must hold nothing behind the port; {}", kMend));
  }
  const std::string_view place = authority.substr(authority.rfind('@') + 1);
  // Without a port some would mean 80 and curl takes 1080.
  const std::size_t colon = place.rfind(':');
  if (colon == std::string_view::npos || !parse_port(place.substr(colon + 1))) {
    return invalid(fmt::format("has no port; {}", kMend));
  }
  return check_authority(place);
}

}  // namespace hookonce
