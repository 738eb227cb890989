#include "core/config.h"

#include <gtest/gtest.h>

namespace hookonce {
namespace {

TEST(TypePattern, MatchesTheWholeType) {
  struct Case {
    const char* pattern;
    const char* type;
    bool matches;
  };
  const Case cases[] = {
      {"invoice.paid", "invoice.paid", true},
      {"invoice.paid", "invoice.paid_late", false},
      {"invoice.*", "invoice.paid", true},
      {"invoice.*", "invoice.payment.failed", true},
      {"invoice.*", "invoice.", true},
      {"invoice.*", "invoice", false},
      {"*", "", true},
      {"*", "message", true},
      {"", "", true},
      {"", "message", false},
      {"*.paid", "invoice.paid", true},
      {"*.paid", "invoice.paid.paid", true},
      {"*.paid", "invoice.paid.x", false},
      {"a*b*c", "a-b-b-c", true},
      {"a*b*c", "a-c-b", false},
      {"**", "x", true},
      {"Invoice.*", "invoice.paid", false},
      {"a*a", "a", false},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(type_matches(c.pattern, c.type), c.matches) << c.pattern << " against " << c.type;
  }
}

// A pattern of many stars must not take exponential time: this would not end within the age of the universe otherwise.
TEST(TypePattern, ManyStarsAreMatchedInPolynomialTime) {
  std::string pattern;
  for (int i = 0; i < 60; ++i) pattern += "a*";
  EXPECT_FALSE(type_matches(pattern + "b", std::string(2000, 'a')));
}

}  // namespace
}  // namespace hookonce
