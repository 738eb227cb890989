#include "cli/log_options.h"

#include <CLI/CLI.hpp>

#include "cli/option_checks.h"

namespace hookonce {

void add_log_options(CLI::App& command, LogOptions& options) {
  CLI::Option* format = command.add_option("--log-format", options.format, "text or json")->type_name("FORMAT");
  take_one_of(*format->capture_default_str(), {"text", "json"});
  CLI::Option* level =
      command.add_option("--log-level", options.level, "debug, info, warn, error or off")->type_name("LEVEL");
  take_one_of(*level->capture_default_str(), {"debug", "info", "warn", "error", "off"});
}

void apply(const LogOptions& options) {
  LogLevel level = LogLevel::kInfo;
  if (options.level == "debug") level = LogLevel::kDebug;
  if (options.level == "warn") level = LogLevel::kWarn;
  if (options.level == "error") level = LogLevel::kError;
  if (options.level == "off") level = LogLevel::kOff;
  configure_log(level, options.format == "json" ? LogFormat::kJson : LogFormat::kText);
}

}  // namespace hookonce
