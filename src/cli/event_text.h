// Events as people read them, made of what the admin API answers. Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/json.h"

namespace hookonce {

// A table of the list's `items`, in their order, with local times.
std::string events_text(const json::array& items, bool colour);

struct ShowOptions {
  bool colour = false;
  bool pretty = false;  // a JSON body in lines with indents; every byte of its tokens stays
};
// One event: headers, body, deliveries and attempts.
std::string event_text(const json::object& event, const ShowOptions& options);

// What holds a pending delivery, and how it goes on; empty where nothing does.
std::string hold_text(const json::object& delivery);

// "2026-01-02 03:04:05.678" in local time; "-" where `rfc3339` is none.
std::string local_time(std::string_view rfc3339);
std::string size_text(std::uint64_t bytes);         // "512 B", "1.5 KiB"
std::string milliseconds_text(std::int64_t value);  // "12 ms", "1.2 s"
// From the first arrival to another: "+5 ms", "-1.2 s" of one that is dated before it; empty for 0.
std::string distance_text(std::int64_t milliseconds);

// "concurrent_twin" as "concurrent twin"; made printable.
std::string words_of(std::string_view name);

// The same JSON tokens, one member or element a line.
std::string indented_json(std::string_view text);

}  // namespace hookonce
