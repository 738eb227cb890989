// The OpenAPI 3.1 description of the admin API, as JSON text.
#pragma once

#include <string_view>

namespace hookonce {

std::string_view openapi_document();

}  // namespace hookonce
