#include "cli/captured_request.h"

#include <gtest/gtest.h>

#include "test/support/asserts.h"

namespace hookonce {
namespace {

TEST(CapturedRequest, ReadsEitherLineEnd) {
  for (const char* text : {"POST /in/stripe?a=1 HTTP/1.1\r\nHost: h\r\nX-Id:  7 \r\n\r\n{\"a\":\r\n1}",
                           "POST /in/stripe?a=1 HTTP/1.1\nHost: h\nX-Id:  7 \n\n{\"a\":\r\n1}"}) {
    auto request = parse_captured_request(text);
    ASSERT_OK(request);
    EXPECT_EQ(request->method, "POST");
    EXPECT_EQ(request->path, "/in/stripe");
    EXPECT_EQ(request->query, "a=1");
    EXPECT_EQ(request->headers.first("x-id"), "7");
    EXPECT_EQ(request->body, "{\"a\":\r\n1}");
  }
}

TEST(CapturedRequest, ContentLengthCutsWhatAnEditorAdded) {
  auto request = parse_captured_request("POST / HTTP/1.1\nContent-Length: 2\n\n{}\n");
  ASSERT_OK(request);
  EXPECT_EQ(request->body, "{}");
}

TEST(CapturedRequest, BodyMayHoldAnything) {
  const std::string body("\n\n\0\xff\r\n\r\n", 8);
  auto request = parse_captured_request("POST / HTTP/1.1\r\n\r\n" + body);
  ASSERT_OK(request);
  EXPECT_EQ(request->body, body);
}

TEST(CapturedRequest, ChunkedBodyIsPutTogetherUnlessItWasAlready) {
  auto chunked = parse_captured_request(
      "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n{\"a\r\n4\r\n\":1}\r\n0\r\n\r\n");
  ASSERT_OK(chunked);
  EXPECT_EQ(chunked->body, "{\"a\":1}");
  auto whole = parse_captured_request("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n{\"a\":1}");
  ASSERT_OK(whole);
  EXPECT_EQ(whole->body, "{\"a\":1}");
}

TEST(CapturedRequest, AbsoluteTargetAndMissingBodyAreRead) {
  auto request = parse_captured_request("POST https://hooks.example.com/in?x HTTP/1.1\nHost: h");
  ASSERT_OK(request);
  EXPECT_EQ(request->path, "/in");
  EXPECT_EQ(request->query, "x");
  EXPECT_EQ(request->body, "");
}

TEST(CapturedRequest, WhatIsNoneIsNamed) {
  for (const char* text : {"", "{\"id\":1}", "POST /\n\n", "POST / HTTP/1.1\n{\"id\"}\n\n",
                           "POST / HTTP/1.1\nContent-Length: 9\n\n{}", "POST / HTTP/1.1\nContent-Length: x\n\n{}"}) {
    auto request = parse_captured_request(text);
    EXPECT_EQ(request.code(), Code::kInvalid) << text;
  }
}

}  // namespace
}  // namespace hookonce
