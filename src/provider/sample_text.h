// Pieces of sample requests: ids that look like a provider's, and JSON text around given values.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace hookonce {

// `length` letters and digits made of `seed`: equal seeds give equal text, and different ones do not collide in
// practice. REQUIRES: length <= 32
std::string seeded_text(std::string_view seed, std::size_t length);

// The text as a JSON string with its quotes. Bytes that are not UTF-8 become U+FFFD.
std::string json_quoted(std::string_view text);

}  // namespace hookonce
