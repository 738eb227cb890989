// `store copy`: an inbox from one store into another one, while no gateway runs on either.
#pragma once

#include <string>

#include "base/result.h"
#include "store/copy_inbox.h"

namespace hookonce {

// Errors as open_store() and copy_inbox().
Result<CopyReport> copy_store(const std::string& from_url, const std::string& to_url, const CopyWatch& watch);

}  // namespace hookonce
