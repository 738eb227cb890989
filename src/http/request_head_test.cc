#include "http/request_head.h"

#include <gtest/gtest.h>

namespace hookonce {
namespace {

constexpr std::size_t kLimit = 64 * 1024;

struct Parsed {
  HeadState state;
  HttpRequest request;
  RequestFraming framing;
  std::size_t size;
  std::string problem;
};

Parsed parse(std::string_view head, std::size_t limit = kLimit) {
  RequestHeadParser parser(limit);
  Parsed parsed;
  parsed.state = parser.feed(head, parsed.request);
  parsed.framing = parser.framing();
  parsed.size = parser.size();
  parsed.problem = parser.problem();
  return parsed;
}

// A head that is fine but for `lines`.
Parsed parse_with(const std::string& lines) {
  return parse("POST /in HTTP/1.1\r\nHost: a\r\n" + lines + "\r\n");
}

TEST(RequestHead, TakesAUsualRequestApart) {
  const std::string head = "POST /in/slack?a=%20b?c HTTP/1.1\r\nHost: h:1\r\nContent-Length: 12\r\n\r\n";
  const Parsed parsed = parse(head + "body");
  ASSERT_EQ(parsed.state, HeadState::kDone);
  EXPECT_EQ(parsed.size, head.size());
  EXPECT_EQ(parsed.request.method, "POST");
  EXPECT_EQ(parsed.request.path, "/in/slack");
  EXPECT_EQ(parsed.request.query, "a=%20b?c");
  EXPECT_EQ(parsed.framing.content_length, 12u);
  EXPECT_FALSE(parsed.framing.chunked);
  EXPECT_TRUE(parsed.framing.keep_alive);
}

TEST(RequestHead, KeepsOrderLetterCaseEmptyRepeatedAndOldBytesOfHeaders) {
  const Parsed parsed = parse_with("X-b: 2\r\nx-B:\t \r\nEmpty:\r\nX-b:  1 \t\r\nOld: caf\xe9 \xff\r\n");
  ASSERT_EQ(parsed.state, HeadState::kDone) << parsed.problem;
  const Headers expected{{"Host", "a"}, {"X-b", "2"}, {"x-B", ""},
                         {"Empty", ""}, {"X-b", "1"}, {"Old", "caf\xe9 \xff"}};
  EXPECT_EQ(parsed.request.headers, expected);
}

TEST(RequestHead, EveryCutOfTheBytesGivesTheSameHead) {
  const std::string head = "\r\nPOST /p?q HTTP/1.1\r\nHost: a\r\nX: y\r\n\r\n";
  for (std::size_t cut = 0; cut < head.size(); ++cut) {
    RequestHeadParser parser(kLimit);
    HttpRequest request;
    ASSERT_EQ(parser.feed(std::string_view(head).substr(0, cut), request), HeadState::kNeedMore) << cut;
    ASSERT_EQ(parser.feed(head, request), HeadState::kDone) << cut;
    EXPECT_EQ(parser.size(), head.size());
    EXPECT_EQ(request.path, "/p");
    EXPECT_EQ(request.headers, (Headers{{"Host", "a"}, {"X", "y"}}));
  }
}

TEST(RequestHead, EveryCutOfAMalformedHeadIsRefusedAtTheLatestWhenWhole) {
  const std::string head = "POST /p HTTP/1.1\r\nHost: a\r\nX : y\r\n\r\n";
  for (std::size_t cut = 0; cut <= head.size(); ++cut) {
    RequestHeadParser parser(kLimit);
    HttpRequest request;
    const HeadState first = parser.feed(std::string_view(head).substr(0, cut), request);
    if (first == HeadState::kMalformed) continue;
    EXPECT_EQ(parser.feed(head, request), HeadState::kMalformed) << cut;
  }
}

TEST(RequestHead, RefusesBrokenRequestLines) {
  for (const std::string line : {"GET /",
                                 "GET",
                                 "GET  / HTTP/1.1",
                                 "GET /a b HTTP/1.1",
                                 "GET / HTTP/1.1 ",
                                 " GET / HTTP/1.1",
                                 "G@T / HTTP/1.1",
                                 "GET / http/1.1",
                                 "GET / HTTP/1.2",
                                 "GET / HTTP/2.0",
                                 "GET / HTTP/0.9",
                                 "GET / HTTP/1.10",
                                 "GET /\t HTTP/1.1",
                                 "GET a HTTP/1.1",
                                 "CONNECT a:1 HTTP/1.1",
                                 "GET ftp://a/ HTTP/1.1",
                                 "GET http:///p HTTP/1.1",
                                 "GET * HTTP/1.1",
                                 "GET http://u@a/ HTTP/1.1",
                                 "GET /\x7f HTTP/1.1",
                                 "GET /\rb HTTP/1.1"}) {
    EXPECT_EQ(parse(line + "\r\nHost: a\r\n\r\n").state, HeadState::kMalformed) << line;
  }
  EXPECT_EQ(parse(std::string("GET /\0 HTTP/1.1\r\nHost: a\r\n\r\n", 29)).state, HeadState::kMalformed);
}

TEST(RequestHead, RefusesBrokenHeaderLines) {
  for (const std::string lines :
       {"X : y\r\n", "X\r\n", ": y\r\n", "X y: z\r\n", " X: y\r\n", "X: a\r\n b\r\n", "X: a\r\n\tb\r\n", "X:\r\n \r\n",
        "X: a\rb\r\n", "X: a\nY: b\r\n", "X: a\x01\r\n", "X: a\x7f\r\n", "X\xe9: a\r\n", "X: a\r\r\n", "\n"}) {
    EXPECT_EQ(parse_with(lines).state, HeadState::kMalformed) << lines;
  }
  EXPECT_EQ(parse_with(std::string("X: a\0b\r\n", 8)).state, HeadState::kMalformed);
}

TEST(RequestHead, RefusesEveryUnclearLength) {
  for (const std::string lines : {"Content-Length: -1\r\n",
                                  "Content-Length: +1\r\n",
                                  "Content-Length: 0x1\r\n",
                                  "Content-Length:\r\n",
                                  "Content-Length: 1 1\r\n",
                                  "Content-Length: 1, 1\r\n",
                                  "Content-Length: 1.0\r\n",
                                  "Content-Length: 99999999999999999999\r\n",
                                  "Content-Length: 18446744073709551617\r\n",
                                  "Content-Length: 1\r\ncontent-length: 2\r\n",
                                  "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n",
                                  "Transfer-Encoding: chunked\r\nContent-Length: 0\r\n",
                                  "Transfer-Encoding: gzip\r\n",
                                  "Transfer-Encoding: gzip, chunked\r\n",
                                  "Transfer-Encoding: chunked, identity\r\n",
                                  "Transfer-Encoding:\r\n",
                                  "Transfer-Encoding: identity\r\n",
                                  "Transfer-Encoding: xchunked\r\n",
                                  "Transfer-Encoding: \"chunked\"\r\n",
                                  "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
                                  "Transfer-Encoding: chunked;q=1\r\n"}) {
    const Parsed parsed = parse_with(lines);
    EXPECT_EQ(parsed.state, HeadState::kMalformed) << lines;
    EXPECT_FALSE(parsed.problem.empty());
  }
  EXPECT_EQ(parse("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n").state, HeadState::kMalformed);
}

TEST(RequestHead, TakesEqualLengthsAndChunkedInAnyLetterCase) {
  EXPECT_EQ(parse_with("Content-Length: 7\r\nContent-Length: 7\r\n").framing.content_length, 7u);
  EXPECT_EQ(parse_with("Content-Length: 0\r\n").framing.has_body(), false);
  EXPECT_TRUE(parse_with("transfer-encoding: CHUNKED\r\n").framing.chunked);
}

TEST(RequestHead, WantsExactlyOneHost) {
  EXPECT_EQ(parse("GET / HTTP/1.1\r\n\r\n").state, HeadState::kMalformed);
  EXPECT_EQ(parse_with("host: a\r\n").state, HeadState::kMalformed);
  EXPECT_EQ(parse("GET / HTTP/1.1\r\nHost: a b\r\n\r\n").state, HeadState::kMalformed);
  EXPECT_EQ(parse("GET / HTTP/1.1\r\nHost: a,b\r\n\r\n").state, HeadState::kMalformed);
  EXPECT_EQ(parse("GET / HTTP/1.1\r\nHost:\r\n\r\n").state, HeadState::kDone);
  EXPECT_EQ(parse("GET / HTTP/1.0\r\n\r\n").state, HeadState::kDone);
}

TEST(RequestHead, TakesPathAndHostFromAnAbsoluteTarget) {
  const Parsed parsed = parse("GET HTTP://b:8/p//q?r HTTP/1.1\r\nHost: a\r\n\r\n");
  ASSERT_EQ(parsed.state, HeadState::kDone) << parsed.problem;
  EXPECT_EQ(parsed.request.path, "/p//q");
  EXPECT_EQ(parsed.request.query, "r");
  EXPECT_EQ(parsed.request.headers.first("host"), "b:8");
  EXPECT_EQ(parse("GET http://b?r HTTP/1.1\r\nHost: a\r\n\r\n").request.path, "/");
}

TEST(RequestHead, ConnectionLivesOnByVersionAndWish) {
  EXPECT_TRUE(parse_with("").framing.keep_alive);
  EXPECT_FALSE(parse_with("Connection: x, Close\r\n").framing.keep_alive);
  EXPECT_FALSE(parse_with("Connection: keep-alive\r\nConnection: close\r\n").framing.keep_alive);
  EXPECT_FALSE(parse("GET / HTTP/1.0\r\n\r\n").framing.keep_alive);
  EXPECT_TRUE(parse("GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n").framing.keep_alive);
}

TEST(RequestHead, NotesWhatIsExpected) {
  using Expect = RequestFraming::Expect;
  EXPECT_EQ(parse_with("").framing.expect, Expect::kNone);
  EXPECT_EQ(parse_with("Expect: 100-Continue\r\n").framing.expect, Expect::kContinue);
  EXPECT_EQ(parse_with("Expect: 200-ok\r\n").framing.expect, Expect::kOther);
  EXPECT_EQ(parse_with("Expect: x\r\nExpect: 100-continue\r\n").framing.expect, Expect::kOther);
  EXPECT_EQ(parse("GET / HTTP/1.0\r\nExpect: 100-continue\r\n\r\n").framing.expect, Expect::kNone);
}

TEST(RequestHead, LimitCountsEveryByteOfTheHead) {
  const std::string head = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
  EXPECT_EQ(parse(head, head.size()).state, HeadState::kDone);
  EXPECT_EQ(parse(head, head.size() - 1).state, HeadState::kTooLarge);
  EXPECT_EQ(parse("GET /" + std::string(kLimit, 'a')).state, HeadState::kTooLarge);
  EXPECT_EQ(parse("GET /" + std::string(kLimit - 6, 'a')).state, HeadState::kNeedMore);
  std::string many = "GET / HTTP/1.1\r\nHost: a\r\n";
  for (int i = 0; i < 3000; ++i) many += "a:\r\n";
  EXPECT_EQ(parse(many + "\r\n").state, HeadState::kTooLarge);
}

TEST(RequestHead, RefusesAnotherProtocolAtItsFirstByte) {
  EXPECT_EQ(parse("\x16\x03\x01").state, HeadState::kMalformed);
  EXPECT_EQ(parse(std::string(1, '\0')).state, HeadState::kMalformed);
  EXPECT_EQ(parse("\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n").state, HeadState::kMalformed);
}

}  // namespace
}  // namespace hookonce
