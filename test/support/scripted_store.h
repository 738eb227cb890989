// A memory store that a test can stop, break and mend.
//
// Fault model: while the gate is closed a commit waits at it; the next commits answer the scripted errors and store
// nothing; while ill, every call but find_duplicate(), recover() and health() is kUnavailable. recover() mends nothing:
// only heal() does.
#pragma once

#include <deque>
#include <memory>
#include <utility>

#include "base/sync.h"
#include "store/memory_store.h"
#include "store/store.h"

namespace hookonce {

class ScriptedStore final : public Store {
 public:
  Result<CommitFacts> commit(std::span<const NewEvent> events, std::span<const Settlement> settlements,
                             Time now) override {
    {
      MutexLock lock(mutex_);
      ++waiting_;
      changed_.notify_all();
      while (closed_) changed_.wait(mutex_);
      --waiting_;
      if (!ill_.ok()) return ill_;
      if (!scripted_.empty()) {
        const Status status = scripted_.front();
        scripted_.pop_front();
        return status;
      }
    }
    return inner_->commit(events, settlements, now);
  }
  Result<std::optional<AcceptFacts>> find_duplicate(const NewEvent& event, Time now) override {
    return inner_->find_duplicate(event, now);
  }
  Result<Claimed> claim(const ClaimRequest& request, Time now) override {
    HK_TRY(health());
    return inner_->claim(request, now);
  }
  Result<std::optional<Time>> next_due(const std::vector<std::string>& names, Time now) override {
    HK_TRY(health());
    return inner_->next_due(names, now);
  }
  Result<bool> set_paused(const std::string& destination, bool paused) override {
    HK_TRY(health());
    return inner_->set_paused(destination, paused);
  }
  Result<std::optional<ReplyState>> reply(const EventId& id) override { return inner_->reply(id); }
  bool searches_bodies() const override { return inner_->searches_bodies(); }
  Result<std::optional<EventDetail>> get(const EventId& id) override {
    HK_TRY(health());
    return inner_->get(id);
  }
  Result<EventPage> list(const EventFilter& filter, int limit, const std::optional<std::string>& cursor) override {
    HK_TRY(health());
    return inner_->list(filter, limit, cursor);
  }
  Result<DeliveryPage> deliveries(const DeliveryFilter& filter, int limit,
                                  const std::optional<std::string>& cursor) override {
    HK_TRY(health());
    return inner_->deliveries(filter, limit, cursor);
  }
  Result<StoreStats> stats(Time now) override {
    HK_TRY(health());
    return inner_->stats(now);
  }
  Result<Replayed> replay(const ReplayRequest& request, Time now) override {
    HK_TRY(health());
    auto replayed = inner_->replay(request, now);
    MutexLock lock(mutex_);
    return replay_unknown_ ? Result<Replayed>(unknown_outcome("commit failed")) : std::move(replayed);
  }
  Result<std::int64_t> prune(const PruneRequest& request) override { return inner_->prune(request); }
  Status health() override {
    MutexLock lock(mutex_);
    return ill_;
  }
  Status recover(Time) override { return health(); }

  void script_commit(Status status) {
    MutexLock lock(mutex_);
    scripted_.push_back(std::move(status));
  }
  // From now on replays take effect and nobody is told so.
  void lose_replay_answers() {
    MutexLock lock(mutex_);
    replay_unknown_ = true;
  }
  void fall_ill(std::string why) {
    MutexLock lock(mutex_);
    ill_ = unavailable(std::move(why));
  }
  std::vector<std::string> weaknesses() override { return {"it forgets everything"}; }
  void heal() {
    MutexLock lock(mutex_);
    ill_ = {};
  }
  void close_gate() {
    MutexLock lock(mutex_);
    closed_ = true;
  }
  void open_gate() {
    MutexLock lock(mutex_);
    closed_ = false;
    changed_.notify_all();
  }
  // Until a commit stands at the closed gate.
  void await_commit() {
    MutexLock lock(mutex_);
    while (waiting_ == 0) changed_.wait(mutex_);
  }

 private:
  const std::unique_ptr<Store> inner_ = make_memory_store();
  Mutex mutex_;
  CondVar changed_;
  std::deque<Status> scripted_ GUARDED_BY(mutex_);
  Status ill_ GUARDED_BY(mutex_);
  bool closed_ GUARDED_BY(mutex_) = false;
  bool replay_unknown_ GUARDED_BY(mutex_) = false;
  int waiting_ GUARDED_BY(mutex_) = 0;
};

}  // namespace hookonce
