// What the operating system allows this process.
#pragma once

#include <cstddef>

namespace hookonce {

// Raises the limit of open files to the most that is allowed without privileges, and says what holds now. Every
// connection and every attempt costs one; the usual soft limit of 1,024 is far below what a gateway needs.
std::size_t raise_open_files_limit();

}  // namespace hookonce
