// What came of a read or write that never blocks.
#pragma once

#include <cstddef>

namespace hookonce {

enum class Io {
  kDone,       // some bytes went through
  kWantRead,   // wait until the socket can be read, then call again
  kWantWrite,  // the same for writing
  kEnd,        // the peer will send no more
  kFailed,     // the connection is dead
};

struct IoOutcome {
  Io io = Io::kFailed;
  std::size_t bytes = 0;  // valid with kDone
};

}  // namespace hookonce
