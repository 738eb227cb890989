// Opens the inbox that a URL names: `memory:`, `sqlite:PATH` (PATH relative to the working directory, or absolute).
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "store/store.h"

namespace hookonce {

// kInvalid: not a store URL of this version (the message names it). kPrecondition: another gateway owns the file, it is
// not ours, its schema is newer, read-only, on a network file system. kUnavailable: no space, a lock held.
Result<std::unique_ptr<Store>> open_store(std::string_view url, Time now);

// Whether open_store() knows the URL's scheme, without opening anything.
Status check_store_url(std::string_view url);

// A consistent copy of the embedded store at `url` into `file`, also while a gateway runs. kPrecondition where `file`
// exists.
Status backup_store(std::string_view url, const std::string& file);

}  // namespace hookonce
