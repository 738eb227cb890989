// `hookonce why`: the arrivals of one event on a time line, and what caused each.
#include <CLI/CLI.hpp>
#include <memory>
#include <variant>

#include "cli/admin_client.h"
#include "cli/commands.h"
#include "cli/event_filter.h"
#include "cli/event_lookup.h"
#include "cli/terminal.h"
#include "cli/why_text.h"

namespace hookonce {

namespace {

struct Why {
  AdminOptions admin;
  std::string id;
};

int why(const Why& options) {
  const auto event = look_up(options.admin, options.id);
  if (const int* status = std::get_if<int>(&event)) return *status;
  const auto& found = std::get<json::object>(event);
  if (options.admin.json) {
    say(printable_json(why_json(found)) + "\n");
  } else {
    say(why_text(found, {stdout_wants_colour(), stdout_columns()}));
  }
  return kExitDone;
}

}  // namespace

Run add_why(CLI::App& root) {
  CLI::App* command =
      root.add_subcommand("why", "Show why an event came more than once: its arrivals and their causes");
  const auto options = std::make_shared<Why>();
  command->add_option("ID", options->id, "The gateway's id of the event, or the provider's")
      ->required()
      ->check(refuse_empty)
      ->type_name("");
  add_admin_options(*command, options->admin);
  command->footer(
      "A provider's id that several events have lists them and exits with status 1.\n"
      "What each cause means, and what to do about it: docs/why.md.\n"
      "\n"
      "Examples:\n"
      "  hookonce why evt_1LP4n0BB5Q5Dr2x7\n"
      "  hookonce why 0199a1b2-c3d4-7e5f-8a6b-7c8d9e0f1a2b --json");
  return [options] { return why(*options); };
}

}  // namespace hookonce
