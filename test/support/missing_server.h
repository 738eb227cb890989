// What a test does without the server that it needs.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

namespace hookonce {

// Whether to skip: `missing` says what the machine lacks, and is empty where it has it. Where CI=true says that nothing
// may be skipped, the test fails too.
inline bool skip_without(const std::string& missing) {
  if (missing.empty()) return false;
  const char* ci = std::getenv("CI");
  if (ci != nullptr && std::string(ci) == "true") ADD_FAILURE() << missing << "; CI skips nothing";
  return true;
}

}  // namespace hookonce
