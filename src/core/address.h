// Addresses and URLs as they stand in a configuration: judged by their text alone, nothing is resolved.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace hookonce {

struct ListenAddress {
  std::string host;          // an IPv4 or IPv6 literal without brackets
  int port = 0;              // 0: a free one
  std::string text() const;  // "127.0.0.1:8080", "[::1]:8080"
  bool operator==(const ListenAddress&) const = default;
};

// "127.0.0.1:8080", "[::1]:8080", and `localhost` for 127.0.0.1. kInvalid says what to write instead.
Result<ListenAddress> parse_listen_address(std::string_view text);

bool is_ip_address(std::string_view text);
bool is_ip_block(std::string_view text);        // "10.0.0.0/8", "fd00::/8"
bool is_loopback(std::string_view address);     // 127.0.0.0/8 or ::1
bool is_any_address(std::string_view address);  // 0.0.0.0 or ::

// http or https with a host, without user, password and fragment. The message never repeats the URL, which may hold a
// token.
Status check_http_url(std::string_view url);

// http with a host and a port, perhaps with user and password in front. Likewise.
Status check_proxy_url(std::string_view url);

}  // namespace hookonce
