// Cursors as callers see them: the store's own behind a mark that says which list it is of and for which filters it was
// given, so that one that is mixed up is refused instead of showing a part of another list. Pure.
//
// `since` and `until` are no part of the mark: an age is another moment with each page.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "store/store.h"

namespace hookonce {

enum class ListKind { kEvents, kDeliveries, kRejected, kReplays };

class CursorMark {
 public:
  // Of the first page, and where nothing is asked for: one that no cursor has.
  CursorMark() = default;
  // Filters in a fixed order; an empty one is as good as none.
  CursorMark(ListKind kind, const std::vector<std::string>& filters);

  std::string add_to(const std::string& cursor) const { return text_ + cursor; }
  // The store's cursor. kInvalid where `cursor` has another mark.
  Result<std::string> remove_from(const std::string& cursor) const;

 private:
  std::string text_;
};

// What of a filter is part of the mark.
std::vector<std::string> marked_filters(const EventFilter& filter);

}  // namespace hookonce
