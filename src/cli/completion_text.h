// What teaches a shell to complete the program's commands and options. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "cli/command_tree.h"

namespace hookonce {

// A script for "bash", "zsh" or "fish"; nullopt for another shell.
std::optional<std::string> completion_text(std::string_view shell, const CommandInfo& program);

}  // namespace hookonce
