#include "admin/answers.h"

#include "base/bytes.h"

namespace hookonce {

namespace {
constexpr std::string_view kRetryAfterSeconds = "5";  // as on the ingest side: time for a store to be opened again
}  // namespace

HttpResponse json_answer(int status, const json::value& value) {
  HttpResponse response;
  response.status = status;
  response.headers.add("Content-Type", "application/json");
  response.body = to_json(value);
  return response;
}

HttpResponse text_answer(std::string_view content_type, std::string text) {
  HttpResponse response;
  response.headers.add("Content-Type", std::string(content_type));
  response.body = std::move(text);
  return response;
}

HttpResponse store_error_answer(const Status& status) {
  switch (status.code()) {
    case Code::kInvalid:
      return error_response(400, "invalid_parameter", status.message());
    case Code::kNotFound:
      return error_response(404, "no_such_event", status.message());
    case Code::kUnavailable:
    case Code::kUnknown:
    case Code::kExhausted: {
      HttpResponse response = error_response(503, "store_unavailable", status.message());
      response.headers.add("Retry-After", std::string(kRetryAfterSeconds));
      return response;
    }
    default:
      return error_response(500, "internal", status.message());
  }
}

json::string json_text(std::string_view bytes) {
  return json::string(to_utf8(bytes));
}

json::value text_or_null(std::string_view bytes) {
  if (bytes.empty()) return nullptr;
  return json_text(bytes);
}

}  // namespace hookonce
