// Files that commands read whole: bodies, captured requests, vectors.
#pragma once

#include <cstddef>
#include <string>

#include "base/result.h"
#include "core/config.h"

namespace hookonce {

inline constexpr std::size_t kInputFileMax = 64 * kMiB;  // more than any provider sends, several times over

// The bytes as they are. kNotFound where the file can't be read, kInvalid where it is larger than kInputFileMax.
Result<std::string> read_input_file(const std::string& path);

}  // namespace hookonce
