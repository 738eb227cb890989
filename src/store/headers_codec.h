// Headers as bytes for a store: each name and value with its length before it, in order, so that any bytes survive.
#pragma once

#include <string>
#include <string_view>

#include "base/http_message.h"
#include "base/result.h"

namespace hookonce {

std::string encode_headers(const Headers& headers);
Result<Headers> decode_headers(
    std::string_view bytes);  // kInternal where the bytes are not what encode_headers() makes

}  // namespace hookonce
