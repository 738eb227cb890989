// Hides values in a JSON document and leaves every other byte as it is.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace hookonce {

// A copy of `document` in which each value that a pointer leads to, whatever its kind, is `replacement`, written as a
// JSON string. A component `*` stands for every element of an array and every member of an object. A repeated name
// leads to all of its values, and a name is compared with its escapes read. kInvalid where `document` is not valid JSON
// as a whole. REQUIRES: is_json_pointer(each), none empty; `replacement` needs no escape in JSON.
Result<std::string> redact_json(std::string_view document, const std::vector<std::string>& pointers,
                                std::string_view replacement);

// Whether what lies at `inner` is hidden with what lies at `outer`. `*` in `outer` as above. REQUIRES: as above.
bool json_pointer_covers(std::string_view outer, std::string_view inner);

}  // namespace hookonce
