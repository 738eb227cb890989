// An answer as the bytes that go out: status line, headers, body in one string for one write.
#pragma once

#include <string>

#include "base/clock.h"
#include "base/http_message.h"

namespace hookonce {

// Sat, 03 Jan 2026 04:05:06 GMT. The formatted second is kept, since thousands of answers share it. Not thread-safe.
class HttpDate {
 public:
  const std::string& at(Time wall);

 private:
  std::chrono::sys_seconds second_{};
  std::string text_;
};

struct ResponseForm {
  bool head_request = false;    // the body is left out, its length is not
  bool open_end = false;        // the body's length is unknown: it ends with the connection
  bool close = false;           // Connection: close
  bool say_keep_alive = false;  // an HTTP/1.0 client needs to be told
};

// Adds Content-Length (but for 1xx, 204 and 304), Connection and Date. A header whose name or value could break the
// framing (a line end in a value that came from elsewhere) is left out.
std::string response_text(const HttpResponse& response, const ResponseForm& form, const std::string& date);

}  // namespace hookonce
