// A store that hands every call on; what stands in front of one overrides the verbs it is about.
#pragma once

#include <memory>
#include <utility>

#include "store/store.h"

namespace hookonce {

class ForwardingStore : public Store {
 public:
  // REQUIRES: inner outlives this.
  explicit ForwardingStore(Store& inner) : inner_(inner) {}
  explicit ForwardingStore(std::unique_ptr<Store> inner) : owned_(std::move(inner)), inner_(*owned_) {}

  Result<CommitFacts> commit(std::span<const NewEvent> events, std::span<const Settlement> settlements,
                             Time now) override {
    return inner_.commit(events, settlements, now);
  }
  Result<std::optional<AcceptFacts>> find_duplicate(const NewEvent& event, Time now) override {
    return inner_.find_duplicate(event, now);
  }
  Result<Claimed> claim(const ClaimRequest& request, Time now) override { return inner_.claim(request, now); }
  Result<std::optional<Time>> next_due(const std::vector<std::string>& names, Time now) override {
    return inner_.next_due(names, now);
  }
  Result<bool> set_paused(const std::string& destination, bool paused) override {
    return inner_.set_paused(destination, paused);
  }
  Result<std::optional<ReplyState>> reply(const EventId& id) override { return inner_.reply(id); }
  bool searches_bodies() const override { return inner_.searches_bodies(); }
  Result<std::optional<EventDetail>> get(const EventId& id) override { return inner_.get(id); }
  Result<EventPage> list(const EventFilter& filter, int limit, const std::optional<std::string>& cursor) override {
    return inner_.list(filter, limit, cursor);
  }
  Result<DeliveryPage> deliveries(const DeliveryFilter& filter, int limit,
                                  const std::optional<std::string>& cursor) override {
    return inner_.deliveries(filter, limit, cursor);
  }
  Result<StoreStats> stats(Time now) override { return inner_.stats(now); }
  Result<Replayed> replay(const ReplayRequest& request, Time now) override { return inner_.replay(request, now); }
  Result<std::int64_t> prune(const PruneRequest& request) override { return inner_.prune(request); }
  Result<bool> apply_line_rule(const LineRule& rule, Time now) override { return inner_.apply_line_rule(rule, now); }
  Status health() override { return inner_.health(); }
  Status recover(Time now) override { return inner_.recover(now); }
  std::vector<std::string> weaknesses() override { return inner_.weaknesses(); }
  InboxRecords* records() override { return inner_.records(); }

 protected:
  Store& inner() { return inner_; }

 private:
  std::unique_ptr<Store> owned_;  // null where the inner store is somebody else's
  Store& inner_;
};

}  // namespace hookonce
