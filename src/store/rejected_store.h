// Where rejected requests are kept: a bounded list beside the inbox, the oldest of a source giving way to its newest.
//
// It is no part of the inbox and promises less: what a crash takes of it is lost, and nothing that commits waits for
// it. On SQLite it is a file of its own beside the inbox's (`hookonce.db-rejected`); on a shared store every gateway
// sees the same list.
//
// Every call is synchronous and thread-safe. Errors: kUnavailable: it cannot serve now; kInternal: what is kept cannot
// be read.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "core/rejected.h"

namespace hookonce {

// A page ends early where its requests together are larger, so that no answer takes the memory of them all.
inline constexpr std::int64_t kRejectedPageBytes = 8 * 1024 * 1024;

struct RejectedPage {
  std::vector<RejectedRequest> items;  // newest first by when the first one like it was kept
  std::optional<std::string> next;     // opaque cursor; nullopt at the end. Stable under inserts
};

class RejectedStore {
 public:
  virtual ~RejectedStore() = default;

  // Counts what equals a kept one, keeps the others, and removes the oldest of their sources beyond `limits`, which are
  // for each source alone.
  virtual Status keep(std::span<const RejectedRequest> requests, const RejectedLimits& limits) = 0;

  // kInvalid for a cursor that is not one. REQUIRES: limit >= 1.
  virtual Result<RejectedPage> list(const std::optional<std::string>& source, int limit,
                                    const std::optional<std::string>& cursor) = 0;
  virtual Result<std::optional<RejectedRequest>> get(const EventId& id) = 0;
  virtual Result<bool> remove(const EventId& id) = 0;  // false where it is not there
};

}  // namespace hookonce
