#include "admin/live_hub.h"

#include <algorithm>
#include <utility>

#include "admin/answers.h"

namespace hookonce {

namespace {

// Browsers come back after this long when a stream breaks off.
constexpr std::string_view kGreeting = "retry: 2000\n\n";
constexpr std::size_t kShownMax = 256;  // bytes of a type or key
constexpr std::string_view kKeepAlive = ": still here\n\n";

std::string frame(std::string_view name, const json::object& data) {
  std::string text = "event: ";
  text += name;
  text += "\ndata: ";
  text += to_json(data);
  text += "\n\n";
  return text;
}

json::value text_or_none(const std::optional<std::string_view>& text) {
  return text ? json::value(json_text(*text)) : json::value(nullptr);
}

// The whole of what a sender makes as long as it likes is in the inbox; here it would be held once for each watcher.
std::string_view shown(std::string_view text) {
  return text.substr(0, kShownMax);
}

std::string frame_of(LiveFact fact, Time wall) {
  json::object data{{"at", to_rfc3339(wall)}};
  data["event"] = text_or_none(fact.event);
  data["source"] = json_text(fact.source);
  data["type"] = text_or_null(shown(fact.type));
  data["key"] = text_or_none(fact.key ? std::optional(shown(*fact.key)) : std::nullopt);
  if (!fact.destination.empty()) data["destination"] = json_text(fact.destination);
  for (auto& [name, value] : fact.more) data[name] = std::move(value);
  return frame(fact.name, data);
}

bool wants(const LiveFilter& filter, const LiveFact& fact) {
  if (filter.source && *filter.source != fact.source) return false;
  if (filter.type && *filter.type != fact.type) return false;
  if (filter.key && fact.key != std::string_view(*filter.key)) return false;
  return !filter.destination || *filter.destination == fact.destination;
}

}  // namespace

// What one stream has not sent yet. Facts come from any thread, next() from the stream's connection.
class LiveHub::Watcher final : public BodyStream {
 public:
  Watcher(LiveFilter filter, std::function<bool()> allowed, const Clock& clock, std::shared_ptr<std::atomic<bool>> full,
          std::shared_ptr<std::atomic<std::uint64_t>> missed_by_all)
      : filter_(std::move(filter)),
        allowed_(std::move(allowed)),
        clock_(clock),
        full_(std::move(full)),
        missed_by_all_(std::move(missed_by_all)),
        told_(missed_by_all_->load(std::memory_order_relaxed)),
        spoken_at_(clock.now()) {}

  const LiveFilter& filter() const { return filter_; }

  bool has_room() {
    MutexLock lock(mutex_);
    return facts_ < kFactsWaiting;
  }
  void miss() {
    MutexLock lock(mutex_);
    ++missed_;
  }
  void put(std::string_view text) {
    MutexLock lock(mutex_);
    waiting_ += text;
    ++facts_;
  }

  std::optional<std::string> next() override {
    if (allowed_ && !allowed_()) return std::nullopt;
    std::string text;
    std::uint64_t missed = 0;
    {
      MutexLock lock(mutex_);
      text.swap(waiting_);
      facts_ = 0;
      missed = std::exchange(missed_, 0);
    }
    full_->store(false, std::memory_order_relaxed);
    const std::uint64_t missed_by_all = missed_by_all_->load(std::memory_order_relaxed);
    missed += missed_by_all - std::exchange(told_, missed_by_all);
    if (missed > 0) text += frame("missed", {{"count", missed}});
    const Time now = clock_.now();
    if (text.empty() && now - spoken_at_ >= kWatcherKeepAlive) text = kKeepAlive;
    if (!text.empty()) spoken_at_ = now;
    return text;
  }

 private:
  const LiveFilter filter_;
  const std::function<bool()> allowed_;
  const Clock& clock_;
  const std::shared_ptr<std::atomic<bool>> full_;
  const std::shared_ptr<std::atomic<std::uint64_t>> missed_by_all_;
  std::uint64_t told_;  // of missed_by_all_; next() alone uses it, as what follows
  Time spoken_at_;
  Mutex mutex_;
  std::string waiting_ GUARDED_BY(mutex_){kGreeting};
  std::size_t facts_ GUARDED_BY(mutex_) = 0;
  std::uint64_t missed_ GUARDED_BY(mutex_) = 0;
};

LiveHub::LiveHub(const Clock& clock) : clock_(clock) {}
LiveHub::~LiveHub() = default;

void LiveHub::publish(LiveFact fact) {
  std::vector<std::shared_ptr<Watcher>> watchers;
  {
    MutexLock lock(mutex_);
    watchers_.erase(std::remove_if(watchers_.begin(), watchers_.end(), [](const auto& w) { return w.expired(); }),
                    watchers_.end());
    for (const auto& watcher : watchers_) {
      if (auto alive = watcher.lock()) watchers.push_back(std::move(alive));
    }
    watched_.store(!watchers_.empty(), std::memory_order_relaxed);
  }
  bool full = true;
  std::vector<Watcher*> takers;
  for (const auto& watcher : watchers) {
    const bool has_room = watcher->has_room();
    full = full && !has_room;
    if (!wants(watcher->filter(), fact)) continue;
    if (has_room) {
      takers.push_back(watcher.get());
    } else {
      watcher->miss();
    }
  }
  if (full) full_->store(true, std::memory_order_relaxed);
  if (takers.empty()) return;
  const std::string text = frame_of(std::move(fact), clock_.wall());
  for (Watcher* watcher : takers) watcher->put(text);
}

std::shared_ptr<BodyStream> LiveHub::watch(LiveFilter filter, std::function<bool()> allowed) {
  auto watcher = std::make_shared<Watcher>(std::move(filter), std::move(allowed), clock_, full_, missed_);
  MutexLock lock(mutex_);
  watchers_.erase(std::remove_if(watchers_.begin(), watchers_.end(), [](const auto& w) { return w.expired(); }),
                  watchers_.end());
  if (watchers_.size() >= kWatchersMax) return nullptr;
  watchers_.push_back(watcher);
  watched_.store(true, std::memory_order_relaxed);
  return watcher;
}

}  // namespace hookonce
