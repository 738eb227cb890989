// `hookonce check`: every mistake of a configuration at once.
#include <CLI/CLI.hpp>
#include <memory>

#include "app/gateway.h"
#include "cli/commands.h"
#include "cli/event_filter.h"
#include "cli/gateway_run.h"
#include "cli/terminal.h"

namespace hookonce {

namespace {

int check(const std::string& file) {
  const CheckedConfig checked = check_config_file(file);
  complain_of_config(checked, "");
  if (!checked.config) return kExitUsage;
  say("ok: " + counted(checked.config->sources.size(), "source") + ", " +
      counted(checked.config->destinations.size(), "destination") + "\n");
  return kExitDone;
}

}  // namespace

Run add_check(CLI::App& root) {
  CLI::App* command = root.add_subcommand("check", "Validate a configuration and name every mistake in it");
  const auto file = std::make_shared<std::string>();
  command->add_option("--config", *file, "The configuration file (TOML)")
      ->required()
      ->check(refuse_empty)
      ->type_name("FILE");
  command->footer(
      "Each mistake is a line with file, line, key and mend. Exit status 2 where there is one; warnings alone are 0.\n"
      "Nothing is opened or started.\n"
      "\n"
      "Example:\n"
      "  hookonce check --config hookonce.toml");
  return [file] { return check(*file); };
}

}  // namespace hookonce
