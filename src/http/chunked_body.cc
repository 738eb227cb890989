#include "http/chunked_body.h"

#include <algorithm>

namespace hookonce {
namespace {

// 15 hexadecimal digits hold every size that can be meant and no overflow.
constexpr int kSizeDigitsMax = 15;
// Nobody uses extensions, and signed ones of object stores have some 90 bytes.
constexpr std::size_t kSizeLineMax = 1024;
constexpr std::size_t kTrailersMax = 8192;

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

bool is_text(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte >= 0x20 && byte != 0x7f) || byte == '\t';
}

}  // namespace

ChunkState ChunkedBody::next(std::string_view& input, std::string_view& data) {
  while (!input.empty()) {
    if (part_ == Part::kData) {
      const auto bytes = static_cast<std::size_t>(std::min<std::uint64_t>(left_, input.size()));
      data = input.substr(0, bytes);
      input.remove_prefix(bytes);
      left_ -= bytes;
      if (left_ == 0) part_ = Part::kDataEnd;
      return ChunkState::kData;
    }
    const char c = input.front();
    input.remove_prefix(1);
    if (!read_byte(c)) return ChunkState::kMalformed;
    if (done_) return ChunkState::kDone;
  }
  return ChunkState::kNeedMore;
}

bool ChunkedBody::read_byte(char c) {
  switch (part_) {
    case Part::kSize:
      return read_size(c);
    case Part::kExtension:
      if (c == '\r') part_ = Part::kSizeEnd;
      return ++line_bytes_ <= kSizeLineMax && (c == '\r' || is_text(c));
    case Part::kSizeEnd:
      return end_size_line(c);
    case Part::kDataEnd:
      part_ = Part::kDataEndLf;
      return c == '\r';
    case Part::kDataEndLf:
      part_ = Part::kSize;
      return c == '\n';
    default:
      return read_trailer(c);
  }
}

bool ChunkedBody::read_size(char c) {
  const int digit = hex_digit(c);
  if (digit >= 0) {
    left_ = left_ * 16 + static_cast<std::uint64_t>(digit);
    return ++digits_ <= kSizeDigitsMax;
  }
  if (digits_ == 0) return false;
  part_ = c == '\r' ? Part::kSizeEnd : Part::kExtension;
  return c == '\r' || c == ';';
}

bool ChunkedBody::end_size_line(char c) {
  part_ = left_ > 0 ? Part::kData : Part::kTrailerStart;
  digits_ = 0;
  line_bytes_ = 0;
  return c == '\n';
}

bool ChunkedBody::read_trailer(char c) {
  if (++trailer_bytes_ > kTrailersMax) return false;
  switch (part_) {
    case Part::kTrailerStart:
      part_ = c == '\r' ? Part::kEndLf : Part::kTrailer;
      return c == '\r' || (is_text(c) && c != ' ' && c != '\t');
    case Part::kTrailer:
      if (c == '\r') part_ = Part::kTrailerLf;
      return c == '\r' || is_text(c);
    case Part::kTrailerLf:
      part_ = Part::kTrailerStart;
      return c == '\n';
    default:  // kEndLf
      done_ = true;
      return c == '\n';
  }
}

}  // namespace hookonce
