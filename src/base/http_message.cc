#include "base/http_message.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/json.h"

namespace hookonce {
namespace {

auto named(std::string_view name) {
  return [name](const Header& header) { return equals_ignore_case(header.name, name); };
}

}  // namespace

void Headers::remove(std::string_view name) {
  std::erase_if(items_, named(name));
}

void Headers::set(std::string_view name, std::string value) {
  const auto first = std::find_if(items_.begin(), items_.end(), named(name));
  if (first == items_.end()) return add(std::string(name), std::move(value));
  first->name = name;
  first->value = std::move(value);
  items_.erase(std::remove_if(first + 1, items_.end(), named(name)), items_.end());
}

std::optional<std::string_view> Headers::first(std::string_view name) const {
  const auto found = std::find_if(items_.begin(), items_.end(), named(name));
  if (found == items_.end()) return std::nullopt;
  return found->value;
}

std::vector<std::string_view> Headers::all(std::string_view name) const {
  std::vector<std::string_view> values;
  for (const Header& header : items_) {
    if (equals_ignore_case(header.name, name)) values.push_back(header.value);
  }
  return values;
}

std::string_view reason_phrase(int status) {
  switch (status) {
    // clang-format off
    case 100: return "Continue";
    case 101: return "Switching Protocols";
    case 200: return "OK";
    case 201: return "Created";
    case 202: return "Accepted";
    case 203: return "Non-Authoritative Information";
    case 204: return "No Content";
    case 205: return "Reset Content";
    case 206: return "Partial Content";
    case 300: return "Multiple Choices";
    case 301: return "Moved Permanently";
    case 302: return "Found";
    case 303: return "See Other";
    case 304: return "Not Modified";
    case 307: return "Temporary Redirect";
    case 308: return "Permanent Redirect";
    case 400: return "Bad Request";
    case 401: return "Unauthorized";
    case 402: return "Payment Required";
    case 403: return "Forbidden";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 406: return "Not Acceptable";
    case 408: return "Request Timeout";
    case 409: return "Conflict";
    case 410: return "Gone";
    case 411: return "Length Required";
    case 412: return "Precondition Failed";
    case 413: return "Content Too Large";
    case 414: return "URI Too Long";
    case 415: return "Unsupported Media Type";
    case 416: return "Range Not Satisfiable";
    case 417: return "Expectation Failed";
    case 421: return "Misdirected Request";
    case 422: return "Unprocessable Content";
    case 425: return "Too Early";
    case 426: return "Upgrade Required";
    case 428: return "Precondition Required";
    case 429: return "Too Many Requests";
    case 431: return "Request Header Fields Too Large";
    case 500: return "Internal Server Error";
    case 501: return "Not Implemented";
    case 502: return "Bad Gateway";
    case 503: return "Service Unavailable";
    case 504: return "Gateway Timeout";
    case 505: return "HTTP Version Not Supported";
    case 507: return "Insufficient Storage";
    default: return "Unknown";
      // clang-format on
  }
}

HttpResponse error_response(int status, std::string_view code, std::string_view message) {
  json::object error;
  error["code"] = code;
  error["message"] = to_utf8(message);  // a message may quote what a stranger sent
  HttpResponse response;
  response.status = status;
  response.headers.add("Content-Type", "application/json");
  response.body = to_json(json::object{{"error", std::move(error)}});
  return response;
}

}  // namespace hookonce
