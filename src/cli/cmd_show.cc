// `hookonce show`: one event with everything that happened to it.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "base/bytes.h"
#include "cli/admin_client.h"
#include "cli/commands.h"
#include "cli/event_filter.h"
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
  const Result<AdminClient> client = AdminClient::make(options.admin);
  if (!client.ok()) return complain(client.status().message()), kExitUsage;
  const Result<json::array> found = client->find(options.id);
  if (!found.ok()) return failed(found.status());
  if (found->size() > 1) {
    // Which one is meant is the caller's to say, so the list is the answer and the status is 1.
    complain(fmt::format("{} have the id {}; name one by the gateway's id", counted(found->size(), "event"),
                         printable(options.id)));
    if (options.admin.json) {
      say(to_json(json::object{{"items", *found}, {"next_cursor", nullptr}}) + "\n");
    } else {
      say(events_text(*found, stdout_wants_colour()));
    }
    return kExitFailed;
  }
  QueryText query;
  if (options.reveal) query.add("reveal", "true");
  const std::string id = json_string(found->front(), "id").value_or("");
  const Result<json::value> event = client->get("/api/v1/events/" + percent_encode(id), query);
  if (!event.ok()) return failed(event.status());
  if (!event->is_object()) return failed(unavailable("the gateway's answer is not an event"));
  if (options.admin.json) {
    say(to_json(*event) + "\n");
  } else {
    say(event_text(event->get_object(), {stdout_wants_colour(), options.pretty}));
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
