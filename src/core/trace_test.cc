#include "core/trace.h"

#include <gtest/gtest.h>

namespace hookonce {
namespace {

const std::string kTrace = "4bf92f3577b34da6a3ce929d0e0e4736";
const std::string kParent = "00f067aa0ba902b7";

std::string traced(const std::string& value) {
  const Headers headers{{"Content-Type", "text/plain"}, {"TraceParent", value}};
  return std::string(trace_id(headers));
}

TEST(TraceId, IsReadFromTheHeaderWhateverItsLetterCase) {
  EXPECT_EQ(traced("00-" + kTrace + "-" + kParent + "-01"), kTrace);
  EXPECT_EQ(trace_id({{"Content-Type", "text/plain"}}), "");
}

TEST(TraceId, OfALaterVersionIsReadAsFarAsItIsKnown) {
  EXPECT_EQ(traced("01-" + kTrace + "-" + kParent + "-01-more"), kTrace);
  EXPECT_EQ(traced("01-" + kTrace + "-" + kParent + "-01"), kTrace);
  EXPECT_EQ(traced("01-" + kTrace + "-" + kParent + "-01more"), "");
}

TEST(TraceId, WhatIsNotAsTheStandardSaysIsNone) {
  for (const std::string& value :
       {std::string(), std::string("00"), "00-" + kTrace + "-" + kParent, "00-" + kTrace + "-" + kParent + "-0",
        "00-" + kTrace + "-" + kParent + "-01-more", "ff-" + kTrace + "-" + kParent + "-01",
        "00-" + std::string(32, '0') + "-" + kParent + "-01", "00-" + kTrace + "-" + std::string(16, '0') + "-01",
        "00-4BF92F3577b34da6a3ce929d0e0e4736-" + kParent + "-01", "00_" + kTrace + "_" + kParent + "_01",
        "0x-" + kTrace + "-" + kParent + "-01", "00-" + kTrace + "-" + kParent + "-0x",
        " 00-" + kTrace + "-" + kParent}) {
    EXPECT_EQ(traced(value), "") << value;
  }
}

TEST(TraceId, OfTwoHeadersIsNone) {
  const std::string value = "00-" + kTrace + "-" + kParent + "-01";
  EXPECT_EQ(trace_id({{"traceparent", value}, {"traceparent", value}}), "");
}

}  // namespace
}  // namespace hookonce
