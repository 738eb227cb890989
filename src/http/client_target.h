// What a request names: which host and port to find, and the header lines that go out. Pure; refuses what would go out
// as something else.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/http_message.h"
#include "base/result.h"

namespace hookonce {

// Header lines in curl's notation: "Name: value", and "Name;" for one with an empty value, in the given order. In front
// stand lines that take away what curl would add by itself. Content-Length and Transfer-Encoding are left out: the
// client frames the message. kInvalid where a name or value could not be sent as it is (a line break, a NUL, a colon in
// the name).
Result<std::vector<std::string>> header_lines(const Headers& headers);

// Whether `text` can stand as a method or a header name (RFC 9110, section 5.6.2).
bool is_token(std::string_view text);

// "127.0.0.1:9000", "[::1]:9000": for messages.
std::string endpoint_text(std::string_view host, int port);

// "2001:db8::1" stands in brackets in URLs and in curl's lists; anything else stands as it is.
std::string bracketed(std::string_view address);

}  // namespace hookonce
