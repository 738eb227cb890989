#include "store/headers_codec.h"

#include <cstdint>
#include <optional>

namespace hookonce {

namespace {

constexpr std::size_t kLengthSize = 4;  // big-endian

void append(std::string& out, std::string_view text) {
  const auto length = static_cast<std::uint32_t>(text.size());
  for (int shift = 24; shift >= 0; shift -= 8) out.push_back(static_cast<char>((length >> shift) & 0xff));
  out.append(text);
}

std::optional<std::string> take(std::string_view& bytes) {
  if (bytes.size() < kLengthSize) return std::nullopt;
  std::size_t length = 0;
  for (std::size_t i = 0; i < kLengthSize; ++i) length = length << 8 | static_cast<unsigned char>(bytes[i]);
  bytes.remove_prefix(kLengthSize);
  if (bytes.size() < length) return std::nullopt;
  std::string text(bytes.substr(0, length));
  bytes.remove_prefix(length);
  return text;
}

}  // namespace

std::string encode_headers(const Headers& headers) {
  std::size_t size = 0;
  for (const Header& header : headers.items()) size += 2 * kLengthSize + header.name.size() + header.value.size();
  std::string out;
  out.reserve(size);
  for (const Header& header : headers.items()) {
    append(out, header.name);
    append(out, header.value);
  }
  return out;
}

Result<Headers> decode_headers(std::string_view bytes) {
  Headers headers;
  while (!bytes.empty()) {
    auto name = take(bytes);
    auto value = name ? take(bytes) : std::nullopt;
    if (!value) return internal("stored headers are damaged");
    headers.add(std::move(*name), std::move(*value));
  }
  return headers;
}

}  // namespace hookonce
