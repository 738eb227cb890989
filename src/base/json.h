// JSON trees for the admin API and the command line (Boost.JSON behind it). The hot path uses json_scan.h.
#pragma once

#include <boost/json.hpp>
#include <string>
#include <string_view>

#include "base/result.h"

namespace hookonce {

namespace json = boost::json;

// kInvalid where the text is not one valid JSON document.
Result<json::value> parse_json(std::string_view text);
// Compact text. Strings must be UTF-8: pass bytes of unknown origin through to_utf8() first.
std::string to_json(const json::value& value);

// The member as text / number, or nullopt where it is missing or of another kind.
std::optional<std::string> json_string(const json::value& object, std::string_view name);
std::optional<std::int64_t> json_int(const json::value& object, std::string_view name);

}  // namespace hookonce
