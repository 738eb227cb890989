// The calls that act on a destination: pause and resume.
#pragma once

#include "admin/call_context.h"
#include "admin/event_calls.h"

namespace hookonce {

// `call.id` is the destination's name, percent-encoded. Any that is configured, waited for or paused.
HttpResponse set_paused(const CallContext& context, const EventCall& call, bool paused);

}  // namespace hookonce
