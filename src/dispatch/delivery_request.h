// The request that a destination receives (contract section 6), as a pure function.
#pragma once

#include "core/config.h"
#include "core/settle.h"
#include "http/client.h"
#include "provider/provider.h"
#include "provider/standard_webhooks_signer.h"

namespace hookonce {

// What outgoing signatures need, prepared once per configuration snapshot.
struct DeliveryContext {
  const DestinationConfig* destination = nullptr;
  const SourceConfig* source = nullptr;            // null: the source was removed; then nothing is re-signed
  const BoundProvider* provider = nullptr;         // null likewise
  const StandardWebhooksSigner* source_signer = nullptr;  // set where the source is a Standard Webhook
  const StandardWebhooksSigner* signer = nullptr;         // the destination's secrets; null where it has none
};

// `wall` is wall time, for signatures.
ClientRequest delivery_request(const Lease& lease, const DeliveryContext& context, Time wall);

}  // namespace hookonce
