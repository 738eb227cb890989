// `hookonce events`: the list, newest first.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "base/clock.h"
#include "cli/admin_client.h"
#include "cli/commands.h"
#include "cli/event_filter.h"
#include "cli/event_text.h"
#include "cli/option_checks.h"
#include "cli/terminal.h"

namespace hookonce {

namespace {

constexpr int kPageMax = 500;       // the admin API's own limit
constexpr int kLimitMax = 100'000;  // what a person or a script asks for at once

struct EventsOptions {
  AdminOptions admin;
  EventFilterOptions filter;
  int limit = 50;
};

struct Listed {
  json::array items;
  json::value next = nullptr;   // cursor behind the last item
  bool without_bodies = false;  // the store's search has left bodies out
};

// Pages until there are `limit` items or no more. One may be empty and not the last: a call looks for a while only.
Result<Listed> list(const AdminClient& client, const FilterTerms& terms, int limit) {
  Listed listed;
  while (listed.items.size() < static_cast<std::size_t>(limit)) {
    QueryText query;
    for (const auto& [name, value] : terms) query.add(name, value);
    query.add("limit", std::to_string(std::min(kPageMax, limit - static_cast<int>(listed.items.size()))));
    if (listed.next.is_string()) query.add("cursor", std::string(listed.next.get_string()));
    HK_ASSIGN(json::value page, client.get("/api/v1/events", query));
    json::object* object = page.if_object();
    json::value* items = object != nullptr ? object->if_contains("items") : nullptr;
    if (items == nullptr || !items->is_array()) return unavailable("the gateway's list of events has no items");
    for (json::value& item : items->get_array()) listed.items.push_back(std::move(item));
    const json::value* bodies = object->if_contains("bodies_searched");
    listed.without_bodies = bodies != nullptr && *bodies == json::value(false);
    const json::value* next = object->if_contains("next_cursor");
    listed.next = next != nullptr && next->is_string() ? *next : json::value(nullptr);
    if (listed.next.is_null()) break;
  }
  return listed;
}

int events(const EventsOptions& options) {
  const Result<FilterTerms> terms = filter_terms(options.filter, system_clock().wall());
  if (!terms.ok()) return complain(terms.status().message()), kExitUsage;
  const Result<AdminClient> client = AdminClient::make(options.admin);
  if (!client.ok()) return complain(client.status().message()), kExitUsage;
  Result<Listed> listed = list(*client, *terms, options.limit);
  if (!listed.ok()) return failed(listed.status());
  if (options.admin.json) {
    json::object page;
    page["items"] = std::move(listed->items);
    page["next_cursor"] = std::move(listed->next);
    if (!options.filter.search.empty()) page["bodies_searched"] = !listed->without_bodies;
    say(printable_json(page) + "\n");
  } else if (listed->items.empty()) {
    say(options.filter.empty() ? "no events yet\n" : "no events match\n");
  } else {
    say(events_text(listed->items, stdout_wants_colour()));
    if (listed->next.is_string()) say(fmt::format("{} shown, there are more: --limit N\n", listed->items.size()));
  }
  if (listed->without_bodies && !options.admin.json)
    say("searched id, key and type; bodies are not searched on Redis\n");
  return kExitDone;
}

}  // namespace

Run add_events(CLI::App& root) {
  CLI::App* command = root.add_subcommand("events", "List events, newest first");
  const auto options = std::make_shared<EventsOptions>();
  add_event_filter(*command, options->filter);
  take_whole_number(
      *command->add_option("--limit", options->limit, "How many at most")->type_name("N")->capture_default_str(),
      {1, kLimitMax});
  add_admin_options(*command, options->admin);
  command->footer(
      "Examples:\n"
      "  hookonce events --since 1h\n"
      "  hookonce events --source stripe --state dead\n"
      "  hookonce events --search cus_42 --limit 200 --json");
  return [options] { return events(*options); };
}

}  // namespace hookonce
