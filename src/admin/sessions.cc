#include "admin/sessions.h"

#include <algorithm>
#include <array>

#include "base/bytes.h"
#include "base/random.h"

namespace hookonce {

std::string Sessions::begin(std::string_view token, Time now) {
  std::array<std::uint8_t, 32> bytes{};
  fill_random(bytes);
  std::string id = to_hex({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  MutexLock lock(mutex_);
  drop_expired(now);
  if (sessions_.size() >= kSessionsMax) {
    sessions_.erase(std::min_element(sessions_.begin(), sessions_.end(),
                                     [](const auto& a, const auto& b) { return a.second.until < b.second.until; }));
  }
  sessions_[sha256({id})] = {sha256({token}), now + kSessionLasts};
  return id;
}

bool Sessions::is_valid(std::string_view id, std::string_view token, Time now) {
  const Sha256 digest = sha256({id});
  const Sha256 wanted = sha256({token});
  MutexLock lock(mutex_);
  const auto session = sessions_.find(digest);
  return session != sessions_.end() && now < session->second.until && session->second.token == wanted;
}

void Sessions::end(std::string_view id) {
  const Sha256 digest = sha256({id});
  MutexLock lock(mutex_);
  sessions_.erase(digest);
}

void Sessions::drop_expired(Time now) {
  std::erase_if(sessions_, [&](const auto& session) { return session.second.until <= now; });
}

}  // namespace hookonce
