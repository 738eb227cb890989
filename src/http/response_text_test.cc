#include "http/response_text.h"

#include <gtest/gtest.h>

namespace hookonce {
namespace {

const std::string kDate = "Sat, 03 Jan 2026 04:05:06 GMT";

TEST(ResponseText, HasItsOwnHeadersAroundTheGivenOnes) {
  HttpResponse response{200, {{"X", "y"}, {"X", ""}}, "body"};
  EXPECT_EQ(response_text(response, {}, kDate),
            "HTTP/1.1 200 OK\r\nDate: " + kDate + "\r\nX: y\r\nX: \r\nContent-Length: 4\r\n\r\nbody");
  EXPECT_EQ(response_text(response, {.head_request = true, .close = true}, kDate),
            "HTTP/1.1 200 OK\r\nDate: " + kDate + "\r\nX: y\r\nX: \r\nContent-Length: 4\r\nConnection: close\r\n\r\n");
}

TEST(ResponseText, AStatusWithoutBodyHasNoLength) {
  for (int status : {204, 304}) {
    const std::string text = response_text({status, {}, "lost"}, {}, kDate);
    EXPECT_EQ(text.find("Content-Length"), std::string::npos);
    EXPECT_EQ(text.find("lost"), std::string::npos);
  }
}

TEST(ResponseText, AHeaderThatWouldBreakTheFramingIsLeftOut) {
  HttpResponse response{200,
                        {{"A", "x\r\nB: y"},
                         {"C\r\nD", "x"},
                         {"E F", "x"},
                         {"", "x"},
                         {"Content-Length", "9"},
                         {"transfer-encoding", "chunked"},
                         {"G", "\xe9\t"}},
                        ""};
  EXPECT_EQ(response_text(response, {}, kDate),
            "HTTP/1.1 200 OK\r\nDate: " + kDate + "\r\nG: \xe9\t\r\nContent-Length: 0\r\n\r\n");
}

TEST(ResponseText, DateFollowsTheClock) {
  HttpDate date;
  const auto moment = parse_rfc3339("2026-01-03T04:05:06.999Z");
  ASSERT_TRUE(moment);
  EXPECT_EQ(date.at(*moment), kDate);
  EXPECT_EQ(date.at(*moment + std::chrono::milliseconds(1)), "Sat, 03 Jan 2026 04:05:07 GMT");
  EXPECT_EQ(parse_http_date(date.at(*moment)), std::chrono::floor<std::chrono::seconds>(*moment));
}

}  // namespace
}  // namespace hookonce
