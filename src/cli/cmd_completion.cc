// `hookonce completion` and `hookonce man`: what a shell and man(1) are told about this program.
#include <CLI/CLI.hpp>
#include <memory>

#include "cli/build_info.h"  // written by cmake/BuildInfo.cmake
#include "cli/command_tree.h"
#include "cli/commands.h"
#include "cli/completion_text.h"
#include "cli/man_text.h"
#include "cli/option_checks.h"
#include "cli/terminal.h"

namespace hookonce {

Run add_completion(CLI::App& root) {
  CLI::App* command = root.add_subcommand("completion", "Print a completion script for bash, zsh or fish");
  const auto shell = std::make_shared<std::string>();
  take_one_of(*command->add_option("SHELL", *shell, "bash, zsh or fish")->required()->type_name(""),
              {"bash", "zsh", "fish"});
  command->footer(
      "Examples:\n"
      "  source <(hookonce completion bash)\n"
      "  hookonce completion zsh > ~/.zfunc/_hookonce          # a folder of your fpath\n"
      "  hookonce completion fish > ~/.config/fish/completions/hookonce.fish");
  return [&root, shell] {
    say(completion_text(*shell, command_tree(root)).value_or(""));
    return kExitDone;
  };
}

Run add_man(CLI::App& root) {
  CLI::App* command = root.add_subcommand("man", "Print the man page");
  command->footer(
      "Examples:\n"
      "  hookonce man | man -l -\n"
      "  hookonce man > /usr/local/share/man/man1/hookonce.1");
  return [&root] {
    say(man_text(command_tree(root), kVersion));
    return kExitDone;
  };
}

}  // namespace hookonce
