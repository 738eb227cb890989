// The delivering side of synchronous sources as ingest sees it: keeps each call until the test answers it.
#pragma once

#include <utility>
#include <vector>

#include "core/sync_delivery.h"

namespace hookonce {

// Used by the test's thread alone: ingest calls on the loop.
class RecordingSync final : public SyncDelivery {
 public:
  struct Delivered {
    Lease lease;
    Time leased_after{};
    Done done;
  };
  struct Awaited {
    EventId event;
    Time deadline{};
    Done done;
  };

  void deliver(Lease lease, Time leased_after, Done done) override {
    delivered.push_back({std::move(lease), leased_after, std::move(done)});
  }
  void await_reply(const EventId& event, Time deadline, Done done) override {
    awaited.push_back({event, deadline, std::move(done)});
  }

  std::vector<Delivered> delivered;
  std::vector<Awaited> awaited;
};

}  // namespace hookonce
