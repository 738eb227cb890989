// A consistent copy of a SQLite inbox, also while a gateway owns it.
#pragma once

#include <string>

#include "base/result.h"

namespace hookonce {

// Copies the inbox at `path` into the new file `target`: whole, or not at all. kPrecondition where `target` exists or
// `path` is no inbox.
Status backup_sqlite(const std::string& path, const std::string& target);

}  // namespace hookonce
