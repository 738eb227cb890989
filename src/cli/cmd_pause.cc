// `hookonce pause` and `hookonce resume`: hold a destination in the whole cluster, and free it.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "base/bytes.h"
#include "cli/admin_client.h"
#include "cli/commands.h"
#include "cli/event_filter.h"
#include "cli/terminal.h"

namespace hookonce {

namespace {

struct Pause {
  AdminOptions admin;
  std::string destination;
};

int set_paused(const Pause& options, bool paused) {
  const Result<AdminClient> client = AdminClient::make(options.admin);
  if (!client.ok()) return complain(client.status().message()), kExitUsage;
  const std::string path =
      "/api/v1/destinations/" + percent_encode(options.destination) + (paused ? "/pause" : "/resume");
  const Result<json::value> answer = client->post(path, json::object());
  if (!answer.ok()) return failed(answer.status());
  if (options.admin.json) {
    say(printable_json(*answer) + "\n");
  } else {
    say(fmt::format("{} is {}\n", printable(options.destination),
                    paused ? "paused: its events are kept and wait; `hookonce resume` sends them" : "resumed"));
  }
  return kExitDone;
}

Run add(CLI::App& root, const char* name, const char* help, bool paused) {
  CLI::App* command = root.add_subcommand(name, help);
  const auto options = std::make_shared<Pause>();
  command->add_option("DEST", options->destination, "The destination's name")
      ->required()
      ->check(refuse_empty)
      ->type_name("");
  add_admin_options(*command, options->admin);
  command->footer(fmt::format(
      "A pause is for every gateway on the same store, and outlasts restarts. Attempts in flight end normally; events\n"
      "are accepted as ever, and wait.\n"
      "\n"
      "Example:\n"
      "  hookonce {} backend",
      name));
  return [options, paused] { return set_paused(*options, paused); };
}

}  // namespace

Run add_pause(CLI::App& root) {
  return add(root, "pause", "Hold a destination: nothing is sent to it, nothing is lost", true);
}

Run add_resume(CLI::App& root) {
  return add(root, "resume", "Free a destination that was paused", false);
}

}  // namespace hookonce
