#include "http/client_address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string>

namespace hookonce {
namespace {

using V4 = std::array<std::uint8_t, 4>;
using V6 = std::array<std::uint8_t, 16>;

struct Block4 {
  V4 prefix;
  int bits;
};

// IANA's special-purpose registry for IPv4: what is not reachable from everywhere, or is not one host.
constexpr Block4 kNotPublic4[] = {
    {{0, 0, 0, 0}, 8},         // this host
    {{10, 0, 0, 0}, 8},        // private
    {{100, 64, 0, 0}, 10},     // carrier-grade NAT
    {{127, 0, 0, 0}, 8},       // loopback
    {{168, 63, 129, 16}, 32},  // what one cloud's machines are served by: public by its number only
    {{169, 254, 0, 0}, 16},    // link-local, cloud metadata
    {{172, 16, 0, 0}, 12},     // private
    {{192, 0, 0, 0}, 24},      // protocol assignments
    {{192, 0, 2, 0}, 24},      // documentation
    {{192, 88, 99, 0}, 24},    // 6to4 relays
    {{192, 168, 0, 0}, 16},    // private
    {{198, 18, 0, 0}, 15},     // benchmarks
    {{198, 51, 100, 0}, 24},   // documentation
    {{203, 0, 113, 0}, 24},    // documentation
    {{224, 0, 0, 0}, 4},       // multicast
    {{240, 0, 0, 0}, 4},       // reserved, broadcast
};

struct Block6 {
  V6 prefix;
  int bits;
};

// Only 2000::/3 is handed out at all; these parts of it are not public all the same.
constexpr Block6 kGlobal6 = {{0x20}, 3};
constexpr Block6 kNotPublic6[] = {
    {{0x20, 0x01, 0x00}, 23},        // protocol assignments, Teredo
    {{0x20, 0x01, 0x0d, 0xb8}, 32},  // documentation
    {{0x20, 0x02}, 16},              // 6to4: an IPv4 address in disguise, and nobody routes it any more
    {{0x3f, 0xff, 0x00}, 20},        // documentation
};

// An IPv4 address stands in the last four bytes of these: it decides.
constexpr Block6 kEmbedding6[] = {
    {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff}, 96},  // mapped
    {{0x00, 0x64, 0xff, 0x9b}, 96},                    // NAT64
};

template <std::size_t N>
bool within(const std::array<std::uint8_t, N>& address, const std::array<std::uint8_t, N>& prefix, int bits) {
  const std::size_t whole = static_cast<std::size_t>(bits) / 8;
  if (!std::equal(prefix.begin(), prefix.begin() + whole, address.begin())) return false;
  if (bits % 8 == 0) return true;
  const auto mask = static_cast<std::uint8_t>(0xff << (8 - bits % 8));
  return (address[whole] & mask) == (prefix[whole] & mask);
}

bool is_public(const V4& address) {
  return std::none_of(std::begin(kNotPublic4), std::end(kNotPublic4),
                      [&](const Block4& block) { return within(address, block.prefix, block.bits); });
}

bool is_public(const V6& address) {
  for (const Block6& block : kEmbedding6) {
    if (within(address, block.prefix, block.bits))
      return is_public(V4{address[12], address[13], address[14], address[15]});
  }
  if (!within(address, kGlobal6.prefix, kGlobal6.bits)) return false;
  return std::none_of(std::begin(kNotPublic6), std::end(kNotPublic6),
                      [&](const Block6& block) { return within(address, block.prefix, block.bits); });
}

}  // namespace

bool is_public_address(std::string_view text) {
  const std::string terminated(text);
  if (terminated.size() != std::strlen(terminated.c_str())) return false;
  V4 v4{};
  if (inet_pton(AF_INET, terminated.c_str(), v4.data()) == 1) return is_public(v4);
  V6 v6{};
  if (inet_pton(AF_INET6, terminated.c_str(), v6.data()) == 1) return is_public(v6);
  return false;
}

bool is_public_address(const sockaddr& address) {
  // Copied out, because the bytes behind a sockaddr need not be aligned for the longer types.
  if (address.sa_family == AF_INET) {
    sockaddr_in in{};
    std::memcpy(&in, &address, sizeof in);
    V4 v4{};
    std::memcpy(v4.data(), &in.sin_addr, v4.size());
    return is_public(v4);
  }
  if (address.sa_family == AF_INET6) {
    sockaddr_in6 in6{};
    std::memcpy(&in6, &address, sizeof in6);
    V6 v6{};
    std::memcpy(v6.data(), &in6.sin6_addr, v6.size());
    return is_public(v6);
  }
  return false;
}

}  // namespace hookonce
