// The call that tells what happened minute by minute.
#pragma once

#include <string_view>

#include "admin/call_context.h"

namespace hookonce {

HttpResponse show_history(const CallContext& context, std::string_view query);

}  // namespace hookonce
