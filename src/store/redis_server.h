// The server that keeps one inbox: its connections, the scripts in it, and whether it can serve now.
//
// Connections are made as calls need them and lent to one call at a time; after a loss new ones are made. Each new one
// is checked before it is used, and all are checked again every minute: the server's settings (store/redis_standing.h)
// and that the inbox is still the one that was opened. While the server is away, calls fail at once and only recover()
// tries again.
//
// Thread-safe.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/sync.h"
#include "store/inbox_records.h"
#include "store/redis_connection.h"
#include "store/redis_scripts.h"

namespace hookonce {

// kServer: times are the server's (TIME). kCaller: times are those that the caller gives; for tests, which move time.
enum class RedisClock { kServer, kCaller };

class RedisServer {
 public:
  // kWrite: refused while the server is known to be ill. kRead: tried unless it is away, and once more where its
  // connection was lost meanwhile. kSweep: as kWrite, but tried while the server is ill: it frees memory.
  enum class Use { kWrite, kRead, kSweep };

  RedisServer(RedisTarget target, RedisClock clock, OpenFor use)
      : target_(std::move(target)), clock_(clock), use_(use) {}

  // Finds or makes the inbox. kPrecondition: settings, password, an inbox of another version; a copy that is not
  // finished (serving), none at all (copying from).
  Status open() LOCKS_EXCLUDED(mutex_);
  Status recover() LOCKS_EXCLUDED(mutex_);
  Status health() LOCKS_EXCLUDED(mutex_);
  std::vector<std::string> weaknesses() LOCKS_EXCLUDED(mutex_);

  // A script with its arguments: new_call() has what comes before them.
  RedisCommand new_call(RedisScript script, Time now) LOCKS_EXCLUDED(mutex_);
  // kUnknown from Use::kWrite alone.
  Result<RedisAnswer> run(const RedisCommand& call, Use use) LOCKS_EXCLUDED(mutex_);
  // Plain reading commands, in one go. An answer may be an error.
  Result<std::vector<RedisAnswer>> read(std::span<const RedisCommand> commands) LOCKS_EXCLUDED(mutex_);

  const RedisTarget& target() const { return target_; }
  // `PREFIX:{SOURCE}:e:ID`
  std::string event_name(std::string_view source, std::string_view id) const;
  std::string line_name(std::string_view source, std::string_view destination, std::string_view ordering_key) const;
  std::string paused_name() const { return target_.prefix + ":paused"; }
  std::string copy_mark_name() const { return target_.prefix + ":copy"; }

  // What PREFIX:inbox is to hold while the inbox is a copy that is not finished, and afterwards. Whoever opened it
  // under the other one is cut off.
  std::string marker(bool unfinished) LOCKS_EXCLUDED(mutex_);
  void set_marker(std::string marker) LOCKS_EXCLUDED(mutex_);  // it was written

 private:
  using Connection = std::unique_ptr<RedisConnection>;

  Result<Connection> take(Use use) LOCKS_EXCLUDED(mutex_);
  void give_back(Connection connection) LOCKS_EXCLUDED(mutex_);
  Result<Connection> connect() LOCKS_EXCLUDED(mutex_);
  Result<RedisAnswer> run_once(const RedisCommand& call, Use use) LOCKS_EXCLUDED(mutex_);
  // The server's settings, and that the inbox is the one that was opened: kNotFound where it is not.
  Status check(RedisConnection& connection) LOCKS_EXCLUDED(mutex_);
  Status check_inbox(RedisConnection& connection) LOCKS_EXCLUDED(mutex_);
  Result<Connection> open_connection() const;
  Result<std::string> find_or_make_inbox(RedisConnection& connection) const;
  Status check_marker(RedisConnection& connection, std::string_view marker) const;
  Status load_scripts(RedisConnection& connection);
  bool check_due() LOCKS_EXCLUDED(mutex_);
  Result<RedisAnswer> run_on(RedisConnection& connection, const RedisCommand& call) const;
  void complain_of_loss(const Status& why) LOCKS_EXCLUDED(mutex_);  // once
  // Keeps in mind what is wrong with the server. `away`: nobody answers.
  void fall_ill(const Status& trouble, bool away) LOCKS_EXCLUDED(mutex_);

  const RedisTarget target_;
  const RedisClock clock_;
  const OpenFor use_;
  std::array<std::string, kRedisScripts> hashes_;  // constant after open(): they name the scripts' texts

  Mutex mutex_;
  CondVar returned_;
  std::vector<Connection> idle_ GUARDED_BY(mutex_);
  int lent_ GUARDED_BY(mutex_) = 0;
  Status health_ GUARDED_BY(mutex_) = unavailable("the store is not open");
  bool away_ GUARDED_BY(mutex_) = false;
  bool lost_ GUARDED_BY(mutex_) = false;      // the inbox is gone, and the log says so
  std::string marker_ GUARDED_BY(mutex_);     // what PREFIX:inbox holds
  Duration checked_at_ GUARDED_BY(mutex_){};  // by steady_now()
  std::vector<std::string> weaknesses_ GUARDED_BY(mutex_);
};

}  // namespace hookonce
