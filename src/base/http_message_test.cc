#include "base/http_message.h"

#include <gtest/gtest.h>

#include "base/json.h"
#include "test/support/asserts.h"

namespace hookonce {
namespace {

TEST(HeadersTest, NamesAreFoundInAnyLetterCase) {
  const Headers headers{{"X-Id", "1"}, {"x-ID", "2"}, {"Other", ""}};
  EXPECT_EQ(headers.first("x-id"), "1");
  EXPECT_EQ(headers.all("X-ID"), (std::vector<std::string_view>{"1", "2"}));
  EXPECT_TRUE(headers.has("other"));
  EXPECT_EQ(headers.first("other"), "");
  EXPECT_FALSE(headers.has("x-i"));
  EXPECT_EQ(headers.first("x-idx"), std::nullopt);
}

TEST(HeadersTest, RemoveTakesAllOfANameAndKeepsTheOrderOfTheRest) {
  Headers headers{{"A", "1"}, {"b", "2"}, {"a", "3"}, {"C", "4"}};
  headers.remove("A");
  EXPECT_EQ(headers, (Headers{{"b", "2"}, {"C", "4"}}));
  headers.remove("missing");
  EXPECT_EQ(headers.items().size(), 2u);
}

TEST(HeadersTest, SetReplacesTheFirstInPlaceAndRemovesTheOthers) {
  Headers headers{{"x", "0"}, {"a", "1"}, {"y", "2"}, {"A", "3"}, {"a", "4"}};
  headers.set("A", "new");
  EXPECT_EQ(headers, (Headers{{"x", "0"}, {"A", "new"}, {"y", "2"}}));
  headers.set("Z", "last");
  EXPECT_EQ(headers.items().back(), (Header{"Z", "last"}));
}

TEST(ReasonPhrase, EveryStatusThatTheContractNamesHasOne) {
  for (const int status :
       {200, 202, 204, 400, 401, 403, 404, 405, 408, 410, 413, 415, 417, 421, 422, 429, 431, 500, 503}) {
    EXPECT_NE(reason_phrase(status), "Unknown") << status;
  }
  EXPECT_EQ(reason_phrase(599), "Unknown");
  EXPECT_EQ(reason_phrase(200), "OK");
}

TEST(ErrorResponse, HasTheShapeOfEveryErrorAnswer) {
  const HttpResponse response =
      error_response(401, "signature_mismatch", "no active secret of source \"stripe\"\nmade it");
  EXPECT_EQ(response.status, 401);
  EXPECT_EQ(response.headers.first("content-type"), "application/json");
  EXPECT_EQ(response.body,
            R"({"error":{"code":"signature_mismatch","message":"no active secret of source \"stripe\"\nmade it"}})");
}

TEST(ErrorResponse, BytesOfAStrangerMakeValidJson) {
  const HttpResponse response = error_response(400, "malformed", "bad \xFF byte");
  const auto parsed = parse_json(response.body);
  ASSERT_OK(parsed);
  EXPECT_EQ(json_string(parsed->at("error"), "message"), "bad \xEF\xBF\xBD byte");
}

}  // namespace
}  // namespace hookonce
