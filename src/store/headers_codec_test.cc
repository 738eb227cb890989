#include "store/headers_codec.h"

#include <gtest/gtest.h>

#include "test/support/asserts.h"

namespace hookonce {
namespace {

TEST(HeadersCodec, AnyBytesSurviveInOrder) {
  const Headers headers{{"A", ""}, {"a", std::string("\0\xff", 2)}, {"A", std::string(70000, 'x')}, {"", ""}};
  EXPECT_EQ(decode_headers(encode_headers(headers)).value(), headers);
  EXPECT_EQ(decode_headers(encode_headers({})).value(), Headers());
}

TEST(HeadersCodec, EveryCutIsFoundOut) {
  const std::string bytes = encode_headers({{"Name", "value"}});
  for (std::size_t length = 1; length < bytes.size(); ++length) {
    EXPECT_EQ(decode_headers(bytes.substr(0, length)).code(), Code::kInternal) << length;
  }
}

}  // namespace
}  // namespace hookonce
