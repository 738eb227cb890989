#include "cli/input_file.h"

#include <fmt/format.h>

#include <cerrno>
#include <fstream>
#include <system_error>

#include "base/bytes.h"

namespace hookonce {

Result<std::string> read_input_file(const std::string& path) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::string bytes;
  constexpr std::size_t kPiece = 64 * kKiB;
  while (file && bytes.size() <= kInputFileMax) {
    const std::size_t before = bytes.size();
    bytes.resize(before + kPiece);
    file.read(bytes.data() + before, static_cast<std::streamsize>(kPiece));
    bytes.resize(before + static_cast<std::size_t>(file.gcount()));
  }
  if (bytes.size() > kInputFileMax) {
    return invalid(fmt::format("file {} is larger than {}", path, format_size(kInputFileMax)));
  }
  if (!file.eof()) {
    const int reason = errno == 0 ? EIO : errno;
    return not_found(fmt::format("file {} cannot be read: {}", path, std::generic_category().message(reason)));
  }
  return bytes;
}

}  // namespace hookonce
