#include "store/redis_connection.h"

#include <hiredis/hiredis.h>
#include <sys/socket.h>

#include <cerrno>

#include <fmt/format.h>

#include "store/redis_errors.h"

namespace hookonce {

namespace {

// A server that is there answers within a few round trips; one that hangs must not hang the gateway with it.
constexpr timeval kConnectTimeout{2, 0};

}  // namespace

RedisCommand& RedisCommand::add(std::string_view argument) {
  texts_.push_back(argument.data());
  sizes_.push_back(argument.size());
  return *this;
}

RedisCommand& RedisCommand::add_own(std::string argument) {
  return add(owned_.emplace_back(std::move(argument)));
}

bool RedisReply::is_error() const {
  return reply_ != nullptr && reply_->type == REDIS_REPLY_ERROR;
}

bool RedisReply::is_nil() const {
  return reply_ == nullptr || reply_->type == REDIS_REPLY_NIL;
}

std::string_view RedisReply::text() const {
  return reply_ == nullptr || reply_->str == nullptr ? std::string_view() : std::string_view(reply_->str, reply_->len);
}

std::int64_t RedisReply::integer() const {
  return reply_ == nullptr || reply_->type != REDIS_REPLY_INTEGER ? 0 : reply_->integer;
}

std::size_t RedisReply::size() const {
  return reply_ == nullptr || reply_->type != REDIS_REPLY_ARRAY ? 0 : reply_->elements;
}

RedisReply RedisReply::operator[](std::size_t index) const {
  return RedisReply(index < size() ? reply_->element[index] : nullptr);
}

void RedisAnswer::Free::operator()(redisReply* reply) const {
  freeReplyObject(reply);
}

Result<std::unique_ptr<RedisConnection>> RedisConnection::open(const RedisTarget& target,
                                                               std::chrono::seconds patience) {
  redisContext* context = redisConnectWithTimeout(target.host.c_str(), target.port, kConnectTimeout);
  HK_CHECK(context != nullptr);  // out of memory
  std::unique_ptr<RedisConnection> connection(new RedisConnection(context));
  if (context->err != 0) return unavailable(fmt::format("{}: {}", target.shown, connection->trouble()));
  redisSetTimeout(context, timeval{patience.count(), 0});
  // A host that vanished without a word is noticed while nothing is asked of it.
  redisEnableKeepAlive(context);
  const Status logged_in = connection->log_in(target);
  if (!logged_in.ok()) return logged_in.with_context(target.shown);
  return connection;
}

RedisConnection::~RedisConnection() {
  redisFree(context_);
}

Status RedisConnection::log_in(const RedisTarget& target) {
  std::vector<RedisCommand> commands;
  if (!target.password.empty()) {
    commands.push_back({"AUTH"});
    if (!target.user.empty()) commands.back().add(target.user);
    commands.back().add(target.password);
  }
  commands.push_back({"SELECT"});
  commands.back().add_integer(target.database);
  Result<std::vector<RedisAnswer>> answers = call_all(commands);
  if (!answers.ok()) return unavailable(answers.status().message());
  for (const RedisAnswer& answer : *answers) HK_TRY(error_of(*answer));
  return {};
}

bool RedisConnection::alive() const {
  if (broken_) return false;
  char byte = 0;
  const ssize_t got = recv(context_->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  // Nothing to read is as it should be: bytes nobody asked for are as bad as an end.
  return got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
}

Result<RedisAnswer> RedisConnection::call(const RedisCommand& command) {
  HK_ASSIGN(std::vector<RedisAnswer> answers, call_all({&command, 1}));
  return std::move(answers.front());
}

Result<std::vector<RedisAnswer>> RedisConnection::call_all(std::span<const RedisCommand> commands) {
  HK_CHECK(!broken_);
  for (const RedisCommand& command : commands) {
    // hiredis does not change what it is given; its signature is older than const.
    redisAppendCommandArgv(context_, static_cast<int>(command.texts_.size()),
                           const_cast<const char**>(command.texts_.data()), command.sizes_.data());
  }
  HK_TRY(send());
  std::vector<RedisAnswer> answers;
  answers.reserve(commands.size());
  for (std::size_t i = 0; i < commands.size(); ++i) {
    HK_ASSIGN(RedisAnswer answer, receive());
    answers.push_back(std::move(answer));
  }
  return answers;
}

Status RedisConnection::send() {
  int done = 0;
  while (done == 0) {
    if (redisBufferWrite(context_, &done) == REDIS_OK) continue;
    broken_ = true;
    // The server executes a command only when its last byte is there.
    return unavailable("the command could not be sent: " + trouble());
  }
  return {};
}

Result<RedisAnswer> RedisConnection::receive() {
  void* reply = nullptr;
  if (redisGetReply(context_, &reply) != REDIS_OK || reply == nullptr) {
    broken_ = true;
    return unknown_outcome("no answer came: " + trouble());
  }
  return RedisAnswer(static_cast<redisReply*>(reply));
}

std::string RedisConnection::trouble() const {
  // hiredis reports a timeout as the errno of a socket that would block.
  if (context_->err == REDIS_ERR_IO && (errno == EAGAIN || errno == EWOULDBLOCK))
    return "the server does not answer in time";
  return context_->errstr[0] == '\0' ? "the connection is lost" : context_->errstr;
}

}  // namespace hookonce
