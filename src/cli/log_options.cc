#include "cli/log_options.h"

#include <CLI/CLI.hpp>

namespace hookonce {

void add_log_options(CLI::App& command, LogOptions& options) {
  command.add_option("--log-format", options.format, "text or json")
      ->check(CLI::IsMember({"text", "json"}))
      ->type_name("FORMAT")
      ->capture_default_str();
  command.add_option("--log-level", options.level, "debug, info, warn, error or off")
      ->check(CLI::IsMember({"debug", "info", "warn", "error", "off"}))
      ->type_name("LEVEL")
      ->capture_default_str();
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
