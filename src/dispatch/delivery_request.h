// The request that a destination receives (contract section 6), as a pure function.
#pragma once

#include <optional>

#include "core/config.h"
#include "core/settle.h"
#include "http/client.h"
#include "provider/provider.h"
#include "provider/standard_webhooks_signer.h"

namespace hookonce {

// What outgoing signatures need, prepared once per configuration snapshot.
struct DeliveryContext {
  const DestinationConfig* destination = nullptr;
  const BoundProvider* provider = nullptr;  // null: the source was removed, and nothing is re-signed
  // Whether the source's events are Standard Webhooks themselves; nullopt where the source was removed, and nobody
  // knows.
  std::optional<bool> carries_webhook_id;
  const StandardWebhooksSigner* signer = nullptr;  // the destination's secrets; null where it has none
};

// `wall` is wall time, for signatures.
ClientRequest delivery_request(const Lease& lease, const DeliveryContext& context, Time wall);

}  // namespace hookonce
