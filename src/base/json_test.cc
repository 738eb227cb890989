#include "base/json.h"

#include <gtest/gtest.h>

#include "base/json_scan.h"
#include "test/support/asserts.h"

namespace hookonce {
namespace {

TEST(Json, ADocumentComesBackAsCompactText) {
  const auto parsed = parse_json(" { \"b\" : [ 1, \"x\", null ], \"a\" : true } ");
  ASSERT_OK(parsed);
  EXPECT_EQ(to_json(*parsed), R"({"b":[1,"x",null],"a":true})");
}

TEST(Json, WhatIsNotOneValidDocumentIsInvalid) {
  for (const char* text : {"", "{", "{} x", "[1,]", "\"\xFF\"", "\xEF\xBB\xBF{}"}) {
    EXPECT_EQ(parse_json(text).code(), Code::kInvalid) << text;
  }
}

TEST(Json, TheStatedDepthIsTheLimit) {
  const auto nested = [](std::size_t levels) { return std::string(levels, '[') + std::string(levels, ']'); };
  EXPECT_OK(parse_json(nested(kJsonDepthMax)));
  EXPECT_FALSE(parse_json(nested(kJsonDepthMax + 1)).ok());
}

TEST(Json, MembersOfAnotherKindAreMissing) {
  const auto parsed = parse_json(R"({"s":"text","n":-3,"u":18446744073709551615,"d":1.5,"t":true,"z":null})");
  ASSERT_OK(parsed);
  EXPECT_EQ(json_string(*parsed, "s"), "text");
  EXPECT_EQ(json_string(*parsed, "n"), std::nullopt);
  EXPECT_EQ(json_string(*parsed, "z"), std::nullopt);
  EXPECT_EQ(json_string(*parsed, "missing"), std::nullopt);
  EXPECT_EQ(json_int(*parsed, "n"), -3);
  EXPECT_EQ(json_int(*parsed, "u"), std::nullopt);
  EXPECT_EQ(json_int(*parsed, "d"), std::nullopt);
  EXPECT_EQ(json_int(*parsed, "s"), std::nullopt);
  EXPECT_EQ(json_string(json::value("not an object"), "s"), std::nullopt);
}

}  // namespace
}  // namespace hookonce
