// `hookonce serve`: the gateway in the foreground.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "app/gateway.h"
#include "cli/commands.h"
#include "cli/event_filter.h"
#include "cli/gateway_run.h"
#include "cli/log_options.h"
#include "cli/signals.h"
#include "cli/terminal.h"

namespace hookonce {

namespace {

struct ServeOptions {
  std::string config;
  LogOptions log;
};

void reload(Gateway& gateway, const std::string& file) {
  const CheckedConfig checked = check_config_file(file);
  for (const std::string& warning : checked.warnings) log_warn("reload.warning", {{"warning", warning}});
  for (const std::string& error : checked.errors) log_error("reload.mistake", {{"mistake", error}});
  if (!checked.config) {
    log_error("reload.refused", {{"why", counted(checked.errors.size(), "mistake") + "; the old configuration stays"}});
    return;
  }
  if (const Status status = gateway.reload(checked.config); !status.ok()) {
    log_error("reload.refused", {{"why", status.message()}});
    return;
  }
  log_info("reloaded", {{"file", file},
                        {"sources", checked.config->sources.size()},
                        {"destinations", checked.config->destinations.size()}});
}

int serve(const ServeOptions& options) {
  apply(options.log);
  const CheckedConfig checked = check_config_file(options.config);
  complain_of_config(checked, kNothingStarted);
  if (!checked.config) return kExitUsage;

  Signals signals(Signals::Hangup::kReloads);
  FailureNote failure([&signals] { signals.wake(); });
  Gateway::Options gateway_options;
  gateway_options.failed = [&failure](const Status& status) { failure.put(status); };
  gateway_options.overdue = end_overdue_drain;
  Result<std::unique_ptr<Gateway>> started = Gateway::start(checked.config, gateway_options);
  if (!started.ok()) return complain_of_start(started.status());
  Gateway& gateway = **started;
  say(ready_line(gateway));
  std::fflush(stdout);

  for (;;) {
    switch (signals.wait()) {
      case Signals::Event::kReload:
        reload(gateway, options.config);
        break;
      case Signals::Event::kWoken:
        if (!failure.happened()) break;
        [[fallthrough]];
      case Signals::Event::kStop:
        return drain(gateway, failure);
    }
  }
}

}  // namespace

Run add_serve(CLI::App& root) {
  CLI::App* command = root.add_subcommand("serve", "Run the gateway in the foreground");
  const auto options = std::make_shared<ServeOptions>();
  command->add_option("--config", options->config, "The configuration file (TOML)")
      ->required()
      ->check(refuse_empty)
      ->type_name("FILE");
  add_log_options(*command, options->log);
  command->footer(
      "When it takes requests, one line stands on standard output:\n"
      "  hookonce: ready ingest=IP:PORT[,IP:PORT] admin=IP:PORT\n"
      "Everything else goes to standard error.\n"
      "\n"
      "Signals:\n"
      "  SIGTERM, SIGINT  drain: new requests get 503, attempts in flight get server.drain, exit 0;\n"
      "                   a second one exits at once with status 128 + its number\n"
      "  SIGHUP           read the configuration again; one with a mistake is refused whole\n"
      "\n"
      "Examples:\n"
      "  hookonce serve --config hookonce.toml\n"
      "  hookonce serve --config hookonce.toml --log-format json --log-level warn");
  return [options] { return serve(*options); };
}

}  // namespace hookonce
