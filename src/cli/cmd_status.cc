// `hookonce status`: the gateway and its inbox in numbers.
#include <CLI/CLI.hpp>
#include <memory>

#include "cli/admin_client.h"
#include "cli/commands.h"
#include "cli/status_text.h"
#include "cli/terminal.h"

namespace hookonce {

namespace {

Result<json::array> items(const AdminClient& client, std::string_view path) {
  HK_ASSIGN(json::value answer, client.get(path));
  json::value* found = answer.is_object() ? answer.get_object().if_contains("items") : nullptr;
  if (found == nullptr || !found->is_array()) return unavailable("the gateway's answer has no items");
  return std::move(found->get_array());
}

int status(const AdminOptions& options) {
  const Result<AdminClient> client = AdminClient::make(options);
  if (!client.ok()) return complain(client.status().message()), kExitUsage;
  Result<json::value> stats = client->get("/api/v1/stats");
  if (!stats.ok()) return failed(stats.status());
  if (!stats->is_object()) return failed(unavailable("the gateway's answer is not what it counts"));
  Result<json::array> sources = items(*client, "/api/v1/sources");
  if (!sources.ok()) return failed(sources.status());
  Result<json::array> destinations = items(*client, "/api/v1/destinations");
  if (!destinations.ok()) return failed(destinations.status());
  if (options.json) {
    json::object all = std::move(stats->get_object());
    all["sources"] = std::move(*sources);
    all["destinations"] = std::move(*destinations);
    say(printable_json(all) + "\n");
  } else {
    say(status_text(stats->get_object(), *sources, *destinations, stdout_wants_colour()));
  }
  return kExitDone;
}

}  // namespace

Run add_status(CLI::App& root) {
  CLI::App* command = root.add_subcommand("status", "Show what waits, how fast it goes, and what is not well");
  const auto options = std::make_shared<AdminOptions>();
  add_admin_options(*command, *options);
  command->footer(
      "Counts are of the gateway that answers, since its start; what waits is of the whole inbox.\n"
      "\n"
      "Examples:\n"
      "  hookonce status\n"
      "  hookonce status --json");
  return [options] { return status(*options); };
}

}  // namespace hookonce
