#include "http/client_target.h"

#include <fmt/format.h>

#include "base/bytes.h"

namespace hookonce {
namespace {

bool is_framing(std::string_view name) {
  return equals_ignore_case(name, "Content-Length") || equals_ignore_case(name, "Transfer-Encoding");
}

}  // namespace

bool is_token(std::string_view text) {
  constexpr std::string_view kSymbols = "!#$%&'*+-.^_`|~";
  if (text.empty()) return false;
  for (const char c : text) {
    const bool letter_or_digit = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (!letter_or_digit && kSymbols.find(c) == std::string_view::npos) return false;
  }
  return true;
}

Result<std::vector<std::string>> header_lines(const Headers& headers) {
  // A line without a value takes the header away from curl's own list; a later one of the same name with a value is
  // still sent.
  std::vector<std::string> lines = {"Accept:", "Content-Type:", "Expect:", "Proxy-Connection:", "User-Agent:"};
  for (const Header& header : headers.items()) {
    if (is_framing(header.name)) continue;
    if (!is_token(header.name)) return invalid(fmt::format("header \"{}\": not a header name", to_utf8(header.name)));
    if (header.value.find_first_of(std::string_view("\r\n\0", 3)) != std::string::npos) {
      return invalid(fmt::format("header \"{}\": the value holds a line break or a NUL", header.name));
    }
    const bool blank = trim(header.value).empty();
    lines.push_back(blank ? header.name + ";" : header.name + ": " + header.value);
  }
  return lines;
}

std::string bracketed(std::string_view address) {
  return address.find(':') == std::string_view::npos ? std::string(address) : fmt::format("[{}]", address);
}

std::string endpoint_text(std::string_view host, int port) {
  return fmt::format("{}:{}", bracketed(host), port);
}

}  // namespace hookonce
