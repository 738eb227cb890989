// Who sent a request: the peer, or the client that a trusted proxy names.
//
// X-Forwarded-For is read from the right, because each proxy appends the peer that it saw: what stands left of the last
// trusted proxy is the sender's own invention. Pure and thread-safe.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/http_message.h"
#include "base/result.h"

namespace hookonce {

class TrustedProxies {
 public:
  // Addresses and CIDR blocks: "10.0.0.0/8", "127.0.0.1", "fd00::/8". kInvalid names the first that is neither.
  static Result<TrustedProxies> parse(const std::vector<std::string>& texts);

  // False also for what is no address.
  bool contains(std::string_view address) const;

 private:
  struct Block {
    std::array<std::uint8_t, 16> address{};  // IPv4 as ::ffff:a.b.c.d, so that both spellings of one host are one
    int prefix = 0;
  };
  std::vector<Block> blocks_;
};

struct Client {
  std::string address;
  bool forwarded_trusted = false;  // the peer is a trusted proxy: X-Forwarded-* and Forwarded are its words
};

// The right-most X-Forwarded-For address that is not in the list, where the peer is; else the peer. If all of them are
// in the list it is the left-most; an entry that is no address ends the search at the address before it.
Client client_of(const HttpRequest& request, const TrustedProxies& proxies);

// What one sender can be taken for: an IPv4 address, or the /64 network of an IPv6 one, all of which it owns. Other
// text is given back as it is.
std::string network_of(std::string_view address);

}  // namespace hookonce
