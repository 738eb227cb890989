#include "base/result.h"

#include <gtest/gtest.h>

#include <memory>

namespace hookonce {
namespace {

Result<int> half(int n) {
  if (n % 2 != 0) return invalid("odd number: " + std::to_string(n));
  return n / 2;
}

Result<int> quarter(int n) {
  HK_ASSIGN(const int first, half(n));
  HK_ASSIGN(const int second, half(first));
  return second;
}

Status check_quarter(int n) {
  HK_TRY(quarter(n).status());
  return {};
}

TEST(ResultTest, AValueOrAnErrorComesThroughTheMacros) {
  EXPECT_EQ(quarter(12).value(), 3);
  EXPECT_EQ(quarter(6).code(), Code::kInvalid);
  EXPECT_EQ(quarter(6).status().message(), "odd number: 3");
  EXPECT_TRUE(check_quarter(8).ok());
  EXPECT_EQ(check_quarter(7).message(), "odd number: 7");
}

TEST(ResultTest, ContextComesBeforeTheMessageAndKeepsTheCode) {
  const Status status = unavailable("disk is full").with_context("accept event");
  EXPECT_EQ(status.code(), Code::kUnavailable);
  EXPECT_EQ(status.message(), "accept event: disk is full");
  EXPECT_TRUE(Status().with_context("anything").ok());
  EXPECT_EQ(Status().with_context("anything").message(), "");
}

TEST(ResultTest, AMoveOnlyValueIsHandedOver) {
  Result<std::unique_ptr<int>> result(std::make_unique<int>(7));
  const std::unique_ptr<int> taken = std::move(result).value();
  EXPECT_EQ(*taken, 7);
}

TEST(ResultTest, EveryCodeHasAName) {
  for (int code = 0; code <= static_cast<int>(Code::kInternal); ++code) {
    EXPECT_FALSE(to_string(static_cast<Code>(code)).empty());
  }
}

TEST(ResultDeathTest, ReadingAValueThatIsNotThereEndsTheProcess) {
  Result<int> result = not_found("nothing");
  EXPECT_DEATH(result.value(), "check failed: ok\\(\\)");
  EXPECT_DEATH((Result<int>(Status())), "check failed");
}

}  // namespace
}  // namespace hookonce
