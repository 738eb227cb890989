#include "core/client_address.h"

#include <arpa/inet.h>

#include <algorithm>
#include <optional>

#include "base/bytes.h"

namespace hookonce {

namespace {

using AddressBytes = std::array<std::uint8_t, 16>;
constexpr int kMappedBits = 96;  // ::ffff:0:0/96 holds the IPv4 addresses
constexpr AddressBytes kMappedPrefix = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0, 0, 0};

bool is_mapped(const AddressBytes& address) {
  return std::equal(address.begin(), address.begin() + kMappedBits / 8, kMappedPrefix.begin());
}

std::optional<AddressBytes> parse_address(std::string_view text) {
  if (text.find('\0') != std::string_view::npos) return std::nullopt;
  const std::string copy(text.substr(0, text.find('%')));  // a zone says which interface, not who
  AddressBytes address = kMappedPrefix;
  if (inet_pton(AF_INET, copy.c_str(), address.data() + kMappedBits / 8) == 1) return address;
  if (inet_pton(AF_INET6, copy.c_str(), address.data()) == 1) return address;
  return std::nullopt;
}

std::string address_text(const AddressBytes& address) {
  char text[INET6_ADDRSTRLEN] = {};
  if (is_mapped(address)) {
    inet_ntop(AF_INET, address.data() + kMappedBits / 8, text, sizeof text);
  } else {
    inet_ntop(AF_INET6, address.data(), text, sizeof text);
  }
  return text;
}

// An entry of X-Forwarded-For: an address, by some proxies with a port: "203.0.113.7:4711", "[2001:db8::1]:4711".
std::optional<AddressBytes> parse_entry(std::string_view entry) {
  if (!entry.empty() && entry.front() == '[') {
    const auto end = entry.find(']');
    if (end == std::string_view::npos) return std::nullopt;
    return parse_address(entry.substr(1, end - 1));
  }
  const auto colon = entry.find(':');
  const bool has_port = colon != std::string_view::npos && entry.find(':', colon + 1) == std::string_view::npos;
  return parse_address(has_port ? entry.substr(0, colon) : entry);
}

bool same_prefix(const AddressBytes& a, const AddressBytes& b, int bits) {
  const auto bytes = static_cast<std::size_t>(bits / 8);
  if (!std::equal(a.begin(), a.begin() + bits / 8, b.begin())) return false;
  const int rest = bits % 8;
  return rest == 0 || ((a[bytes] ^ b[bytes]) >> (8 - rest)) == 0;
}

}  // namespace

Result<TrustedProxies> TrustedProxies::parse(const std::vector<std::string>& texts) {
  TrustedProxies proxies;
  for (const std::string& text : texts) {
    const auto slash = text.find('/');
    const auto address = parse_address(std::string_view(text).substr(0, slash));
    const auto wrong = [&] {
      return invalid("server.trusted_proxies: \"" + text + "\" is neither an address nor a block");
    };
    if (!address) return wrong();
    const int shift = text.find(':') == std::string::npos ? kMappedBits : 0;
    Block block{*address, 128};
    if (slash != std::string::npos) {
      const auto bits = parse_digits(std::string_view(text).substr(slash + 1));
      if (!bits || *bits > 128 - shift) return wrong();
      block.prefix = static_cast<int>(*bits) + shift;
    }
    proxies.blocks_.push_back(block);
  }
  return proxies;
}

bool TrustedProxies::contains(std::string_view address) const {
  if (blocks_.empty()) return false;
  const auto bytes = parse_address(address);
  if (!bytes) return false;
  for (const Block& block : blocks_) {
    if (same_prefix(*bytes, block.address, block.prefix)) return true;
  }
  return false;
}

Client client_of(const HttpRequest& request, const TrustedProxies& proxies) {
  const auto peer = parse_address(request.remote);
  Client client{peer ? address_text(*peer) : request.remote, false};
  if (!proxies.contains(request.remote)) return client;
  client.forwarded_trusted = true;
  const auto lines = request.headers.all("X-Forwarded-For");
  for (auto line = lines.rbegin(); line != lines.rend(); ++line) {
    const auto entries = split(*line, ',');
    for (auto entry = entries.rbegin(); entry != entries.rend(); ++entry) {
      const auto address = parse_entry(trim(*entry));
      if (!address) return client;
      client.address = address_text(*address);
      if (!proxies.contains(client.address)) return client;
    }
  }
  return client;
}

std::string network_of(std::string_view address) {
  auto bytes = parse_address(address);
  if (!bytes) return std::string(address);
  if (!is_mapped(*bytes)) std::fill(bytes->begin() + bytes->size() / 2, bytes->end(), std::uint8_t{0});
  return address_text(*bytes);
}

}  // namespace hookonce
