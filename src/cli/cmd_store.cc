// `hookonce store`: what one does with an inbox as a whole.
#include <CLI/CLI.hpp>
#include <memory>

#include "app/gateway.h"
#include "cli/commands.h"
#include "cli/terminal.h"

namespace hookonce {

namespace {

struct Backup {
  std::string file;
  std::string from = "sqlite:hookonce.db";
};

int run_backup(const Backup& options) {
  const Status status = backup(options.from, options.file);
  if (!status.ok()) {
    complain(status.message());
    const bool usage = status.code() == Code::kInvalid || status.code() == Code::kPrecondition;
    return usage ? kExitUsage : kExitFailed;
  }
  say("copied " + printable(options.from) + " to " + printable(options.file) + "\n");
  return kExitDone;
}

}  // namespace

Run add_store(CLI::App& root) {
  CLI::App* command = root.add_subcommand("store", "Work on an inbox as a whole");
  command->require_subcommand(1);
  const Run copy = add_store_copy(*command);
  CLI::App* backup =
      command->add_subcommand("backup", "Write a consistent copy of the embedded store, also while a gateway runs");
  const auto options = std::make_shared<Backup>();
  backup->add_option("FILE", options->file, "The copy; a file of that name must not exist yet")
      ->required()
      ->type_name("");
  backup->add_option("--from", options->from, "The inbox, a local file")->type_name("URL")->capture_default_str();
  backup->footer(
      "Examples:\n"
      "  hookonce store backup copy.db\n"
      "  hookonce store backup /backup/hookonce.db --from sqlite:/var/lib/hookonce/hookonce.db");
  command->footer(
      "Examples:\n"
      "  hookonce store copy --from sqlite:hookonce.db --to sqlite:/new/disk/hookonce.db\n"
      "  hookonce store backup copy.db");
  return [options, copy, backup] { return backup->parsed() ? run_backup(*options) : copy(); };
}

}  // namespace hookonce
