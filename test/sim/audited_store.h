// The shared store with the auditor looking on: what a verb did is told to it even where the caller never hears of it.
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "test/sim/auditor.h"

namespace hookonce::sim {

class AuditedStore final : public Store {
 public:
  // REQUIRES: auditor outlives this.
  AuditedStore(std::unique_ptr<Store> inner, Auditor& auditor) : inner_(std::move(inner)), auditor_(auditor) {}

  // What the store shows, without anybody's fault between.
  Store& truth() { return *inner_; }
  // The last process dies, and the next one opens what it left.
  void reopen(const std::function<std::unique_ptr<Store>()>& open, Time now) {
    inner_.reset();  // it holds the owner lock
    inner_ = open();
    auditor_.reopened(now);
  }

  Result<CommitFacts> commit(std::span<const NewEvent> events, std::span<const Settlement> settlements,
                             Time now) override {
    auto facts = inner_->commit(events, settlements, now);
    if (facts.ok()) auditor_.committed(events, settlements, facts.value(), now);
    return facts;
  }
  std::vector<std::string> weaknesses() override { return inner_->weaknesses(); }
  Result<std::optional<AcceptFacts>> find_duplicate(const NewEvent& event, Time now) override {
    return inner_->find_duplicate(event, now);
  }
  Result<Claimed> claim(const ClaimRequest& request, Time now) override {
    auto claimed = inner_->claim(request, now);
    if (claimed.ok()) auditor_.claimed(request, claimed.value(), now);
    return claimed;
  }
  Result<std::optional<Time>> next_due(const std::vector<std::string>& names, Time now) override {
    return inner_->next_due(names, now);
  }
  Result<bool> set_paused(const std::string& destination, bool paused) override {
    auto changed = inner_->set_paused(destination, paused);
    if (changed.ok()) auditor_.paused(destination, paused);
    return changed;
  }
  Result<std::optional<ReplyState>> reply(const EventId& id) override { return inner_->reply(id); }
  bool searches_bodies() const override { return inner_->searches_bodies(); }
  Result<std::optional<EventDetail>> get(const EventId& id) override { return inner_->get(id); }
  Result<EventPage> list(const EventFilter& filter, int limit, const std::optional<std::string>& cursor) override {
    return inner_->list(filter, limit, cursor);
  }
  Result<DeliveryPage> deliveries(const DeliveryFilter& filter, int limit,
                                  const std::optional<std::string>& cursor) override {
    return inner_->deliveries(filter, limit, cursor);
  }
  Result<StoreStats> stats(Time now) override { return inner_->stats(now); }
  Result<Replayed> replay(const ReplayRequest& request, Time now) override {
    auto replayed = inner_->replay(request, now);
    if (replayed.ok()) auditor_.replayed(replayed.value(), request.new_key, now);
    return replayed;
  }
  Result<std::int64_t> prune(const PruneRequest& request) override {
    auto removed = inner_->prune(request);
    if (removed.ok()) auditor_.pruned(request, *inner_);
    return removed;
  }
  Result<bool> apply_line_rule(const LineRule& rule, Time now) override { return inner_->apply_line_rule(rule, now); }
  Status health() override { return inner_->health(); }
  Status recover(Time now) override { return inner_->recover(now); }

 private:
  std::unique_ptr<Store> inner_;
  Auditor& auditor_;
};

}  // namespace hookonce::sim
