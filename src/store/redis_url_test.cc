#include "store/redis_url.h"

#include <gtest/gtest.h>

#include "test/support/asserts.h"

namespace hookonce {
namespace {

TEST(RedisUrl, TheHostAloneIsEnough) {
  const auto target = parse_redis_url("redis://cache");
  ASSERT_OK(target);
  EXPECT_EQ(target->host, "cache");
  EXPECT_EQ(target->port, 6379);
  EXPECT_EQ(target->database, 0);
  EXPECT_EQ(target->prefix, "hookonce");
  EXPECT_FALSE(target->relaxed);
  EXPECT_EQ(target->shown, "redis://cache:6379/0?prefix=hookonce");
}

TEST(RedisUrl, EveryPartIsRead) {
  const auto target = parse_redis_url("redis://us%40er:p%3Aw%2F@[::1]:7000/3?durability=relaxed&prefix=shop:in.1");
  ASSERT_OK(target);
  EXPECT_EQ(target->user, "us@er");
  EXPECT_EQ(target->password, "p:w/");
  EXPECT_EQ(target->host, "::1");
  EXPECT_EQ(target->port, 7000);
  EXPECT_EQ(target->database, 3);
  EXPECT_TRUE(target->relaxed);
  EXPECT_EQ(target->shown, "redis://[::1]:7000/3?prefix=shop:in.1");
  EXPECT_EQ(parse_redis_url("redis://:pw@h/")->user, "");
}

TEST(RedisUrl, TlsIsRefusedByNameAndWithAMend) {
  const auto target = parse_redis_url("rediss://cache");
  EXPECT_EQ(target.code(), Code::kInvalid);
  EXPECT_NE(target.status().message().find("TLS"), std::string::npos);
}

TEST(RedisUrl, AMistakeIsInvalidAndNoMessageShowsThePassword) {
  for (const char* url : {"redis://",
                          "redis://:hunter2@",
                          "redis://me@h",
                          "redis://:@h",
                          "redis://:hunter2@h:0",
                          "redis://:hunter2@h:70000",
                          "redis://:hunter2@h:x",
                          "redis://:hunter2@h/x",
                          "redis://:hunter2/@h:1/0",
                          "redis://:hunter2@h/0?durability=hunter",
                          "redis://:hunter2@h?prefix=",
                          "redis://:hunter2@h?prefix={x}",
                          "redis://:hunter2@h?prefx=y",
                          "redis://:hunter2%@h",
                          "redis://:hunter2@[::1",
                          "redis://:hunter2@h#f",
                          "redis:h",
                          "redis://user:12?hunter2@h",
                          "redis://user:12?x=hunter2@h",
                          "redis://user:12/hunter2@h"}) {
    const auto target = parse_redis_url(url);
    EXPECT_EQ(target.code(), Code::kInvalid) << url;
    EXPECT_EQ(target.status().message().find("hunter2"), std::string::npos) << target.status().message();
  }
}

}  // namespace
}  // namespace hookonce
