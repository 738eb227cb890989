// From a verified request to what the store is asked to accept. Pure.
#pragma once

#include <optional>
#include <string>

#include "base/http_message.h"
#include "core/client_address.h"
#include "core/model.h"
#include "ingest/source_table.h"
#include "provider/provider.h"

namespace hookonce {

// Whether the source's `missing_key` refuses what `identity` says.
bool lacks_key(const IngestSource& source, const Identity& identity);

// For people: which field should have held the key.
std::string missing_key_message(const IngestSource& source);

struct VerifiedRequest {
  HttpRequest request;
  Verification verification;
  Identity identity;
  Client client;
};

// Body, headers and charge are moved out of the request. REQUIRES: !lacks_key(source, identity), identity.body.ok().
NewEvent new_event(const IngestSource& source, VerifiedRequest verified, const EventId& id);

}  // namespace hookonce
