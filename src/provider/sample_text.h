// Pieces of sample requests: ids that look like a provider's, and JSON text around given values.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/clock.h"

namespace hookonce {

// `length` letters and digits made of `seed`: equal seeds give equal text, and different ones do not collide in
// practice. REQUIRES: length <= 32
std::string seeded_text(std::string_view seed, std::size_t length);

// When a sample event says that it happened: of equal seeds the same, so that a copy that is sent later has the same
// bytes, as a provider's own has. Within the days before 1790000000, which is in September 2026.
Time sample_time(std::string_view seed);

// The text as a JSON string with its quotes. Bytes that are not UTF-8 become U+FFFD.
std::string json_quoted(std::string_view text);

}  // namespace hookonce
