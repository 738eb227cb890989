// Attempts over HTTP: builds what contract section 6 says and sends it with http/client.h.
#pragma once

#include <memory>

#include "base/clock.h"
#include "dispatch/sender.h"
#include "http/client.h"

namespace hookonce {

// REQUIRES: clock outlives the sender. The outgoing signatures use clock.wall().
Result<std::unique_ptr<Sender>> make_http_sender(const Clock& clock);

}  // namespace hookonce
