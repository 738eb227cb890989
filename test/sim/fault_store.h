// One instance's way to the shared store, which fails at the call that the simulation chose.
//
// Fault model: the N-th call from now on fails once, as one of
//   busy      nothing is done, the store stays healthy (somebody held a lock);
//   away      nothing is done, and the instance's store is ill until recover() has been called often enough;
//   unknown   the COMMIT of a writing verb failed, having taken effect or not; ill afterwards. Reading verbs: as away.
// While ill every verb is kUnavailable; find_duplicate() answers or not, as the fault says. Besides: a batch that holds
// a poisonous event is kInternal and nothing of it is done. A lie, a torn transaction or lost data is not modelled: the
// store contract rules them out, and test/contract and test/crash look for them.
#pragma once

#include <string>
#include <utility>

#include "base/clock.h"
#include "test/support/forwarding_store.h"

namespace hookonce::sim {

struct Fault {
  enum class Kind { kBusy, kAway, kUnknownDone, kUnknownNotDone };
  Kind kind = Kind::kBusy;
  int call = 1;       // the first call from now on is 1
  int recovers = 0;   // how often recover() fails before it mends the store
  bool reads = true;  // whether find_duplicate() answers meanwhile
};

inline constexpr std::string_view kPoison = "poison";

class FaultStore final : public ForwardingStore {
 public:
  // Judges by `clock` and not by the caller's time, as every shared store does. REQUIRES: both outlive this.
  FaultStore(Store& inner, const Clock& clock) : ForwardingStore(inner), clock_(clock) {}

  void arm(const Fault& fault) {
    fault_ = fault;
    armed_ = true;
  }
  // The world heals.
  void mend() {
    armed_ = false;
    ill_ = false;
  }

  Result<CommitFacts> commit(std::span<const NewEvent> events, std::span<const Settlement> settlements, Time) override {
    for (const NewEvent& event : events) {
      if (!ill_ && event.body == kPoison) return internal("an event that cannot be stored");
    }
    return write<CommitFacts>([&] { return inner().commit(events, settlements, clock_.now()); });
  }
  Result<std::optional<AcceptFacts>> find_duplicate(const NewEvent& event, Time) override {
    if (ill_ && !fault_.reads) return away();
    return inner().find_duplicate(event, clock_.now());
  }
  Result<Claimed> claim(const ClaimRequest& request, Time) override {
    return write<Claimed>([&] { return inner().claim(request, clock_.now()); });
  }
  Result<std::optional<Time>> next_due(const std::vector<std::string>& names, Time) override {
    if (struck() || ill_) {
      ill_ = ill_ || fault_.kind != Fault::Kind::kBusy;
      return away();
    }
    return inner().next_due(names, clock_.now());
  }
  Result<bool> set_paused(const std::string& destination, bool paused) override {
    return write<bool>([&] { return inner().set_paused(destination, paused); });
  }
  Result<Replayed> replay(const ReplayRequest& request, Time) override {
    return write<Replayed>([&] { return inner().replay(request, clock_.now()); });
  }
  Result<std::int64_t> prune(const PruneRequest& request) override {
    return write<std::int64_t>([&] { return inner().prune(request); });
  }
  Status health() override { return ill_ ? away() : Status(); }
  Status recover(Time) override {
    if (fault_.recovers-- > 0) return away();
    ill_ = false;
    return {};
  }

 private:
  static Status away() { return unavailable("the store is away"); }

  // Whether this call is the one that fails.
  bool struck() {
    if (!armed_ || ill_ || --fault_.call > 0) return false;
    armed_ = false;
    return true;
  }

  template <typename T, typename Call>
  Result<T> write(const Call& call) {
    if (ill_) return away();
    if (!struck()) return call();
    if (fault_.kind == Fault::Kind::kBusy) return away();
    ill_ = true;
    if (fault_.kind == Fault::Kind::kAway) return away();
    if (fault_.kind == Fault::Kind::kUnknownDone) {
      const Result<T> done = call();
      if (!done.ok()) return done.status();
    }
    return unknown_outcome("the commit failed");
  }

  const Clock& clock_;
  Fault fault_;
  bool armed_ = false;
  bool ill_ = false;
};

}  // namespace hookonce::sim
