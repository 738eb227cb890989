// What `hookonce store copy` found out, for people and for programs.
#pragma once

#include <string>

#include "app/store_copy.h"
#include "base/json.h"

namespace hookonce {

// REQUIRES, for both: a copy that was not stopped.
std::string copy_text(const CopyReport& report);
json::value copy_json(const CopyReport& report);

}  // namespace hookonce
