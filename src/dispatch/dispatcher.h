// Decides which deliveries start now: no threads, no clock, no sending.
//
//   Dispatcher dispatcher(store);
//   Dispatcher::Tick tick = dispatcher.tick(now, *config);
//   for (Lease& lease : tick.leases) send(std::move(lease));     // each holds a slot until ended()
//   sleep_until(tick.wake_at);
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/breaker.h"
#include "core/config.h"
#include "core/rate.h"
#include "store/store.h"

namespace hookonce {

class Dispatcher {
 public:
  struct Tick {
    std::vector<Lease> leases;
    std::vector<DeadDelivery> dead;
    Time asked_at{};  // just before the store took the leases, by the caller's clock or the claim's
    // When to call again if nothing happens before; nullopt: when a slot frees or a delivery becomes pending.
    std::optional<Time> wake_at;
  };

  // A breaker that opened (until when, and after which error) or closed.
  struct BreakerChange {
    std::string destination;
    std::optional<Time> open_until;  // nullopt: closed
    std::string error;               // valid where it opened
  };

  // How a claim is made: what is wanted is asked for when the store is about to look. Without one, by the store at
  // once.
  using Claim = std::function<Result<Claimed>(const std::function<ClaimRequest(Time now)>& wanted)>;

  // REQUIRES: store outlives this. Not thread-safe: one thread at a time.
  explicit Dispatcher(Store& store, Claim claim = nullptr);

  // Claims never more than the free slots (and the rate's tokens) of a destination, so no lease ages in a queue, and
  // nothing for one whose breaker is open.
  Result<Tick> tick(Time now, const Config& config);
  // An attempt has ended and its slot is free.
  void ended(const AttemptEnd& end, const Config& config, Time now);
  // An attempt that held no slot has ended: what it says about the destination counts all the same.
  void noted_beside(const AttemptEnd& end, const Config& config, Time now);
  int in_flight(const std::string& destination) const;
  // Since the last call, oldest first.
  std::vector<BreakerChange> take_breaker_changes() { return std::exchange(changes_, {}); }

 private:
  struct Destination {
    int busy = 0;        // leases that hold a slot
    int older = 0;       // of those, begun before the breaker closed: they do not count for its ramp
    TokenBucket bucket;  // of the rate limit
    Breaker breaker;
    // The store has said that something will be due when the room's time comes: nobody need ask again at every nudge
    // before the next claim there.
    bool due_waits = false;
    std::string url;  // that the breaker is about
  };
  // What may start at a destination now, and what keeps more from starting.
  struct Room {
    int free_slots = 0;  // as far as the breaker lets them be taken
    int leases = 0;      // at most this many now
    // When time alone lets more start: the next token, the end of an open breaker, or of the wait for its probe.
    std::optional<Time> not_before;
  };
  using Rooms = std::map<std::string, Room>;
  Room room_of(const DestinationConfig& config, Time now);
  ClaimRequest wanted(const Config& config, Time now, Rooms& rooms);
  void take(const Lease& lease, const DestinationConfig& config, Room& room, Time now);
  void judge(Destination& destination, const AttemptEnd& end, const Config& config, Time now);
  void forget_breakers(const Config& config, Time now);
  void set_breaker(const std::string& name, Destination& destination, Breaker breaker, const std::string& error);
  Result<std::optional<Time>> wake_at(const Rooms& rooms, Time now);

  Store& store_;
  const Claim claim_;
  std::map<std::string, Destination, std::less<>> destinations_;
  std::vector<BreakerChange> changes_;
};

}  // namespace hookonce
