#include "cli/captured_request.h"

#include <fmt/format.h>

#include "base/bytes.h"
#include "cli/terminal.h"
#include "http/chunked_body.h"

namespace hookonce {

namespace {

// The next line without its end; `rest` begins behind it.
std::string_view take_line(std::string_view& rest) {
  const std::size_t end = rest.find('\n');
  std::string_view line = rest.substr(0, end);
  rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  return line;
}

Status read_request_line(std::string_view line, HttpRequest& request) {
  const auto words = split(line, ' ');
  if (words.size() != 3 || words[0].empty() || words[1].empty() || words[2].substr(0, 5) != "HTTP/") {
    return invalid(
        fmt::format("its first line must read `POST /path HTTP/1.1`, and is `{}`", printable(line.substr(0, 80))));
  }
  std::string_view target = words[1];
  if (const std::size_t scheme = target.find("://"); scheme != std::string_view::npos && target.front() != '/') {
    const std::size_t path = target.find('/', scheme + 3);
    target = path == std::string_view::npos ? "/" : target.substr(path);
  }
  const std::size_t question = target.find('?');
  request.method = std::string(words[0]);
  request.path = std::string(target.substr(0, question));
  if (question != std::string_view::npos) request.query = std::string(target.substr(question + 1));
  return {};
}

// nullopt where the bytes are not chunked, because the tool that captured them has put them together.
std::optional<std::string> unchunked(std::string_view bytes) {
  ChunkedBody chunks;
  std::string body;
  std::string_view data;
  for (;;) {
    switch (chunks.next(bytes, data)) {
      case ChunkState::kData:
        body.append(data);
        break;
      case ChunkState::kDone:
        return body;
      case ChunkState::kNeedMore:
      case ChunkState::kMalformed:
        return std::nullopt;
    }
  }
}

Result<std::string> read_body(const Headers& headers, std::string_view rest) {
  if (headers.has("Transfer-Encoding")) {
    if (auto body = unchunked(rest)) return std::move(*body);
    return std::string(rest);
  }
  const auto announced = headers.first("Content-Length");
  if (!announced) return std::string(rest);
  const auto length = parse_digits(*announced);
  if (!length) return invalid(fmt::format("its Content-Length `{}` is no number", printable(*announced)));
  if (static_cast<std::size_t>(*length) > rest.size()) {
    return invalid(fmt::format(
        "its body has {} bytes where Content-Length says {}: it was not captured whole, or its line ends were changed",
        rest.size(), *length));
  }
  return std::string(rest.substr(0, static_cast<std::size_t>(*length)));
}

}  // namespace

Result<HttpRequest> parse_captured_request(std::string_view bytes) {
  HttpRequest request;
  HK_TRY(read_request_line(take_line(bytes), request));
  for (;;) {
    if (bytes.empty()) break;  // a request without a body may lack the empty line
    const std::string_view line = take_line(bytes);
    if (line.empty()) break;
    const std::size_t colon = line.find(':');
    if (colon == 0 || colon == std::string_view::npos) {
      return invalid(fmt::format("`{}` is no header line; an empty line must stand before the body",
                                 printable(line.substr(0, 80))));
    }
    request.headers.add(std::string(line.substr(0, colon)), std::string(trim(line.substr(colon + 1))));
  }
  HK_ASSIGN(request.body, read_body(request.headers, bytes));
  return request;
}

}  // namespace hookonce
