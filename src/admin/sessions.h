// Who has signed in with a browser: random ids in memory, each good until it expires, is ended, or the admin token
// changes.
//
//   const std::string id = sessions.begin(config.server.admin_token, now);
//   if (sessions.is_valid(id, config.server.admin_token, now)) ...
//
// Only digests are kept, so that neither a memory image nor the time of a look-up tells an id. Sessions end with the
// process. Thread-safe.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/crypto.h"
#include "base/sync.h"

namespace hookonce {

inline constexpr Duration kSessionLasts = std::chrono::hours(12);  // a working day
inline constexpr std::size_t kSessionsMax = 256;                   // people; with one more the oldest ends

class Sessions {
 public:
  // Gives the new session's id, 64 hex digits.
  std::string begin(std::string_view token, Time now) LOCKS_EXCLUDED(mutex_);
  bool is_valid(std::string_view id, std::string_view token, Time now) LOCKS_EXCLUDED(mutex_);
  void end(std::string_view id) LOCKS_EXCLUDED(mutex_);

 private:
  struct Session {
    Sha256 token;  // digest of the token that it was begun with
    Time until{};
  };
  void drop_expired(Time now) LOCKS_REQUIRED(mutex_);

  Mutex mutex_;
  std::map<Sha256, Session> sessions_ GUARDED_BY(mutex_);  // by the digest of the id
};

}  // namespace hookonce
