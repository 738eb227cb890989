// The shapes that all answers of the admin API share. Pure.
#pragma once

#include <string>
#include <string_view>

#include "base/http_message.h"
#include "base/json.h"
#include "base/result.h"

namespace hookonce {

HttpResponse json_answer(int status, const json::value& value);
HttpResponse text_answer(std::string_view content_type, std::string text);

// What a failed store call is for the caller: 400 (a cursor that is none), 404, 503 with Retry-After, 500.
HttpResponse store_error_answer(const Status& status);

// Bytes of any origin as a JSON string.
json::string json_text(std::string_view bytes);
// Null where empty.
json::value text_or_null(std::string_view bytes);

}  // namespace hookonce
