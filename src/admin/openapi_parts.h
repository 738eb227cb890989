// The parts of the OpenAPI description. Kept by hand beside the calls; tests compare them with the routes and with
// real answers.
#pragma once

#include <string_view>

namespace hookonce {

// Members of `paths`, without the braces around them.
std::string_view openapi_paths();
std::string_view openapi_session_paths();
std::string_view openapi_live_paths();
std::string_view openapi_rejected_paths();
std::string_view openapi_components();

}  // namespace hookonce
