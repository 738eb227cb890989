#include "store/redis_errors.h"

#include <gtest/gtest.h>

#include "store/redis_standing.h"

namespace hookonce {
namespace {

TEST(RedisErrors, TheWordIsFoundAlsoWhereAnOlderServerWrapsAScriptsError) {
  EXPECT_EQ(error_word("OOM command not allowed when used memory > 'maxmemory'. script: 1f, on @user_script:3."),
            "OOM");
  EXPECT_EQ(error_word("ERR Error running script (call to f_1f): @user_script:3: @user_script: 3: -OOM command not "
                       "allowed when used memory > 'maxmemory'."),
            "OOM");
  EXPECT_EQ(error_word("ERR wrong number of arguments for 'get' command"), "ERR");
  EXPECT_EQ(error_word("ERR strange: -1 is no count"), "ERR");
}

RedisSettings durable() {
  RedisSettings settings;
  settings.appendonly = "yes";
  settings.appendfsync = "always";
  settings.no_appendfsync_on_rewrite = "no";
  settings.maxmemory_policy = "noeviction";
  return settings;
}

TEST(RedisStanding, ADurableServerHasNoShortcoming) {
  const RedisStanding standing = judge(durable());
  EXPECT_TRUE(standing.refusals.empty());
  EXPECT_TRUE(standing.shortcomings.empty());
  EXPECT_TRUE(standing.notes.empty());
}

TEST(RedisStanding, EachSettingThatLosesSomethingIsNamedWithItsMend) {
  RedisSettings settings;
  settings.appendonly = "no";
  settings.appendfsync = "everysec";
  settings.no_appendfsync_on_rewrite = "yes";
  settings.maxmemory_policy = "allkeys-lru";
  const RedisStanding standing = judge(settings);
  ASSERT_EQ(standing.shortcomings.size(), 4u);
  EXPECT_EQ(standing.shortcomings[0].find("appendonly is `no`; set it to `yes`"), 0u) << standing.shortcomings[0];
  EXPECT_EQ(standing.shortcomings[1].find("appendfsync is `everysec`; set it to `always`"), 0u);
  EXPECT_EQ(standing.shortcomings[2].find("no-appendfsync-on-rewrite is `yes`; set it to `no`"), 0u);
  EXPECT_EQ(standing.shortcomings[3].find("maxmemory-policy is `allkeys-lru`; set it to `noeviction`"), 0u);
}

TEST(RedisStanding, WhatCannotBeSeenCountsAsMissing) {
  const RedisStanding standing = judge(RedisSettings());
  ASSERT_EQ(standing.shortcomings.size(), 4u);
  EXPECT_NE(standing.shortcomings[1].find("appendfsync cannot be seen"), std::string::npos);
}

TEST(RedisStanding, AReplicaAndAClusterAreRefusedWhateverTheSettings) {
  RedisSettings settings = durable();
  settings.replica = true;
  settings.cluster = true;
  EXPECT_EQ(judge(settings).refusals.size(), 2u);
}

TEST(RedisStanding, ReplicasThatFollowAreNamed) {
  RedisSettings settings = durable();
  settings.replicas = 1;
  EXPECT_EQ(judge(settings).notes.size(), 1u);
}

}  // namespace
}  // namespace hookonce
