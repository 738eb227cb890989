// Opens the inbox that a URL names: `memory:`, `sqlite:PATH` (PATH relative to the working directory, or absolute),
// `postgres://USER:PASSWORD@HOST:PORT/DATABASE?schema=NAME`.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "store/inbox_records.h"
#include "store/rejected_store.h"
#include "store/store.h"

namespace hookonce {

// kInvalid: not a store URL of this version (the message names it). kPrecondition: another gateway owns the file, it is
// not ours, its schema is newer, read-only, on a network file system; a server that refuses us, is read-only or would
// lose what it committed. kUnavailable: no space, a lock held, a server that does not answer.
// Copying: `memory:` is kInvalid, because it would be empty, or gone with the process.
Result<std::unique_ptr<Store>> open_store(std::string_view url, Time now, OpenFor use = OpenFor::kServing);

// Where that inbox's rejected requests are kept. REQUIRES: the inbox has been opened. Errors as open_store().
Result<std::unique_ptr<RejectedStore>> open_rejected(std::string_view url);

// Whether open_store() knows the URL's scheme, without opening anything.
Status check_store_url(std::string_view url);

// Whether several gateways may serve that store at once. REQUIRES: check_store_url() is ok.
bool is_shared_store(std::string_view url);

// How long events are kept where the configuration does not say. Shorter on Redis, where they all lie in memory.
Duration default_retention(std::string_view url);

// The URL as it may be shown: without a password. REQUIRES: check_store_url() is ok.
std::string shown_store_url(std::string_view url);

// A consistent copy of the embedded store at `url` into `file`, also while a gateway runs. kPrecondition where `file`
// exists.
Status backup_store(std::string_view url, const std::string& file);

}  // namespace hookonce
