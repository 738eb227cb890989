// Rejected requests in a SQLite file of their own, so that no commit of the inbox ever waits for one.
#pragma once

#include <memory>
#include <string>

#include "store/rejected_store.h"

namespace hookonce {

// `inbox`: the inbox's file; the list lies beside it, as `<inbox>-rejected`. It holds nothing that must survive: one
// that cannot be read is made anew. kUnavailable, kPrecondition: as open_sqlite_store().
Result<std::unique_ptr<RejectedStore>> open_sqlite_rejected(const std::string& inbox);

}  // namespace hookonce
