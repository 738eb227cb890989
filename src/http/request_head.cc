#include "http/request_head.h"

#include <algorithm>
#include <array>

#include "base/bytes.h"

namespace hookonce {
namespace {

// A header costs far more in memory than on the wire, so that the limit in bytes alone would not bound it well.
constexpr std::size_t kHeadersMax = 2000;
// What most requests have; spares the first few reallocations.
constexpr std::size_t kHeadersUsual = 16;

constexpr std::array<bool, 256> token_characters() {
  std::array<bool, 256> table{};
  for (int c = '0'; c <= '9'; ++c) table[c] = true;
  for (int c = 'a'; c <= 'z'; ++c) table[c] = true;
  for (int c = 'A'; c <= 'Z'; ++c) table[c] = true;
  for (unsigned char c : std::string_view("!#$%&'*+-.^_`|~")) table[c] = true;
  return table;
}
constexpr std::array<bool, 256> kToken = token_characters();

bool is_token_character(char c) {
  return kToken[static_cast<unsigned char>(c)];
}
bool is_token(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_token_character);
}

// Blanks, visible characters and bytes from 0x80 on, which old senders use; no controls but the tab.
bool is_field_character(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte >= 0x20 && byte != 0x7f) || byte == '\t';
}
bool is_target_character(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte > 0x20 && byte != 0x7f;
}

bool is_host(std::string_view value) {
  return value.find_first_of(" \t,/\\@?#") == std::string_view::npos;
}

}  // namespace

HeadState RequestHeadParser::malformed(const char* problem) {
  problem_ = problem;
  return HeadState::kMalformed;
}

HeadState RequestHeadParser::too_large(const char* problem) {
  problem_ = problem;
  return HeadState::kTooLarge;
}

HeadState RequestHeadParser::feed(std::string_view input, HttpRequest& request) {
  // Whoever speaks another protocol should learn it now and not after the time-out.
  if (!input.empty() && !is_token_character(input[0]) && input[0] != '\r') {
    return malformed("the request does not begin with a method");
  }
  for (;;) {
    const std::size_t line_end = input.find('\n', scanned_);
    if (line_end == std::string_view::npos ? input.size() >= limit_ : line_end >= limit_) {
      return too_large("the request line and headers are too large");
    }
    if (line_end == std::string_view::npos) {
      scanned_ = input.size();
      return HeadState::kNeedMore;
    }
    std::string_view line = input.substr(line_start_, line_end - line_start_);
    if (line.empty() || line.back() != '\r') return malformed("a line does not end with CR LF");
    line.remove_suffix(1);
    line_start_ = scanned_ = line_end + 1;

    if (line.empty() && request_line_read_) {
      return finish(request) ? HeadState::kDone : HeadState::kMalformed;
    }
    if (request.headers.items().size() >= kHeadersMax) return too_large("there are too many headers");
    if (!read_line(line, request)) return HeadState::kMalformed;
  }
}

bool RequestHeadParser::read_line(std::string_view line, HttpRequest& request) {
  if (request_line_read_) return read_field(line, request);
  if (line.empty()) {
    // Some clients end a body with a line end too many; RFC 9112 section 2.2 wants one forgiven.
    if (blank_line_skipped_) problem_ = "there are blank lines before the request";
    return !std::exchange(blank_line_skipped_, true);
  }
  request_line_read_ = true;
  request.headers.items().reserve(kHeadersUsual);
  return read_request_line(line, request);
}

bool RequestHeadParser::read_request_line(std::string_view line, HttpRequest& request) {
  problem_ = "the request line is not METHOD TARGET HTTP/1.1";
  const std::size_t first = line.find(' ');
  const std::size_t last = line.rfind(' ');
  if (first == std::string_view::npos || first == last) return false;

  const std::string_view method = line.substr(0, first);
  const std::string_view target = line.substr(first + 1, last - first - 1);
  const std::string_view version = line.substr(last + 1);
  if (!is_token(method)) return false;
  if (target.empty() || !std::all_of(target.begin(), target.end(), is_target_character)) return false;
  if (version != "HTTP/1.1" && version != "HTTP/1.0") {
    problem_ = "the version is neither HTTP/1.1 nor HTTP/1.0";
    return false;
  }
  framing_.version_1_1 = version == "HTTP/1.1";
  request.method = method;
  return read_target(target, request);
}

bool RequestHeadParser::read_target(std::string_view target, HttpRequest& request) {
  if (target[0] != '/' && !(target == "*" && request.method == "OPTIONS")) {
    const std::size_t scheme_end = target.find("://");
    const std::string_view scheme = target.substr(0, scheme_end);
    if (scheme_end == std::string_view::npos ||
        !(equals_ignore_case(scheme, "http") || equals_ignore_case(scheme, "https"))) {
      problem_ = "the request target is neither a path nor an http URL";
      return false;
    }
    target.remove_prefix(scheme_end + 3);
    const std::size_t authority_end = std::min(target.find_first_of("/?"), target.size());
    authority_ = target.substr(0, authority_end);
    if (authority_.empty() || !is_host(authority_)) {
      problem_ = "the URL in the request line names no host";
      return false;
    }
    target.remove_prefix(authority_end);
  }
  const std::size_t question = target.find('?');
  request.path = target.substr(0, question);
  if (request.path.empty()) request.path = "/";
  if (question != std::string_view::npos) request.query = target.substr(question + 1);
  return true;
}

bool RequestHeadParser::read_field(std::string_view line, HttpRequest& request) {
  if (line[0] == ' ' || line[0] == '\t') {
    problem_ = "a header line is folded or begins with a blank";
    return false;
  }
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos || !is_token(line.substr(0, colon))) {
    problem_ = "a header line is not NAME: VALUE";
    return false;
  }
  const std::string_view name = line.substr(0, colon);
  const std::string_view value = trim(line.substr(colon + 1));
  if (!std::all_of(value.begin(), value.end(), is_field_character)) {
    problem_ = "a header value has a control character";
    return false;
  }
  if (!note_field(name, value)) return false;
  request.headers.add(std::string(name), std::string(value));
  return true;
}

// The few headers that decide how the connection goes on; the length is compared first because most headers are none of
// them.
bool RequestHeadParser::note_field(std::string_view name, std::string_view value) {
  switch (name.size()) {
    case 4:
      if (!equals_ignore_case(name, "host")) return true;
      problem_ = "the Host header is repeated or no host";
      return ++hosts_ == 1 && is_host(value);
    case 6:
      if (!equals_ignore_case(name, "expect")) return true;
      if (!equals_ignore_case(value, "100-continue")) {
        framing_.expect = RequestFraming::Expect::kOther;
      } else if (framing_.expect == RequestFraming::Expect::kNone) {
        framing_.expect = RequestFraming::Expect::kContinue;
      }
      return true;
    case 10:
      if (equals_ignore_case(name, "connection")) note_connection(value);
      return true;
    case 14:
      return !equals_ignore_case(name, "content-length") || note_length(value);
    case 17:
      if (!equals_ignore_case(name, "transfer-encoding")) return true;
      problem_ = "the transfer coding is not chunked alone";
      return equals_ignore_case(value, "chunked") && !std::exchange(framing_.chunked, true);
    default:
      return true;
  }
}

bool RequestHeadParser::note_length(std::string_view value) {
  const auto length = parse_digits(value);
  if (!length) {
    problem_ = "Content-Length is no plain number";
    return false;
  }
  const auto bytes = static_cast<std::uint64_t>(*length);
  if (framing_.content_length && *framing_.content_length != bytes) {
    problem_ = "two Content-Length headers differ";
    return false;
  }
  framing_.content_length = bytes;
  return true;
}

void RequestHeadParser::note_connection(std::string_view value) {
  for (std::string_view option : split(value, ',')) {
    option = trim(option);
    if (equals_ignore_case(option, "close")) close_asked_ = true;
    if (equals_ignore_case(option, "keep-alive")) keep_alive_asked_ = true;
  }
}

bool RequestHeadParser::finish(HttpRequest& request) {
  if (framing_.chunked && framing_.content_length) {
    problem_ = "Content-Length stands beside Transfer-Encoding";
    return false;
  }
  if (framing_.chunked && !framing_.version_1_1) {
    problem_ = "HTTP/1.0 has no Transfer-Encoding";
    return false;
  }
  if (framing_.version_1_1 && hosts_ == 0) {
    problem_ = "the Host header is missing";
    return false;
  }
  // RFC 9112 section 3.2.2: the host of an absolute target outranks the header.
  if (!authority_.empty()) request.headers.set("Host", authority_);
  // RFC 9110 section 10.1.1: an HTTP/1.0 client can't mean it.
  if (!framing_.version_1_1) framing_.expect = RequestFraming::Expect::kNone;
  framing_.keep_alive = !close_asked_ && (framing_.version_1_1 || keep_alive_asked_);
  return true;
}

}  // namespace hookonce
