// The delivering half at work: one thread that ticks the dispatcher, hands leases to the sender, and outcomes to the
// committer.
//
// A slot is held until its settlement is committed, or goes into the transaction that claims the next lease for it: so
// what waits for a store that is away is bounded by the concurrency. The first attempts of synchronous sources' events
// come leased and take no slot: they are beside `concurrency` and `rate`, and bounded per destination by a limit of
// their own. One that may not start now (the breaker is not closed, the limit is reached, the pool stops) is given
// back, uncounted.
#pragma once

#include <memory>

#include "base/clock.h"
#include "core/config.h"
#include "core/sync_delivery.h"
#include "dispatch/sender.h"
#include "store/committer.h"
#include "store/store.h"

namespace hookonce {

class DeliveryPool final : public SyncDelivery {
 public:
  struct Observer {
    virtual ~Observer() = default;
    // After the settlement was committed; on the committer's thread, must not block.
    virtual void settled(const Lease& lease, const Settlement& settlement, const SettleFacts& facts) = 0;
    // A delivery ended as dead because its last attempt's lease ran out; on the pool's thread, must not block.
    virtual void buried(const DeadDelivery&) {}
  };
  struct Options {
    Duration idle_poll{};  // shared stores: look again after this at the latest; zero: never needed
    Observer* observer = nullptr;
  };

  // REQUIRES: all outlive this.
  DeliveryPool(Store& store, Committer& committer, Sender& sender, const Clock& clock, Options options);
  ~DeliveryPool() override;  // stop(0)

  void start(std::shared_ptr<const Config> config);
  void configure(std::shared_ptr<const Config> config);  // any thread
  void nudge();                                          // any thread: something may be due now
  void deliver(Lease lease, Time leased_after, Done done) override;
  void await_reply(const EventId& event, Time deadline, Done done) override;
  // Claims nothing more, waits until the attempts in flight have ended and are settled, at most `limit`; releases the
  // rest, uncounted, and waits for those settlements. The sender is stopped.
  void stop(Duration limit);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hookonce
