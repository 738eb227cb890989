// Keeps its own books of what must be true, from what crosses the edges, and names the first thing that is not.
//
// It sees: every verb that the shared store really did (audited_store.h), every answer that left for the provider,
// every attempt that started at a destination. It trusts none of the three: each is checked against the books, and the
// books against what the store shows.
#pragma once

#include <fmt/format.h>

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "store/store.h"
#include "test/sim/plan.h"

namespace hookonce::sim {

class Auditor {
 public:
  explicit Auditor(const Plan& plan) : plan_(plan) {}

  // Verbs of the store that took effect; `now` is the store's.
  void committed(std::span<const NewEvent> events, std::span<const Settlement> settlements, const CommitFacts& facts,
                 Time now);
  void claimed(const ClaimRequest& request, const Claimed& claimed, Time now);
  void replayed(const Replayed& replayed, bool new_key, Time now);
  void pruned(const PruneRequest& request, Store& truth);
  void paused(const std::string& destination, bool paused) {
    if (paused) {
      paused_.insert(destination);
    } else {
      paused_.erase(destination);
    }
  }
  // Every process died and the store was opened anew, which ends every lease.
  void reopened(Time now);

  // What the provider signed under this key. A body is one event's, whatever key it comes under.
  void signed_by_provider(const std::string& source, const std::string& key, const std::string& body) {
    signed_[{source, key}] = body;
  }
  // A 2xx left for a request, naming `id` (nullopt: none).
  void acknowledged(const std::string& source, const std::string& body, const std::optional<EventId>& id, Store& truth);

  // An attempt began at its destination, `instance` is who makes it.
  void started(const Lease& lease, int instance, Time now);
  void ended(const Lease& lease);
  void died(int instance);  // and its attempts with it

  // What changed since the last call, as the store shows it.
  void compare(Store& truth);
  // When the world has healed and all is quiet.
  void finish(Store& truth);
  bool all_ended() const { return open_deliveries_ == 0; }
  bool has_accepted(const std::string& source, const std::string& body) const {
    return bodies_.contains({source, body});
  }

  // The deliveries that have not ended, for people.
  std::string open_deliveries() const;
  const std::vector<EventId>& events() const { return order_; }
  bool failed() const { return violation_.has_value(); }
  const std::optional<std::string>& violation() const { return violation_; }

  template <typename... Arguments>
  void fail(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    if (!violation_) violation_ = fmt::format(format, std::forward<Arguments>(arguments)...);
  }

 private:
  struct DeliveryBook {
    DeliveryState state = DeliveryState::kPending;
    int newest = 0;
    bool unsettled = false;
    int counted = 0;
    bool replayed = false;
    int new_keys = 0;
    int new_key = 0;
    Time armed_at{};
    Time due_at{};       // valid while pending
    Time claimed_at{};   // of the newest attempt
    Time lease_until{};  // valid while in flight
    Time ended_at{};     // valid while delivered or dead
    bool ever_delivered = false;
  };
  struct EventBook {
    std::string source;
    std::string key;
    std::string body;
    Time received_at{};
    int order = 0;
    std::int64_t duplicates = 0;
    bool pruned = false;
    std::map<std::string, DeliveryBook> deliveries;
  };
  struct Holder {
    EventId id;
    int order = 0;
    Time until{};
  };
  struct Running {
    EventId event;
    std::string destination;
    int attempt = 0;
    int instance = 0;
    Time lease_until{};
  };
  using KeyName = std::pair<std::string, KeyHash>;

  void accepted(const NewEvent& event, const AcceptFacts& facts, Time now);
  void duplicated(const NewEvent& event, const Holder& holder, const AcceptFacts& facts, Time now);
  void settled(const Settlement& settlement, const SettleFacts& facts, Time now);
  void take(const Settlement& settlement, DeliveryBook& book, Time now);
  void leased(const ClaimDestination& limits, const Lease& lease, Time now);
  void buried(const ClaimDestination& limits, const DeadDelivery& dead, Time now);
  void compare(const EventId& id, const EventBook& event, Store& truth);
  void compare(const EventId& id, const DeliveryBook& book, const Delivery& shown);
  EventState state_of(const EventBook& event) const;
  // Every change of a state goes through here, so that the open ones are counted.
  void change(DeliveryBook& book, DeliveryState state);
  void arm(DeliveryBook& book, Time now);
  DeliveryBook* find(const EventId& id, const std::string& destination);
  static bool used_up(int attempts, Duration give_up, int counted, Duration since_armed) {
    return counted >= attempts || since_armed >= give_up;
  }

  const Plan& plan_;
  std::map<EventId, EventBook> books_;
  std::vector<EventId> order_;
  std::map<KeyName, Holder> holders_;
  std::set<std::pair<std::string, std::string>> bodies_;               // of what was accepted, by source
  std::map<std::pair<std::string, std::string>, std::string> signed_;  // body by source and key
  std::vector<Running> running_;
  std::set<std::tuple<EventId, std::string, int>> sent_;
  std::set<EventId> touched_;
  std::set<std::string> paused_;
  int open_deliveries_ = 0;
  std::optional<std::string> violation_;
};

}  // namespace hookonce::sim
