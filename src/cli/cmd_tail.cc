// `hookonce tail`: what happens, as it happens.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "cli/admin_client.h"
#include "cli/commands.h"
#include "cli/event_filter.h"
#include "cli/fact_text.h"
#include "cli/option_checks.h"
#include "cli/terminal.h"

namespace hookonce {

namespace {

struct TailOptions {
  AdminOptions admin;
  std::string source;
  std::string type;
  std::string key;
  std::string destination;
  int count = 0;  // 0: no end
};

std::string json_line(std::string_view name, const json::value& data) {
  json::object line{{"fact", json::string(name)}};
  if (const json::object* members = data.if_object()) {
    for (const auto& [member, value] : *members) line[member] = value;
  }
  return printable_json(line);
}

int tail(const TailOptions& options) {
  const Result<AdminClient> client = AdminClient::make(options.admin);
  if (!client.ok()) return complain(client.status().message()), kExitUsage;
  QueryText query;
  for (const auto& [name, value] : {std::pair<std::string_view, const std::string&>("source", options.source),
                                    {"type", options.type},
                                    {"key", options.key},
                                    {"destination", options.destination}}) {
    if (!value.empty()) query.add(name, value);
  }
  const bool colour = stdout_wants_colour();
  int shown = 0;
  const Status status = client->follow("/api/v1/stream", query, [&](std::string_view name, const json::value& data) {
    say((options.admin.json ? json_line(name, data) : fact_text(name, data, colour)) + "\n");
    // Line by line, into a pipe too; a reader that has gone ends it.
    if (std::fflush(stdout) != 0) return false;
    if (name != "missed") ++shown;
    return options.count == 0 || shown < options.count;
  });
  return status.ok() ? kExitDone : failed(status);
}

}  // namespace

Run add_tail(CLI::App& root) {
  CLI::App* command = root.add_subcommand("tail", "Follow what happens, live");
  const auto options = std::make_shared<TailOptions>();
  command->add_option("--source", options->source, "Facts of this source only")->type_name("S")->check(refuse_empty);
  command->add_option("--type", options->type, "About events of exactly this type only")
      ->type_name("T")
      ->check(refuse_empty);
  command->add_option("--key", options->key, "Arrivals with this dedup key only; attempts do not know it")
      ->type_name("K")
      ->check(refuse_empty);
  command->add_option("--destination", options->destination, "Attempts at this destination only")
      ->type_name("D")
      ->check(refuse_empty);
  take_whole_number(*command->add_option("--count", options->count, "End after so many facts")->type_name("N"),
                    {1, 1'000'000});
  add_admin_options(*command, options->admin);
  command->footer(
      "It begins now; `hookonce events` shows what came before. Ctrl-C ends it.\n"
      "Examples:\n"
      "  hookonce tail\n"
      "  hookonce tail --source stripe --type invoice.paid\n"
      "  hookonce tail --json | jq 'select(.fact == \"dead\")'");
  return [options] { return tail(*options); };
}

}  // namespace hookonce
