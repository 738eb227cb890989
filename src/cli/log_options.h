// --log-format and --log-level, for commands that run.
#pragma once

#include <string>

#include "base/log.h"

namespace CLI {
class App;
}

namespace hookonce {

struct LogOptions {
  std::string format = "text";
  std::string level = "info";
};

void add_log_options(CLI::App& command, LogOptions& options);  // values are checked while parsing
void apply(const LogOptions& options);

}  // namespace hookonce
