#include "cli/cli.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <exception>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "cli/commands.h"
#include "cli/terminal.h"

namespace hookonce {

namespace {

struct Command {
  const char* name;
  Run (*add)(CLI::App& root);
};

// In the order of --help: running, looking, trying.
constexpr Command kCommands[] = {
    {"serve", add_serve},   {"forward", add_forward}, {"check", add_check},           {"status", add_status},
    {"events", add_events}, {"tail", add_tail},       {"rejected", add_rejected},     {"show", add_show},
    {"why", add_why},       {"replay", add_replay},   {"pause", add_pause},           {"resume", add_resume},
    {"store", add_store},   {"send", add_send},       {"hammer", add_hammer},         {"sink", add_sink},
    {"verify", add_verify}, {"version", add_version}, {"completion", add_completion}, {"man", add_man},
};

constexpr const char* kFooter =
    "Exit status: 0 done, 1 failed, 2 wrong usage or configuration.\n"
    "`hookonce COMMAND --help` shows the options of a command, with examples.\n"
    "\n"
    "Examples:\n"
    "  hookonce forward stripe --secret env:STRIPE_WEBHOOK_SECRET --to http://127.0.0.1:8000/webhook/\n"
    "  hookonce serve --config hookonce.toml\n"
    "  hookonce events --since 1h";

int unknown_command(std::string_view word) {
  std::vector<std::string> names;
  for (const Command& command : kCommands) names.emplace_back(command.name);
  const auto near = nearest(word, names);
  complain(fmt::format("unknown command {}; {}", printable(word),
                       near ? fmt::format("did you mean `hookonce {}`?", *near) : "see `hookonce --help`"));
  return kExitUsage;
}

// The sub-command that the arguments reached, and its words: "store backup".
std::pair<const CLI::App*, std::string> reached(const CLI::App& root) {
  const CLI::App* command = &root;
  std::string words;
  while (!command->get_subcommands().empty()) {
    command = command->get_subcommands().front();
    words += " " + command->get_name();
  }
  return {command, words};
}

// "; did you mean --secret?" for an option that nearly has a name, else "".
std::string option_proposal(const CLI::App& command, const std::vector<std::string>& extras) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  for (const std::string& extra : extras) {
    if (extra.rfind("--", 0) != 0) continue;
    if (const auto near = nearest(extra.substr(0, extra.find('=')), names))
      return fmt::format("; did you mean {}?", *near);
  }
  return "";
}

// What the parser says of one option begins with "--name: "; the checks of option_checks.h go on with the value.
std::string option_mistake(const CLI::ParseError& error) {
  const std::string said = error.what();
  const std::size_t colon = said.find(": ");
  if (colon == std::string::npos) return said;
  const std::string name = said.substr(0, colon);
  if (dynamic_cast<const CLI::ValidationError*>(&error) != nullptr) return name + " " + said.substr(colon + 2);
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr && said.find(" missing") != std::string::npos)
    return name + " needs a value";
  return said;
}

// "copy, backup".
std::string commands_of(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::App* child : command.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(child->get_name());
  return join(names, ", ");
}

std::string mistake_text(const CLI::App& command, const std::string& words, const CLI::App& root,
                         const CLI::ParseError& error) {
  const std::vector<std::string> extras = root.remaining(true);
  const bool lacks_command = command.get_require_subcommand_min() > 0;
  const bool has_wrong_option = !extras.empty() && extras.front().rfind('-', 0) == 0;
  if (lacks_command && !has_wrong_option && dynamic_cast<const CLI::RequiredError*>(&error) != nullptr) {
    return extras.empty() ? fmt::format("`hookonce{}` needs a command: {}", words, commands_of(command))
                          : fmt::format("unknown command{} {}; there are {}", words, printable(extras.front()),
                                        commands_of(command));
  }
  if (has_wrong_option || (!extras.empty() && dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr))
    return fmt::format("unexpected argument {}{}", printable(extras.front()), option_proposal(command, extras));
  return printable(option_mistake(error));
}

int usage_mistake(const CLI::App& root, const CLI::ParseError& error) {
  const auto [command, words] = reached(root);
  complain(mistake_text(*command, words, root, error));
  complain(fmt::format("see `hookonce{} --help`", words));
  return kExitUsage;
}

// `hookonce help store copy` is `hookonce store copy --help`.
int show_help(const CLI::App& root, const std::vector<std::string>& words) {
  const CLI::App* command = &root;
  for (const std::string& word : words) {
    const auto found = command->get_subcommands([&word](const CLI::App* child) { return child->get_name() == word; });
    if (found.empty()) return unknown_command(word);
    command = found.front();
  }
  std::string parents;
  for (std::size_t i = 0; i + 1 < words.size(); ++i) parents += " " + words[i];
  say(command->help(command == &root ? "" : "hookonce" + parents));
  return kExitDone;
}

int run(int argc, char** argv) {
  CLI::App root("Hookonce takes webhooks in once, durably, and delivers them to your backend.", "hookonce");
  root.footer(kFooter);
  root.require_subcommand(1);
  root.add_flag("--version")->description("The same as `hookonce version`");
  root.get_formatter()->column_width(36);
  std::map<std::string, Run> runs;
  for (const Command& command : kCommands) runs[command.name] = command.add(root);

  if (argc < 2) {
    const std::string help = root.help();
    std::fwrite(help.data(), 1, help.size(), stderr);
    return kExitUsage;
  }
  // Before parsing, because a command is required otherwise.
  if (argc == 2 && argv[1] == std::string_view("--version")) return runs.at("version")();
  if (argv[1] == std::string_view("help")) return show_help(root, {argv + 2, argv + argc});
  if (argv[1][0] != '-' && runs.count(argv[1]) == 0) return unknown_command(argv[1]);
  try {
    root.parse(argc, argv);
  } catch (const CLI::CallForHelp& help) {
    return root.exit(help);
  } catch (const CLI::ParseError& error) {
    return usage_mistake(root, error);
  }
  return runs.at(root.get_subcommands().front()->get_name())();
}

}  // namespace

int run_cli(int argc, char** argv) {
  // A peer or a reader that has gone is an error of that write alone.
  std::signal(SIGPIPE, SIG_IGN);
  int status = kExitFailed;
  try {
    status = run(argc, argv);
  } catch (const std::exception& error) {
    complain(fmt::format("unexpected: {}", error.what()));
  }
  // Whoever reads only the first lines has what it wants, and hears nothing of the rest.
  if ((std::fflush(stdout) != 0 || std::ferror(stdout) != 0) && !reader_of_stdout_has_gone()) {
    if (status == kExitDone) status = kExitFailed;
    complain("standard output could not be written");
  }
  return status;
}

}  // namespace hookonce
