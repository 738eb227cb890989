// The calls that tell how the gateway is: health, readiness, configuration without secrets, counts and depths.
#pragma once

#include "admin/call_context.h"

namespace hookonce {

HttpResponse health();
// `told_why`: the caller has the token, or none is needed.
HttpResponse readiness(const CallContext& context, bool told_why);
HttpResponse list_sources(const CallContext& context);
HttpResponse list_destinations(const CallContext& context);
HttpResponse show_stats(const CallContext& context);

}  // namespace hookonce
