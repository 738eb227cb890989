#include "core/config_load.h"

#include <cstdlib>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/support/config_world.h"

namespace hookonce {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class ConfigWorldTest : public ConfigTest {};

TEST_F(ConfigWorldTest, ASecretOfTheCommandLineIsALiteralAVariableOrAFile) {
  EXPECT_EQ(*resolve_secret("whsec_x", world_), "whsec_x");
  EXPECT_EQ(*resolve_secret("env:SET", world_), "s3cr3t-of-the-environment");
  EXPECT_EQ(*resolve_secret("file:/good", world_), "s3cr3t-of-the-file");
  for (const char* text : {"", " ", "env:", "env:UNSET", "env:EMPTY", "file:", "file:/missing"})
    EXPECT_FALSE(resolve_secret(text, world_).ok()) << text;
}

TEST(MachineWorld, ReadsFilesWithoutTheirOneFinalNewline) {
  const ConfigWorld world = machine_world({}, nullptr);
  const std::string path = testing::TempDir() + "hookonce_config_world_secret";
  const auto read_back = [&](std::string_view content) {
    std::ofstream(path, std::ios::binary) << content;
    return world.file(path);
  };
  EXPECT_EQ(*read_back("abc"), "abc");
  EXPECT_EQ(*read_back("abc\n"), "abc");
  EXPECT_EQ(*read_back("abc\r\n"), "abc");
  EXPECT_EQ(*read_back("abc\n\n"), "abc\n");
  EXPECT_EQ(*read_back("abc\r"), "abc\r");
  EXPECT_EQ(*read_back(""), "");
  EXPECT_EQ(read_back(std::string(2 * kMiB, 'x')).code(), Code::kInvalid);
  std::remove(path.c_str());
}

TEST(MachineWorld, ReadsVariablesWithoutTheirOneFinalNewline) {
  const ConfigWorld world = machine_world({}, nullptr);
  const auto read_back = [&](const char* value) {
    ::setenv("HOOKONCE_TEST_NEWLINE", value, 1);
    return world.environment("HOOKONCE_TEST_NEWLINE");
  };
  EXPECT_EQ(*read_back("abc"), "abc");
  EXPECT_EQ(*read_back("abc\n"), "abc");
  EXPECT_EQ(*read_back("abc\r\n"), "abc");
  EXPECT_EQ(*read_back("abc\n\n"), "abc\n");
  ::unsetenv("HOOKONCE_TEST_NEWLINE");
}

TEST(MachineWorld, NamesWhatIsNotThere) {
  const ConfigWorld world = machine_world({}, nullptr);
  EXPECT_THAT(world.file("/nonexistent/hookonce").status().message(),
              AllOf(HasSubstr("/nonexistent/hookonce"), HasSubstr("No such file")));
  EXPECT_FALSE(world.file(testing::TempDir()).ok());
  const Status secret = world.environment("postgres://u:sekret@h/d").status();
  EXPECT_EQ(secret.message().find("sekret"), std::string::npos) << "what stands there may be the secret itself";
  EXPECT_THAT(world.environment("HOOKONCE_TEST_NEVER_SET").status().message(),
              HasSubstr("HOOKONCE_TEST_NEVER_SET is not set"));
}

}  // namespace
}  // namespace hookonce
