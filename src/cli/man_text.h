// The man page, hookonce(1), in roff with the macros of man(7). Pure.
#pragma once

#include <string>
#include <string_view>

#include "cli/command_tree.h"

namespace hookonce {

std::string man_text(const CommandInfo& program, std::string_view version);

}  // namespace hookonce
