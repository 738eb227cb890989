// `hookonce rejected`: requests that were not accepted, and accepting them after all.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "base/bytes.h"
#include "cli/admin_client.h"
#include "cli/commands.h"
#include "cli/event_filter.h"
#include "cli/option_checks.h"
#include "cli/rejected_text.h"
#include "cli/terminal.h"

namespace hookonce {

namespace {

constexpr int kPageMax = 500;       // the admin API's own limit
constexpr int kLimitMax = 100'000;  // more than are ever kept
constexpr std::string_view kAll = "all";

struct RejectedOptions {
  AdminOptions admin;
  std::string source;
  int limit = 50;
  std::vector<std::string> accept;
};

struct Listed {
  json::array items;
  bool more = false;
};

Result<Listed> list(const AdminClient& client, const std::string& source, int limit) {
  Listed listed;
  std::string cursor;
  while (listed.items.size() < static_cast<std::size_t>(limit)) {
    QueryText query;
    if (!source.empty()) query.add("source", source);
    query.add("limit", std::to_string(std::min(kPageMax, limit - static_cast<int>(listed.items.size()))));
    if (!cursor.empty()) query.add("cursor", cursor);
    HK_ASSIGN(json::value page, client.get("/api/v1/rejected", query));
    json::object* object = page.if_object();
    json::value* items = object != nullptr ? object->if_contains("items") : nullptr;
    if (items == nullptr || !items->is_array())
      return unavailable("the gateway's list of rejected requests has no items");
    for (json::value& item : items->get_array()) listed.items.push_back(std::move(item));
    cursor = json_string(*object, "next_cursor").value_or("");
    listed.more = !cursor.empty();
    if (!listed.more) break;
  }
  return listed;
}

int show(const AdminClient& client, const RejectedOptions& options) {
  Result<Listed> listed = list(client, options.source, options.limit);
  if (!listed.ok()) return failed(listed.status());
  if (options.admin.json) {
    say(printable_json(json::object{{"items", std::move(listed->items)}}) + "\n");
  } else if (listed->items.empty()) {
    say("no rejected requests\n");
  } else {
    say(rejected_text(listed->items, {stdout_wants_colour(), stdout_columns()}));
    if (listed->more) say(fmt::format("\n{} shown, there are more: --limit N\n", listed->items.size()));
    say("\nOnce the cause is mended (a secret corrected and reloaded; one from `env:` needs a restart): hookonce "
        "rejected --accept ID, or --accept "
        "all\n");
  }
  return kExitDone;
}

// Each by itself: one that still does not verify keeps none of the others from being accepted.
int accept(const AdminClient& client, const RejectedOptions& options) {
  std::vector<std::string> ids = options.accept;
  if (ids.size() == 1 && ids.front() == kAll) {
    Result<Listed> listed = list(client, options.source, kLimitMax);
    if (!listed.ok()) return failed(listed.status());
    ids.clear();
    // The oldest first, as they came.
    for (auto item = listed->items.rbegin(); item != listed->items.rend(); ++item)
      ids.push_back(json_string(*item, "id").value_or(""));
  }
  json::array results;
  std::size_t accepted = 0;
  bool is_over = false;
  for (auto next = ids.begin(); next != ids.end() && !is_over; ++next) {
    const std::string& id = *next;
    const Result<json::value> answer =
        client.post("/api/v1/rejected/" + percent_encode(id) + "/accept", json::object());
    json::object result{{"rejected", json::string(printable(id))}};
    if (answer.ok()) {
      ++accepted;
      result["status"] = json_string(*answer, "status").value_or("");
      result["id"] = json_string(*answer, "id").value_or("");
      if (!options.admin.json) {
        say(fmt::format("{}  {}  {}\n", printable(id), json_string(*answer, "status").value_or(""),
                        json_string(*answer, "id").value_or("")));
      }
    } else {
      result["error"] = answer.status().message();
      complain(fmt::format("{}: {}", printable(id), answer.status().message()));
      is_over = answer.code() == Code::kUnavailable;
    }
    results.push_back(std::move(result));
  }
  if (options.admin.json) {
    say(printable_json(json::object{{"items", std::move(results)}}) + "\n");
  } else {
    say(fmt::format("{} of {} accepted\n", accepted, counted(ids.size(), "request")));
  }
  return accepted == ids.size() ? kExitDone : kExitFailed;
}

int rejected(const RejectedOptions& options) {
  const Result<AdminClient> client = AdminClient::make(options.admin);
  if (!client.ok()) return complain(client.status().message()), kExitUsage;
  return options.accept.empty() ? show(*client, options) : accept(*client, options);
}

}  // namespace

Run add_rejected(CLI::App& root) {
  CLI::App* command = root.add_subcommand("rejected", "List rejected requests and why, or accept them after all");
  const auto options = std::make_shared<RejectedOptions>();
  command->add_option("--source", options->source, "Requests to this source only")->type_name("S")->check(refuse_empty);
  take_whole_number(
      *command->add_option("--limit", options->limit, "How many at most")->type_name("N")->capture_default_str(),
      {1, kLimitMax});
  command
      ->add_option("--accept", options->accept,
                   "Verify these again, with today's secrets as of the moment of their arrival; `all` takes every one")
      ->type_name("ID...")
      ->check(refuse_empty);
  add_admin_options(*command, options->admin);
  command->footer(
      "A request that verifies now becomes an arrival as any other; an event that exists already is not made twice.\n"
      "Examples:\n"
      "  hookonce rejected --source stripe\n"
      "  hookonce rejected --accept 0199a1b2-c3d4-7e5f-8a6b-7c8d9e0f1a2b\n"
      "  hookonce rejected --source stripe --accept all");
  return [options] { return rejected(*options); };
}

}  // namespace hookonce
