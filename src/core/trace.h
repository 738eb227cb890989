// The trace that a sender says its request belongs to (W3C Trace Context). It is passed on and shown, and decides
// nothing. Pure.
#pragma once

#include <string_view>

#include "base/http_message.h"

namespace hookonce {

// The trace id of the one `traceparent` header: 32 hex digits; valid while `headers` are unchanged. Empty where there
// is none, there are several, or it is not as the standard says.
std::string_view trace_id(const Headers& headers);

}  // namespace hookonce
