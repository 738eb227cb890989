// The asynchronous face of the store: many threads submit, one thread commits whatever has gathered in one transaction.
// A claim goes with it where the store gains by that, so that a round of deliveries costs one sync and not two.
//
// Group commit falls out of it: while one commit is on its way, the next batch gathers. Callbacks run on the executor
// they came with (one wake-up per batch and executor), or on the committer's thread where that is null; they must not
// block.
//
// If a batch fails for another reason than the store's being unavailable, it is halved until the culprit stands alone;
// only that one gets the error. So it is where something in the batch is held by others for longer than the store
// waits: the rest is committed, and what was held is tried again alone, an event until its deadline. A duplicate of a
// durable event is answered as one even where its own record cannot be written. When the store turns unhealthy, the
// committer asks it to recover(), with back-off, and answers kUnavailable meanwhile.
#pragma once

#include <functional>
#include <memory>

#include "base/executor.h"
#include "base/result.h"
#include "store/store.h"

namespace hookonce {

class Committer {
 public:
  using AcceptDone = std::function<void(Result<AcceptFacts>)>;
  using SettleDone = std::function<void(Result<SettleFacts>)>;
  using Wanted = std::function<ClaimRequest(Time now)>;

  struct Options {
    std::size_t batch_max = 512;              // events and settlements of one transaction
    std::size_t batch_bytes_max = 32u << 20;  // bodies of one transaction
    std::size_t batch_keys_max = 4096;        // dedup keys of one transaction; an event may bring kItemsMax
    std::size_t queue_max = 16384;            // accepts waiting; above it submit() answers kExhausted at once
    // Called on the committer's thread about once a second between batches, also when idle: pruning, metrics.
    std::function<void(Time now)> upkeep;
    // Called after a commit that made deliveries pending, on the committer's thread; must not block.
    std::function<void()> deliveries_pending;
    // Called once when recover() says that only a person can help; the gateway drains and exits 1.
    std::function<void(const Status&)> given_up;
  };

  // REQUIRES: store and clock outlive this.
  Committer(Store& store, const Clock& clock, Options options);
  ~Committer();  // stop()

  void start();
  // Commits what has been submitted, then ends the thread. Submitting afterwards answers kUnavailable.
  void stop();

  // Any thread. `done` is called exactly once: facts; kUnavailable (not stored, or `deadline` by Clock::now() passed
  // before a transaction began); kUnknown; kExhausted; kInternal (this event cannot be stored).
  void submit(NewEvent event, Time deadline, Executor* executor, AcceptDone done);
  // Any thread. Kept until the store takes or refuses it: `done` gets facts, or kInternal for one that can't be stored,
  // or kUnavailable only after stop(). Settlements are bounded by the attempts in flight.
  void submit(Settlement settlement, Executor* executor, SettleDone done);
  // As Store::claim(), durable when it returns; waits for the transaction that it goes with, and only then asks what is
  // wanted, so that what ends meanwhile makes room in the same one: on the committer's thread, while the caller waits.
  // kUnavailable while the store is ill, and after stop(). REQUIRES: start() was called; one thread at a time, never
  // the committer's.
  Result<Claimed> claim(const Wanted& wanted);
  // Whether a claim's transaction settles first what was submitted before it.
  bool settles_before_claims() const;

  std::size_t queued() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hookonce
