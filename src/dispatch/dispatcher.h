// Decides which deliveries start now: no threads, no clock, no sending.
//
//   Dispatcher dispatcher(store);
//   Dispatcher::Tick tick = dispatcher.tick(now, *config);
//   for (Lease& lease : tick.leases) send(std::move(lease));     // each holds a slot until freed(destination)
//   sleep_until(tick.wake_at);
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/config.h"
#include "core/rate.h"
#include "store/store.h"

namespace hookonce {

class Dispatcher {
 public:
  struct Tick {
    std::vector<Lease> leases;
    std::vector<DeadDelivery> dead;
    // When to call again if nothing happens before; nullopt: when a slot frees or a delivery becomes pending.
    std::optional<Time> wake_at;
  };

  // REQUIRES: store outlives this. Not thread-safe: one thread calls.
  explicit Dispatcher(Store& store);

  // Claims never more than the free slots (and the rate's tokens) of a destination, so no lease ages in a queue.
  Result<Tick> tick(Time now, const Config& config);
  void freed(const std::string& destination);
  int in_flight(const std::string& destination) const;

 private:
  struct Destination {
    int busy = 0;        // leases that hold a slot
    TokenBucket bucket;  // of the rate limit
  };
  // What may start at a destination now, and what keeps more from starting.
  struct Room {
    int free_slots = 0;
    int leases = 0;                  // at most this many now
    std::optional<Time> next_token;  // valid where the rate allows fewer than the slots
  };
  Room room_of(const DestinationConfig& config, Time now);
  Result<std::optional<Time>> wake_at(const std::map<std::string, Room>& rooms, Time now);

  Store& store_;
  std::map<std::string, Destination, std::less<>> destinations_;
};

}  // namespace hookonce
