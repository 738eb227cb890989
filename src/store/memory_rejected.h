// Rejected requests in memory: the readable specification of RejectedStore, and what `memory:` has.
#pragma once

#include <memory>

#include "store/rejected_store.h"

namespace hookonce {

std::unique_ptr<RejectedStore> make_memory_rejected();

}  // namespace hookonce
