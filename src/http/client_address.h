// Whether an address leads out into the public network, judged on the bytes that are about to be connected to.
//
//   is_public_address("10.0.0.1")              false
//   is_public_address("::ffff:169.254.169.254") false: what counts is where it leads
//
// Text in any other notation (decimal, octal, a name, a scope id) is not an address here and so not public. Pure.
#pragma once

#include <string_view>

struct sockaddr;

namespace hookonce {

bool is_public_address(std::string_view text);

// REQUIRES: `address` is as long as its family says. A family other than IPv4 and IPv6 is not public.
bool is_public_address(const sockaddr& address);

}  // namespace hookonce
