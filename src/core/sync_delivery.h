// The seam between who holds a waiting sender (ingest) and who knows the destination's answer (dispatch): the app hands
// the one to the other.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "core/settle.h"

namespace hookonce {

struct SyncAnswer {
  std::optional<Reply> reply;  // durable; nullopt: none for this sender, and it gets an acknowledgement
  // Sends the reply to where the provider takes late ones. To be called where the sender did not get it in time; may be
  // null: there is no such place, or nobody asked for it.
  std::function<void()> late{};
  // Why there is no reply, for the log, without a secret: "the attempt failed: answered 500". Valid without a reply.
  std::string reason{};
};

class SyncDelivery {
 public:
  using Done = std::function<void(SyncAnswer)>;  // called once, on any thread, perhaps during the call; must not block

  virtual ~SyncDelivery() = default;

  // Starts the attempt that was leased with the accept; `done` hears of it when its settlement is committed. Where it
  // cannot start now it is given back, and `done` hears so at once: the delivery goes its usual way. `leased_after` is
  // a moment of Clock::now() before the accept began. Any thread; never blocks.
  virtual void deliver(Lease lease, Time leased_after, Done done) = 0;

  // Waits until the event has a reply, whoever makes the attempt, at most until `deadline` by Clock::now(), and no
  // longer than one can come: not for an event that has been pruned, is dead, or was delivered without one. Any thread;
  // never blocks.
  virtual void await_reply(const EventId& event, Time deadline, Done done) = 0;
};

}  // namespace hookonce
