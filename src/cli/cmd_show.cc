// `hookonce show`: one event with everything that happened to it.
#include <CLI/CLI.hpp>
#include <memory>

#include "cli/admin_client.h"
#include "cli/commands.h"
#include "cli/event_filter.h"
#include "cli/event_lookup.h"
#include "cli/event_text.h"
#include "cli/terminal.h"

namespace hookonce {

namespace {

struct Show {
  AdminOptions admin;
  std::string id;
  bool reveal = false;
  bool pretty = false;
};

int show(const Show& options) {
  QueryText query;
  if (options.reveal) query.add("reveal", "true");
  const auto event = look_up(options.admin, options.id, query);
  if (const int* status = std::get_if<int>(&event)) return *status;
  const auto& found = std::get<json::object>(event);
  if (options.admin.json) {
    say(printable_json(found) + "\n");
  } else {
    say(event_text(found, {stdout_wants_colour(), options.pretty}));
  }
  return kExitDone;
}

}  // namespace

Run add_show(CLI::App& root) {
  CLI::App* command = root.add_subcommand("show", "Show one event: headers, body, deliveries, attempts");
  const auto options = std::make_shared<Show>();
  command->add_option("ID", options->id, "The gateway's id of the event, or the provider's")
      ->required()
      ->check(refuse_empty)
      ->type_name("");
  command->add_flag("--reveal", options->reveal, "Show the values of headers that bear secrets");
  command->add_flag("--pretty", options->pretty, "Show a JSON body in lines with indents");
  add_admin_options(*command, options->admin);
  command->footer(
      "A provider's id that several events have lists them and exits with status 1.\n"
      "\n"
      "Examples:\n"
      "  hookonce show evt_1LP4n0BB5Q5Dr2x7\n"
      "  hookonce show 0199a1b2-c3d4-7e5f-8a6b-7c8d9e0f1a2b --pretty\n"
      "  hookonce show evt_1LP4n0BB5Q5Dr2x7 --json");
  return [options] { return show(*options); };
}

}  // namespace hookonce
