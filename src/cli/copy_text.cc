#include "cli/copy_text.h"

#include <fmt/format.h>

#include "cli/table.h"

namespace hookonce {

namespace {

struct Row {
  const char* name;
  std::int64_t InboxCounts::*count;
};
constexpr Row kRows[] = {
    {"events", &InboxCounts::events},
    {"arrivals", &InboxCounts::arrivals},
    {"deliveries", &InboxCounts::deliveries},
    {"attempts", &InboxCounts::attempts},
    {"keys", &InboxCounts::keys},
    {"pruned_events", &InboxCounts::pruned_events},
};

json::object side_json(const InboxDigest& side) {
  json::object object;
  for (const Row& row : kRows) object[row.name] = side.counts().*row.count;
  object["sha256"] = side.hash();
  return object;
}

}  // namespace

std::string copy_text(const CopyReport& report) {
  Table table({{""}, {"FROM", Table::Align::kRight}, {"TO", Table::Align::kRight}});
  for (const Row& row : kRows) {
    const std::int64_t from = report.source.counts().*row.count;
    const std::int64_t to = report.target.counts().*row.count;
    std::string name = row.name;
    if (name == "pruned_events") name = "pruned, keys still taken";
    const Paint paint = from == to ? Paint::kNone : Paint::kBad;
    table.add({{name}, {std::to_string(from), paint}, {std::to_string(to), paint}});
  }
  std::string text = table.text(false);
  if (report.equal()) return text + "sha256 " + report.source.hash() + ", the same on both sides\n";
  text += "sha256 " + report.source.hash() + " and " + report.target.hash() + "\n";
  return text + fmt::format("They differ from event {} on.\n", report.difference.value_or("?"));
}

json::value copy_json(const CopyReport& report) {
  json::object object;
  object["equal"] = report.equal();
  object["resumed_at"] = report.resumed_at;
  object["from"] = side_json(report.source);
  object["to"] = side_json(report.target);
  if (report.difference) object["first_difference"] = *report.difference;
  return object;
}

}  // namespace hookonce
