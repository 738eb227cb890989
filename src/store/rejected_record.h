// A rejected request as bytes for a store: everything that never changes of it.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "core/rejected.h"

namespace hookonce {

std::string encode_rejected(const RejectedRequest& request);  // without last_at and count
// kInternal where the bytes are not what encode_rejected() makes.
Result<RejectedRequest> decode_rejected(std::string_view bytes);

}  // namespace hookonce
