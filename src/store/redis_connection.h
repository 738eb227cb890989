// One connection to a Redis server, and what goes over it: hiredis behind a type that always knows whether a command
// may have been executed.
//
// Not thread-safe; the store lends a connection to one call at a time. Every wait is bounded.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "store/redis_url.h"

struct redisContext;
struct redisReply;

namespace hookonce {

// One command. What add() is given must outlive it; bodies are not copied here.
class RedisCommand {
 public:
  RedisCommand(std::initializer_list<std::string_view> arguments) {
    for (std::string_view argument : arguments) add(argument);
  }
  RedisCommand(RedisCommand&&) = default;
  RedisCommand(const RedisCommand&) = delete;  // what is kept here is pointed to
  RedisCommand& operator=(RedisCommand&&) = default;

  RedisCommand& add(std::string_view argument);
  RedisCommand& add_integer(std::int64_t number) { return add_own(std::to_string(number)); }
  RedisCommand& add_flag(bool flag) { return add(flag ? "1" : "0"); }
  RedisCommand& add_own(std::string argument);  // kept here

 private:
  friend class RedisConnection;
  std::vector<const char*> texts_;
  std::vector<std::size_t> sizes_;
  std::deque<std::string> owned_;  // a deque does not move what it holds
};

// A part of an answer; valid while the RedisAnswer that it belongs to.
class RedisReply {
 public:
  explicit RedisReply(const redisReply* reply) : reply_(reply) {}

  bool is_error() const;
  bool is_nil() const;
  std::string_view text() const;             // bulk string, status or error; empty for anything else
  std::int64_t integer() const;              // 0 for anything but an integer
  std::size_t size() const;                  // of an array; 0 for anything else
  RedisReply operator[](std::size_t) const;  // nil behind the end

 private:
  const redisReply* reply_;
};

class RedisAnswer {
 public:
  explicit RedisAnswer(redisReply* reply) : reply_(reply) {}
  RedisReply operator*() const { return RedisReply(reply_.get()); }

 private:
  struct Free {
    void operator()(redisReply* reply) const;
  };
  std::unique_ptr<redisReply, Free> reply_;
};

class RedisConnection {
 public:
  // A commit waits for one fsync, which may take long on a busy disk; behind this it is "unknown".
  static constexpr std::chrono::seconds kPatience{5};

  // Connected, authenticated, on its database. kUnavailable: nobody answers, or loading; kPrecondition: user, password
  // or database are refused.
  // A command that is not answered in `patience` fails.
  static Result<std::unique_ptr<RedisConnection>> open(const RedisTarget& target,
                                                       std::chrono::seconds patience = kPatience);
  ~RedisConnection();

  // Whether a connection that lay idle is still there, without waiting.
  bool alive() const;
  // After a failed call: nothing more can be said over it.
  bool broken() const { return broken_; }

  // The server's answer, which may be an error. kUnavailable: the command was not sent whole, so nothing was done;
  // kUnknown: it was sent, and no answer came.
  Result<RedisAnswer> call(const RedisCommand& command);
  // All in one go, answers in order.
  Result<std::vector<RedisAnswer>> call_all(std::span<const RedisCommand> commands);

 private:
  explicit RedisConnection(redisContext* context) : context_(context) {}
  Status log_in(const RedisTarget& target);
  Status send();
  Result<RedisAnswer> receive();
  std::string trouble() const;

  redisContext* const context_;
  bool broken_ = false;
};

}  // namespace hookonce
