#include "http/client_resolver.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <thread>

#include "base/bytes.h"
#include "base/sync.h"

namespace hookonce {
namespace {

// A destination needs one name; this many come together only where something makes up names.
constexpr std::size_t kNamesMax = 4096;

std::string text_of(const sockaddr& address) {
  char text[INET6_ADDRSTRLEN] = {};
  const void* bytes = nullptr;
  if (address.sa_family == AF_INET) {
    bytes = &reinterpret_cast<const sockaddr_in&>(address).sin_addr;
  } else if (address.sa_family == AF_INET6) {
    bytes = &reinterpret_cast<const sockaddr_in6&>(address).sin6_addr;
  }
  if (bytes == nullptr || inet_ntop(address.sa_family, bytes, text, sizeof text) == nullptr) return {};
  return text;
}

Resolver::Answer look_up_now(const std::string& host) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  Resolver::Answer answer;
  const int code = getaddrinfo(host.c_str(), nullptr, &hints, &list);
  if (code != 0) {
    const int cause = errno;
    const std::string reason = code == EAI_SYSTEM ? std::generic_category().message(cause) : gai_strerror(code);
    answer.error = to_lower(reason);
    return answer;
  }
  for (const addrinfo* item = list; item != nullptr; item = item->ai_next) {
    std::string text = text_of(*item->ai_addr);
    const bool known = std::find(answer.addresses.begin(), answer.addresses.end(), text) != answer.addresses.end();
    if (!text.empty() && !known) answer.addresses.push_back(std::move(text));
  }
  freeaddrinfo(list);
  if (answer.addresses.empty()) answer.error = "the name has no address";
  return answer;
}

}  // namespace

struct Resolver::Shared {
  explicit Shared(std::shared_ptr<ClientWakeup> w) : wakeup(std::move(w)) {}
  const std::shared_ptr<ClientWakeup> wakeup;
  Mutex mutex;
  std::vector<Found> found GUARDED_BY(mutex);
};

Resolver::Resolver(int threads_max, std::shared_ptr<ClientWakeup> wakeup)
    : threads_max_(std::max(1, threads_max)), shared_(std::make_shared<Shared>(std::move(wakeup))) {}

Resolver::~Resolver() = default;

const Resolver::Answer* Resolver::find(const std::string& host, Duration now) {
  const auto it = kept_.find(host);
  if (it == kept_.end()) return nullptr;
  if (it->second.until > now) return &it->second.answer;
  kept_.erase(it);
  return nullptr;
}

void Resolver::look_up(const std::string& host) {
  if (running_.count(host) != 0) return;
  if (std::find(queued_.begin(), queued_.end(), host) != queued_.end()) return;
  if (static_cast<int>(running_.size()) < threads_max_) {
    start(host);
  } else {
    queued_.push_back(host);
  }
}

void Resolver::start(const std::string& host) {
  running_.insert(host);
  const auto report = [shared = shared_](Found found) {
    {
      MutexLock lock(shared->mutex);
      shared->found.push_back(std::move(found));
    }
    shared->wakeup->wake();
  };
  try {
    // Detached, against the rule that a thread has an owner that joins it: joining a hung lookup is the very thing to
    // avoid. The thread owns all that it touches.
    std::thread([report, host] { report({host, look_up_now(host)}); }).detach();
  } catch (const std::system_error& error) {
    report({host, {{}, fmt::format("no thread for the lookup: {}", to_lower(error.code().message()))}});
  }
}

std::vector<Resolver::Found> Resolver::collect(Duration now) {
  std::vector<Found> found;
  {
    MutexLock lock(shared_->mutex);
    found.swap(shared_->found);
  }
  if (kept_.size() + found.size() > kNamesMax) kept_.clear();
  for (const Found& item : found) {
    running_.erase(item.host);
    if (!item.answer.addresses.empty()) kept_[item.host] = {item.answer, now + kNameKept};
  }
  while (!queued_.empty() && static_cast<int>(running_.size()) < threads_max_) {
    const std::string host = std::move(queued_.front());
    queued_.pop_front();
    start(host);
  }
  return found;
}

void Resolver::forget(const std::string& host) {
  kept_.erase(host);
}

}  // namespace hookonce
