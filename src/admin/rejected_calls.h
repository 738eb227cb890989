// The calls on rejected requests: list them, and accept one after all.
#pragma once

#include <string_view>

#include "admin/call_context.h"

namespace hookonce {

inline constexpr std::size_t kRejectedBodyShown = 16 * 1024;  // bytes; a list is for recognising, not for keeping

HttpResponse list_rejected(const CallContext& context, std::string_view query);
// `id` as it stands in the path.
HttpResponse accept_rejected(const CallContext& context, std::string_view id);

}  // namespace hookonce
