#include "test/sim/canary.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "test/support/forwarding_store.h"

namespace hookonce::sim {

namespace {

using DeliveryName = std::pair<EventId, std::string>;

// An event can't be copied because of its charge, which no store looks at.
NewEvent clone(const NewEvent& event) {
  NewEvent copy;
  copy.id = event.id;
  copy.source = event.source;
  copy.type = event.type;
  copy.key = event.key;
  copy.keys = event.keys;
  copy.rule = event.rule;
  copy.window = event.window;
  copy.headers = event.headers;
  copy.body = event.body;
  copy.arrival = event.arrival;
  copy.destinations = event.destinations;
  copy.rearm = event.rearm;
  return copy;
}

class BrokenStore : public ForwardingStore {
 public:
  explicit BrokenStore(std::unique_ptr<Store> inner) : ForwardingStore(std::move(inner)) {}

  Result<CommitFacts> commit(std::span<const NewEvent> events, std::span<const Settlement> settlements,
                             Time now) override {
    std::vector<NewEvent> changed_events;
    for (const NewEvent& event : events) changed_events.push_back(changed(event));
    std::vector<Settlement> changed_settlements;
    for (const Settlement& settlement : settlements) changed_settlements.push_back(changed(settlement));
    auto facts = inner().commit(changed_events, changed_settlements, now);
    committed();
    return facts;
  }

 protected:
  virtual NewEvent changed(const NewEvent& event) { return clone(event); }
  virtual Settlement changed(const Settlement& settlement) { return settlement; }
  virtual void committed() {}
};

// What the last transaction wrote was not there yet when this one looked.
class LookThenInsert final : public BrokenStore {
 public:
  using BrokenStore::BrokenStore;

 protected:
  NewEvent changed(const NewEvent& event) override {
    NewEvent copy = clone(event);
    for (KeyHash& key : copy.keys) {
      const bool raced = unseen_.contains({event.source, key});
      written_.insert({event.source, key});
      if (raced) key[0] = static_cast<std::uint8_t>(key[0] + ++races_);
    }
    return copy;
  }
  void committed() override { unseen_ = std::exchange(written_, {}); }

 private:
  std::set<std::pair<std::string, KeyHash>> unseen_;
  std::set<std::pair<std::string, KeyHash>> written_;
  int races_ = 0;
};

class ForgetsExpiry final : public BrokenStore {
 public:
  using BrokenStore::BrokenStore;

 protected:
  NewEvent changed(const NewEvent& event) override {
    NewEvent copy = clone(event);
    copy.window = std::chrono::hours(24 * 365);
    return copy;
  }
};

class PrunedIsFree final : public BrokenStore {
 public:
  using BrokenStore::BrokenStore;

  Result<std::int64_t> prune(const PruneRequest& request) override {
    auto removed = inner().prune(request);
    for (auto it = keys_.begin(); it != keys_.end();) {
      const auto event = inner().get(it->first);
      const bool gone = event.ok() && !event.value();
      if (gone) {
        for (const KeyHash& key : it->second) ++lives_[key];
      }
      it = gone ? keys_.erase(it) : std::next(it);
    }
    return removed;
  }

 protected:
  NewEvent changed(const NewEvent& event) override {
    NewEvent copy = clone(event);
    keys_[event.id] = event.keys;
    for (KeyHash& key : copy.keys) key[0] = static_cast<std::uint8_t>(key[0] + lives_[key]);
    return copy;
  }

 private:
  std::map<EventId, std::vector<KeyHash>> keys_;
  std::map<KeyHash, int> lives_;
};

class SettlesStale final : public BrokenStore {
 public:
  using BrokenStore::BrokenStore;

 protected:
  Settlement changed(const Settlement& settlement) override {
    Settlement copy = settlement;
    const auto event = inner().get(settlement.event);
    if (!event.ok() || !event.value()) return copy;
    for (const Delivery& delivery : event.value()->deliveries) {
      if (delivery.destination == settlement.destination && !delivery.attempts.empty())
        copy.attempt = delivery.attempts.back().number;
    }
    return copy;
  }
};

class LosesRetries final : public BrokenStore {
 public:
  using BrokenStore::BrokenStore;

 protected:
  Settlement changed(const Settlement& settlement) override {
    Settlement copy = settlement;
    if (copy.next == Next::kRetry && copy.attempt % 2 == 0) copy.next = Next::kDead;
    return copy;
  }
};

class ClaimsHeldLeases final : public BrokenStore {
 public:
  using BrokenStore::BrokenStore;

  Result<Claimed> claim(const ClaimRequest& request, Time now) override {
    constexpr int kShorter = 4;
    ClaimRequest shorter = request;
    for (ClaimDestination& destination : shorter.destinations) destination.lease /= kShorter;
    auto claimed = inner().claim(shorter, now);
    if (!claimed.ok()) return claimed;
    for (Lease& lease : claimed.value().leases) {
      for (const ClaimDestination& destination : request.destinations) {
        if (destination.name == lease.destination) lease.until = now + destination.lease;
      }
    }
    return claimed;
  }
};

class ReusesNumbers final : public BrokenStore {
 public:
  using BrokenStore::BrokenStore;

  Result<Claimed> claim(const ClaimRequest& request, Time now) override {
    auto claimed = inner().claim(request, now);
    if (!claimed.ok()) return claimed;
    for (Lease& lease : claimed.value().leases) {
      newest_[{lease.event, lease.destination}] = lease.attempt;
      lease.attempt -= before_[{lease.event, lease.destination}];
    }
    return claimed;
  }
  Result<Replayed> replay(const ReplayRequest& request, Time now) override {
    auto replayed = inner().replay(request, now);
    if (!replayed.ok()) return replayed;
    for (const ReplayedDelivery& delivery : replayed.value().deliveries) {
      if (delivery.before == DeliveryState::kInFlight) continue;
      const DeliveryName name{delivery.event, delivery.destination};
      before_[name] = newest_[name];
    }
    return replayed;
  }

 protected:
  Settlement changed(const Settlement& settlement) override {
    Settlement copy = settlement;
    copy.attempt += before_[{settlement.event, settlement.destination}];
    return copy;
  }

 private:
  std::map<DeliveryName, int> newest_;
  std::map<DeliveryName, int> before_;  // numbers given out before the last replay
};

}  // namespace

const std::vector<CanaryName>& canaries() {
  static const std::vector<CanaryName> all = {
      {Canary::kLookThenInsert, "look-then-insert"},     {Canary::kForgetsExpiry, "forgets-expiry"},
      {Canary::kPrunedIsFree, "pruned-is-free"},         {Canary::kSettlesStale, "settles-stale"},
      {Canary::kClaimsHeldLeases, "claims-held-leases"}, {Canary::kReusesNumbers, "reuses-numbers"},
      {Canary::kLosesRetries, "loses-retries"},          {Canary::kAnswersEarly, "answers-early"},
      {Canary::kUnknownIsDone, "unknown-is-done"},       {Canary::kUnknownDropsDelivery, "unknown-drops-delivery"},
      {Canary::kRetriesDelivered, "retries-delivered"},  {Canary::kIgnoresLimit, "ignores-limit"},
      {Canary::kSwallowsRetries, "swallows-retries"},    {Canary::kVerifiesLate, "verifies-late"},
      {Canary::kSendsOnOldLease, "sends-on-old-lease"},  {Canary::kForgetsNudge, "forgets-nudge"},
  };
  return all;
}

std::optional<Canary> parse_canary(std::string_view name) {
  for (const CanaryName& canary : canaries()) {
    if (canary.name == name) return canary.canary;
  }
  return std::nullopt;
}

std::string_view to_string(Canary canary) {
  for (const CanaryName& known : canaries()) {
    if (known.canary == canary) return known.name;
  }
  return "none";
}

std::unique_ptr<Store> with_canary(Canary canary, std::unique_ptr<Store> inner) {
  switch (canary) {
    case Canary::kLookThenInsert:
      return std::make_unique<LookThenInsert>(std::move(inner));
    case Canary::kForgetsExpiry:
      return std::make_unique<ForgetsExpiry>(std::move(inner));
    case Canary::kPrunedIsFree:
      return std::make_unique<PrunedIsFree>(std::move(inner));
    case Canary::kSettlesStale:
      return std::make_unique<SettlesStale>(std::move(inner));
    case Canary::kClaimsHeldLeases:
      return std::make_unique<ClaimsHeldLeases>(std::move(inner));
    case Canary::kReusesNumbers:
      return std::make_unique<ReusesNumbers>(std::move(inner));
    case Canary::kLosesRetries:
      return std::make_unique<LosesRetries>(std::move(inner));
    default:
      return inner;  // A broken gateway over a store that is well.
  }
}

}  // namespace hookonce::sim
