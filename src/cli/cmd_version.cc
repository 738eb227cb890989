// `hookonce version`: what this program is made of.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "base/json.h"
#include "cli/build_info.h"  // written by cmake/BuildInfo.cmake
#include "cli/commands.h"
#include "cli/terminal.h"

namespace hookonce {

Run add_version(CLI::App& root) {
  CLI::App* command = root.add_subcommand("version", "Print version, commit and libraries");
  const auto as_json = std::make_shared<bool>(false);
  command->add_flag("--json", *as_json, "Print JSON, for programs");
  command->footer("Example:\n  hookonce version --json");
  return [as_json] {
    if (*as_json) {
      json::object libraries;
      for (const auto& [name, version] : kLibraries) libraries[name] = version;
      say(printable_json(json::object{{"version", kVersion}, {"commit", kCommit}, {"libraries", libraries}}) + "\n");
      return kExitDone;
    }
    say(fmt::format("hookonce {}\ncommit {}\n", kVersion, kCommit));
    for (const auto& [name, version] : kLibraries) say(fmt::format("{} {}\n", name, version));
    return kExitDone;
  };
}

}  // namespace hookonce
