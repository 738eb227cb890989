#include "store/memory_rejected.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/sync.h"
#include "store/event_filter.h"

namespace hookonce {

namespace {

class MemoryRejected final : public RejectedStore {
 public:
  Status keep(std::span<const RejectedRequest> requests, const RejectedLimits& limits) override {
    MutexLock lock(mutex_);
    for (const RejectedRequest& request : requests) {
      if (RejectedRequest* same = find_equal(request)) {
        same->count += request.count;
        same->last_at = std::max(same->last_at, request.last_at);
      } else {
        kept_.emplace(++seq_, request);
      }
    }
    for (const RejectedRequest& request : requests) trim(request.source, limits);
    return {};
  }

  Result<RejectedPage> list(const std::optional<std::string>& source, int limit,
                            const std::optional<std::string>& cursor) override {
    HK_ASSIGN(const std::int64_t below, parse_cursor(cursor));
    MutexLock lock(mutex_);
    RejectedPage page;
    std::int64_t bytes = 0;
    std::int64_t last = 0;
    for (auto it = kept_.rbegin(); it != kept_.rend(); ++it) {
      const auto& [seq, request] = *it;
      if (seq >= below || (source && *source != request.source)) continue;
      const bool full = page.items.size() == static_cast<std::size_t>(limit) ||
                        (!page.items.empty() && bytes + request.size() > kRejectedPageBytes);
      if (full) {
        page.next = format_cursor(last);
        break;
      }
      page.items.push_back(request);
      bytes += request.size();
      last = seq;
    }
    return page;
  }

  Result<std::optional<RejectedRequest>> get(const EventId& id) override {
    MutexLock lock(mutex_);
    for (const auto& [seq, request] : kept_) {
      if (request.id == id) return std::optional(request);
    }
    return std::optional<RejectedRequest>();
  }

  Result<bool> remove(const EventId& id) override {
    MutexLock lock(mutex_);
    return std::erase_if(kept_, [&](const auto& item) { return item.second.id == id; }) > 0;
  }

 private:
  RejectedRequest* find_equal(const RejectedRequest& request) LOCKS_REQUIRED(mutex_) {
    const KeyHash digest = digest_of(request);
    for (auto& [seq, kept] : kept_) {
      if (digest_of(kept) == digest) return &kept;
    }
    return nullptr;
  }

  void trim(const std::string& source, const RejectedLimits& limits) LOCKS_REQUIRED(mutex_) {
    RejectedLimits used;
    for (auto it = kept_.end(); it != kept_.begin();) {
      --it;
      if (it->second.source != source) continue;
      ++used.requests;
      used.bytes += it->second.size();
      if (used.requests > limits.requests || used.bytes > limits.bytes) it = kept_.erase(it);
    }
  }

  Mutex mutex_;
  std::int64_t seq_ GUARDED_BY(mutex_) = 0;
  std::map<std::int64_t, RejectedRequest> kept_ GUARDED_BY(mutex_);  // by the order of keeping
};

}  // namespace

std::unique_ptr<RejectedStore> make_memory_rejected() {
  return std::make_unique<MemoryRejected>();
}

}  // namespace hookonce
