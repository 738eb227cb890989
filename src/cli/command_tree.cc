#include "cli/command_tree.h"

#include <CLI/CLI.hpp>

#include "cli/option_checks.h"

namespace hookonce {

namespace {

OptionInfo read_option(CLI::Option& option) {
  OptionInfo info;
  for (const std::string& name : option.get_snames()) info.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) info.names.push_back("--" + name);
  info.about = option.get_description();
  if (option.get_items_expected_max() > 0) info.value = option.get_type_name();
  if (info.names.empty()) info.value = option.get_name();
  info.words = offered_words(option);
  return info;
}

CommandInfo read_command(CLI::App& app, const std::string& path) {
  CommandInfo info;
  info.name = app.get_name();
  info.path = path;
  info.about = app.get_description();
  info.footer = app.get_footer();
  for (CLI::Option* option : app.get_options()) info.options.push_back(read_option(*option));
  for (CLI::App* command : app.get_subcommands([](CLI::App*) { return true; })) {
    info.commands.push_back(
        read_command(*command, path.empty() ? command->get_name() : path + " " + command->get_name()));
  }
  return info;
}

}  // namespace

CommandInfo command_tree(CLI::App& root) {
  return read_command(root, "");
}

}  // namespace hookonce
