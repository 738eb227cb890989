// A captured HTTP/1.1 request as text: request line, headers, an empty line, the body.
//
// Lenient where capturing tools are: line ends may be CR LF or LF, and a chunked body may be unpacked already. Pure.
#pragma once

#include <string_view>

#include "base/http_message.h"
#include "base/result.h"

namespace hookonce {

// kInvalid names what of it can't be read. The body is what Content-Length says, else everything behind the empty line.
Result<HttpRequest> parse_captured_request(std::string_view bytes);

}  // namespace hookonce
