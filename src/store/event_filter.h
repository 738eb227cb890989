// What an EventFilter means, for every backend: pure predicates over what a store has already read, and the cursor's
// text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "store/store.h"

namespace hookonce {

// Source, type, key, since and until. An event that shows no key passes: it may be a batch, and the backend has looked
// whether it held such a key. The state and the query are asked for apart, because they cost more to read.
bool matches_fields(const EventFilter& filter, const EventSummary& summary);
// Whether the query is empty or in the id, the key or the type.
bool matches_names(const EventFilter& filter, const EventSummary& summary);
// Whether `needle` is somewhere in `text`: bytes as data, ASCII letter case ignored.
bool contains(std::string_view text, std::string_view needle);

// A cursor is the sequence number of the last event shown; the next page holds lower ones only, so that inserts never
// move it.
std::string format_cursor(std::int64_t seq);
// The number below which the page begins: the highest possible one without a cursor. kInvalid for text that is no
// cursor.
Result<std::int64_t> parse_cursor(const std::optional<std::string>& cursor);

}  // namespace hookonce
