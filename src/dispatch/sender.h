// Makes one attempt of one delivery.
#pragma once

#include <functional>
#include <memory>

#include "core/config.h"
#include "core/settle.h"

namespace hookonce {

class Sender {
 public:
  using Done = std::function<void(AttemptResult)>;  // called once, on any thread; must not block

  virtual ~Sender() = default;
  // Never blocks. `config` is the snapshot under which the lease was claimed; the destination is in it.
  virtual void send(Lease lease, std::shared_ptr<const Config> config, Done done) = 0;
  // Ends all attempts on their way as kReleased. Afterwards send() answers kReleased.
  virtual void stop() = 0;
};

}  // namespace hookonce
