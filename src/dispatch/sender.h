// Makes one attempt of one delivery.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "core/config.h"
#include "core/settle.h"

namespace hookonce {

// A synchronous source's reply that came too late for its sender, and where the provider takes such.
struct LateReply {
  EventId event;
  std::string source;
  std::string url;  // gives the right to write to a person: never logged
  Reply reply;
};

class Sender {
 public:
  using Done = std::function<void(AttemptResult)>;  // called once, on any thread; must not block

  virtual ~Sender() = default;
  // Never blocks. `config` is the snapshot under which the lease was claimed; the destination is in it.
  virtual void send(Lease lease, std::shared_ptr<const Config> config, Done done) = 0;
  // Posts a late reply, once; how that ended is in the log and the metrics. Never blocks. `config` as for send().
  virtual void send_late(LateReply late, std::shared_ptr<const Config> config) = 0;
  // Ends all attempts on their way as kReleased. Afterwards send() answers kReleased.
  virtual void stop() = 0;
};

}  // namespace hookonce
