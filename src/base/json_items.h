// Where the elements of one array lie in a JSON document: each as the piece of text that it is, so that it can be read,
// hashed or quoted by itself.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace hookonce {

// The elements of the array that `pointer` (RFC 6901) leads to, as views into `document` without the white space around
// them; nullopt where it leads nowhere or not to an array. Of a repeated name the last counts.
// REQUIRES: `document` is valid JSON as a whole (JsonScanner::scan() says so); is_json_pointer(pointer).
std::optional<std::vector<std::string_view>> json_items(std::string_view document, std::string_view pointer);

}  // namespace hookonce
