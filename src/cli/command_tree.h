// The commands and their options as plain values, read from what --help is made of: so that shell completions and the
// man page can never say anything else.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace hookonce {

struct OptionInfo {
  std::vector<std::string> names;  // "--config", "-h"; empty for a positional argument
  std::string about;
  std::string value;               // what it takes: "FILE", "N"; empty for a flag
  std::vector<std::string> words;  // that it takes, or the best known of them; empty: none to name
};

struct CommandInfo {
  std::string name;  // "backup"
  std::string path;  // "store backup"; empty for the program itself
  std::string about;
  std::string footer;               // examples, and what else --help says below the options
  std::vector<OptionInfo> options;  // in the order of --help, with --help itself
  std::vector<CommandInfo> commands;
};

CommandInfo command_tree(CLI::App& root);  // which stays as it is

}  // namespace hookonce
