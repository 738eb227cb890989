// An inbox of its own for one test, in the Redis server that the environment names, gone when the test is.
//
//   RedisTestInbox inbox;
//   if (inbox.missing().empty()) open_redis_store(inbox.url(), RedisClock::kCaller);
//
// tools/test_all.py starts the server. Without it its tests are skipped, and fail where CI=true says that nothing may
// be skipped.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <string>

#include "core/model.h"
#include "store/redis_connection.h"

namespace hookonce {

class RedisTestInbox {
 public:
  RedisTestInbox() {
    const char* url = std::getenv("HOOKONCE_TEST_REDIS");
    if (url == nullptr || *url == '\0') {
      missing_ = "HOOKONCE_TEST_REDIS names no server";
      return;
    }
    server_ = url;
    prefix_ = "test-" + EventId::make(Time()).text();
    auto target = parse_redis_url(server_);
    EXPECT_TRUE(target.ok()) << target.status().message();
    if (!target.ok()) return;
    auto connection = RedisConnection::open(*target);
    EXPECT_TRUE(connection.ok()) << connection.status().message();
    if (connection.ok()) connection_ = *std::move(connection);
  }
  RedisTestInbox(const RedisTestInbox&) = delete;
  RedisTestInbox& operator=(const RedisTestInbox&) = delete;
  ~RedisTestInbox() {
    if (connection_ == nullptr) return;
    const std::vector<std::string> all = names();
    if (all.empty()) return;
    RedisCommand unlink({"UNLINK"});  // one, because the server syncs its file behind each
    for (const std::string& name : all) unlink.add(name);
    call(unlink);
  }

  const std::string& missing() const { return missing_; }  // why there is no server; empty where there is
  std::string url() const { return server_ + "/?prefix=" + prefix_; }
  const std::string& prefix() const { return prefix_; }

  // A command of the test's own. An answer that is an error fails the test.
  std::string call(const RedisCommand& command) const {
    const auto answer = connection_->call(command);
    EXPECT_TRUE(answer.ok() && !(**answer).is_error());
    if (!answer.ok()) return "";
    const RedisReply reply = **answer;
    return reply.text().empty() ? std::to_string(reply.integer()) : std::string(reply.text());
  }

  // All keys of the inbox.
  std::vector<std::string> names() const {
    std::vector<std::string> found;
    std::string cursor = "0";
    do {
      const auto answer = connection_->call({"SCAN", cursor, "MATCH", prefix_ + ":*", "COUNT", "1000"});
      EXPECT_TRUE(answer.ok());
      if (!answer.ok()) return found;
      const RedisReply page = **answer;
      cursor = page[0].text();
      for (std::size_t i = 0; i < page[1].size(); ++i) found.emplace_back(page[1][i].text());
    } while (cursor != "0");
    return found;
  }

 private:
  std::string server_;
  std::string prefix_;
  std::string missing_;
  std::unique_ptr<RedisConnection> connection_;
};

}  // namespace hookonce
