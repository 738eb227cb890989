#include "cli/rejected_text.h"

#include <fmt/format.h>

#include "cli/event_text.h"
#include "cli/terminal.h"

namespace hookonce {

namespace {

std::string member(const json::value& item, std::string_view name) {
  return printable(json_string(item, name).value_or("-"));
}

}  // namespace

std::string rejected_text(const json::array& items, bool colour) {
  std::string text;
  for (const json::value& item : items) {
    const std::int64_t count = json_int(item, "count").value_or(1);
    const std::string times =
        count > 1 ? fmt::format("  {} times, last {}", count, local_time(json_string(item, "last_at").value_or("")))
                  : "";
    text += fmt::format("{}  {}  {}  {}  from {}  {}{}\n", local_time(json_string(item, "first_at").value_or("")),
                        painted(member(item, "source"), Paint::kStrong, colour),
                        painted(member(item, "code"), Paint::kBad, colour),
                        size_text(static_cast<std::uint64_t>(json_int(item, "size").value_or(0))),
                        member(item, "remote"), member(item, "id"), times);
    text += "    " + member(item, "reason") + "\n";
  }
  return text;
}

}  // namespace hookonce
