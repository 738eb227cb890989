// Copies an inbox from one store into another, and proves that both hold the same.
//
// The copy goes in pages; each leaves a mark in the target, from which a run that was interrupted is resumed. At the
// end both sides are read once more and compared record by record; only then the mark goes, and the target is an inbox
// that a gateway serves.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/clock.h"
#include "store/inbox_record.h"
#include "store/store.h"

namespace hookonce {

struct CopySide {
  Store& store;
  std::string name;  // for people, without a password
};

struct CopyProgress {
  enum class Stage { kCopying, kComparing };
  Stage stage = Stage::kCopying;
  std::int64_t done = 0;   // records
  std::int64_t total = 0;  // may be an estimate while copying; never less than `done`
};

// Called after each page. False stops the copy; the same call goes on from there another time.
using CopyWatch = std::function<bool(const CopyProgress&)>;

struct CopyReport {
  std::int64_t resumed_at = 0;  // records that were there from an interrupted run
  bool stopped = false;         // by the watch; what follows is not valid then
  InboxDigest source;
  InboxDigest target;
  std::optional<std::string> difference;  // the first event that differs

  bool equal() const { return source == target; }
};

// kPrecondition: the target is not empty, or holds a part of another inbox. kInvalid: a store that cannot be copied.
// Where the two differ in the end the mark stays, so that no gateway serves the target.
Result<CopyReport> copy_inbox(const CopySide& source, const CopySide& target, const Clock& clock,
                              const CopyWatch& watch);

}  // namespace hookonce
