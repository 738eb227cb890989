#include "http/client_answer.h"

#include <gtest/gtest.h>

namespace hookonce {
namespace {

TEST(ClientAnswer, KeepsRepeatedAndEmptyHeadersInOrder) {
  ClientAnswer answer(100);
  for (const char* line : {"HTTP/1.1 204 No Content\r\n", "A: 1\r\n", "Empty:\r\n", "a:  2 \r\n", "\r\n"}) {
    ASSERT_FALSE(answer.complete_head());
    ASSERT_TRUE(answer.take_line(line));
  }
  EXPECT_TRUE(answer.complete_head());
  EXPECT_EQ(answer.status(), 204);
  EXPECT_EQ(answer.take_headers(), (Headers{{"A", "1"}, {"Empty", ""}, {"a", "2"}}));
}

TEST(ClientAnswer, SkipsProvisionalHeadsAndTheirHeaders) {
  ClientAnswer answer(100);
  for (const char* line :
       {"HTTP/1.1 103 Early Hints\r\n", "Link: x\r\n", "\r\n", "HTTP/1.1 100 Continue\r\n", "\r\n"}) {
    ASSERT_TRUE(answer.take_line(line));
    ASSERT_FALSE(answer.complete_head());
  }
  ASSERT_TRUE(answer.take_line("HTTP/1.1 500 Broken\r\n"));
  ASSERT_TRUE(answer.take_line("\r\n"));
  EXPECT_EQ(answer.status(), 500);
  EXPECT_EQ(answer.take_headers(), Headers());
}

TEST(ClientAnswer, EndlessProvisionalHeadsHaveALimit) {
  ClientAnswer answer(100);
  std::size_t size = 0;
  while (answer.take_line("HTTP/1.1 100 Continue\r\n") && answer.take_line("\r\n")) {
    size += 25;
    ASSERT_LE(size, kAnswerHeadMax);
  }
  EXPECT_TRUE(answer.cut());
  EXPECT_FALSE(answer.complete_head());
}

TEST(ClientAnswer, KeepsTheBodyUpToItsLimitAndNoByteMore) {
  ClientAnswer answer(5);
  EXPECT_TRUE(answer.take_body("abc"));
  EXPECT_TRUE(answer.take_body("de"));
  EXPECT_FALSE(answer.cut());
  EXPECT_FALSE(answer.take_body("f"));
  EXPECT_TRUE(answer.cut());
  EXPECT_EQ(answer.take_body_bytes(), "abcde");
}

}  // namespace
}  // namespace hookonce
