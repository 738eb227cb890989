// The embedded inbox: one SQLite file, owned by one gateway.
//
// One connection writes, under a mutex; another one reads, so that looking at the inbox never blocks a commit; a third
// copies the log (sqlite_checkpointer.h). What each verb does is in the file of its name.
#pragma once

#include <memory>
#include <string>

#include "store/inbox_records.h"
#include "store/store.h"

namespace hookonce {

// Takes the owner lock, brings the tables up to date, empties the log into the file, and, for serving, makes every
// delivery in flight due. Errors: open.h.
Result<std::unique_ptr<Store>> open_sqlite_store(const std::string& path, Time now, OpenFor use = OpenFor::kServing);

}  // namespace hookonce
