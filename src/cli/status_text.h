// What `hookonce status` prints, made of what the admin API answers. Pure.
#pragma once

#include <string>

#include "base/json.h"

namespace hookonce {

// From GET /api/v1/stats and the items of GET /api/v1/destinations and GET /api/v1/sources. Lines of at most 80
// columns, but for names that are longer.
std::string status_text(const json::object& stats, const json::array& sources, const json::array& destinations,
                        bool colour);

}  // namespace hookonce
