// ASSERT_OK(expression), EXPECT_OK(expression): a Status or Result that must be ok; prints the error where it is not.
#pragma once

#include <gtest/gtest.h>

#include "base/result.h"

namespace hookonce {

inline const Status& status_of(const Status& status) {
  return status;
}
template <typename T>
Status status_of(const Result<T>& result) {
  return result.status();
}

}  // namespace hookonce

#define ASSERT_OK(expression)                                                    \
  do {                                                                           \
    const auto& hk_outcome = (expression);                                       \
    ASSERT_TRUE(hk_outcome.ok()) << ::hookonce::status_of(hk_outcome).message(); \
  } while (false)
#define EXPECT_OK(expression)                                                    \
  do {                                                                           \
    const auto& hk_outcome = (expression);                                       \
    EXPECT_TRUE(hk_outcome.ok()) << ::hookonce::status_of(hk_outcome).message(); \
  } while (false)
