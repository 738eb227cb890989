// Reads the head of an HTTP/1.x request: strict where leniency lets two programs disagree about where a request ends.
//
//   RequestHeadParser parser(64 * 1024);
//   switch (parser.feed(input, request)) {  // again with the same bytes and more while it says kNeedMore
//     case HeadState::kDone: input.remove_prefix(parser.size()); ...
//   }
//
// Refused as malformed, because proxies and servers read them differently: bare CR or LF, NUL and other controls,
// folded lines, blanks before the colon, Content-Length beside Transfer-Encoding, differing or unusual lengths, any
// transfer coding but `chunked` alone, a missing or repeated Host. Header names and values keep their bytes, letter
// case and order. Not thread-safe; no I/O.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/http_message.h"

namespace hookonce {

enum class HeadState { kNeedMore, kDone, kMalformed, kTooLarge };

// How the request goes on behind its head. Valid after kDone.
struct RequestFraming {
  enum class Expect { kNone, kContinue, kOther };

  std::optional<std::uint64_t> content_length;
  bool chunked = false;
  bool version_1_1 = true;  // else HTTP/1.0
  bool keep_alive = true;   // whether the client lets the connection live on
  Expect expect = Expect::kNone;

  bool has_body() const { return chunked || content_length.value_or(0) > 0; }
};

class RequestHeadParser {
 public:
  explicit RequestHeadParser(std::size_t limit) : limit_(limit) {}

  // `input` begins with the head's first byte and grows from call to call. Fills method, path, query and headers of
  // `request`, which must be the same and untouched until the head ends. Bytes behind the head are not looked at.
  HeadState feed(std::string_view input, HttpRequest& request);
  void reset() { *this = RequestHeadParser(limit_); }

  std::size_t size() const { return line_start_; }            // of the head in bytes; valid after kDone
  const RequestFraming& framing() const { return framing_; }  // valid after kDone
  const char* problem() const { return problem_; }            // what was malformed or too large, for people

 private:
  HeadState malformed(const char* problem);
  HeadState too_large(const char* problem);
  bool read_line(std::string_view line, HttpRequest& request);
  bool read_request_line(std::string_view line, HttpRequest& request);
  bool read_target(std::string_view target, HttpRequest& request);
  bool read_field(std::string_view line, HttpRequest& request);
  bool note_field(std::string_view name, std::string_view value);
  bool note_length(std::string_view value);
  void note_connection(std::string_view value);
  bool finish(HttpRequest& request);

  std::size_t limit_;
  std::size_t line_start_ = 0;  // of the line that is being read
  std::size_t scanned_ = 0;     // up to here no line end has been found
  bool blank_line_skipped_ = false;
  bool request_line_read_ = false;
  bool close_asked_ = false;
  bool keep_alive_asked_ = false;
  int hosts_ = 0;
  std::string authority_;  // of an absolute-form target; takes the place of Host
  RequestFraming framing_;
  const char* problem_ = "";
};

}  // namespace hookonce
