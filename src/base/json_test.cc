#include "base/json.h"

#include <gtest/gtest.h>

#include <cstdlib>

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

TEST(Json, NumbersAreWrittenAsPlainDecimals) {
  const auto written = [](double number) { return to_json(json::value(number)); };
  EXPECT_EQ(written(0.339), "0.339");
  EXPECT_EQ(written(0), "0");
  EXPECT_EQ(written(-1.5), "-1.5");
  EXPECT_EQ(written(1e-7), "0.0000001");
  EXPECT_EQ(written(12345678.25), "12345678.25");
  EXPECT_EQ(written(1e21), "1000000000000000000000");
  for (const double number : {0.1, 1.0 / 3, 5e-324, 1.7976931348623157e308}) {
    EXPECT_EQ(std::strtod(written(number).c_str(), nullptr), number) << written(number);
  }
}

TEST(Json, ANumberAmongOtherThingsChangesNothingElse) {
  const json::value value = {{"a\"b", {1, 2.5, nullptr, true, "x\ny"}}, {"c", json::object()}, {"d", {{"e", 0.25}}}};
  EXPECT_EQ(to_json(value), R"({"a\"b":[1,2.5,null,true,"x\ny"],"c":{},"d":{"e":0.25}})");
  EXPECT_EQ(to_json(json::value({{"a", {1, 2}}})), json::serialize(json::value({{"a", {1, 2}}})));
}

}  // namespace
}  // namespace hookonce
