// Takes the chunked transfer coding apart, piece by piece as bytes arrive; extensions and trailers are bounded and
// dropped.
//
//   ChunkedBody chunks;
//   std::string_view data;
//   while (chunks.next(input, data) == ChunkState::kData) body.append(data);
//
// Strict for the reason that request_head.h gives: sizes are hexadecimal digits alone, every line ends with CR LF, no
// control characters in extensions. Not thread-safe; no I/O.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace hookonce {

enum class ChunkState { kNeedMore, kData, kDone, kMalformed };

class ChunkedBody {
 public:
  // Consumes from the front of `input`. kData: `data` is the next piece of the body, a part of `input`; call again.
  // kNeedMore: `input` is used up. kDone: the body has ended and `input` begins behind it.
  ChunkState next(std::string_view& input, std::string_view& data);

  // What the current chunk announced and has not delivered yet. So a body that is going to be too large is known early.
  std::uint64_t announced() const { return left_; }

 private:
  enum class Part {
    kSize,
    kExtension,
    kSizeEnd,
    kData,
    kDataEnd,
    kDataEndLf,
    kTrailerStart,
    kTrailer,
    kTrailerLf,
    kEndLf
  };
  bool read_byte(char c);
  bool read_size(char c);
  bool end_size_line(char c);
  bool read_trailer(char c);

  Part part_ = Part::kSize;
  std::uint64_t left_ = 0;
  int digits_ = 0;
  std::size_t line_bytes_ = 0;     // of the size line with its extensions
  std::size_t trailer_bytes_ = 0;  // of all trailers
  bool done_ = false;
};

}  // namespace hookonce
