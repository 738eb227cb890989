// `hookonce forward`: a gateway without a configuration file.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "app/gateway.h"
#include "base/clock.h"
#include "base/log_filter.h"
#include "cli/commands.h"
#include "cli/forward_config.h"
#include "cli/free_port.h"
#include "cli/gateway_run.h"
#include "cli/live_lines.h"
#include "cli/log_options.h"
#include "cli/option_checks.h"
#include "cli/provider_choice.h"
#include "cli/signals.h"
#include "cli/terminal.h"
#include "http/server.h"

namespace hookonce {

namespace {

constexpr int kFirstAdminPort = 8081;  // where the client commands look, if it is free

struct Forward {
  ForwardOptions forward;
  LogOptions log;
};

std::string introduction(const Gateway& gateway, const Config& config, const ForwardOptions& options) {
  const std::string& ingest = gateway.ingest_addresses().front();
  std::string text = fmt::format("  {}  http://{}{}  ->  {}\n", options.provider, ingest, options.path, options.to);
  text += fmt::format("  inbox {}, admin http://{}\n", shown_store(config), gateway.admin_address());
  text += fmt::format("  look further: hookonce events --admin http://{}\n\n", gateway.admin_address());
  return text;
}

void print_lines(LiveLines& lines) {
  say(lines.take());
  std::fflush(stdout);
}

bool says_taken(const Status& status, const std::string& address) {
  return status.code() == Code::kPrecondition &&
         status.message().rfind("listen " + address + ": address in use", 0) == 0;
}

// Takes the address and gives it back. An inbox is a file in somebody's folder: none is made where the gateway cannot
// run.
Status check_free(const std::string& listen) {
  struct Nobody final : HttpHandler {
    HeadDecision on_head(const HttpRequest&) override { return {error_response(503, "starting", "starting"), 0}; }
    void on_request(HttpRequest, Responder) override {}
  } nobody;
  HttpServerOptions options;
  options.listen = {listen};
  HK_ASSIGN(const auto server, HttpServer::start(options, nobody, system_clock()));
  server->stop(Duration::zero());
  return {};
}

int forward(const Forward& given) {
  apply(given.log);
  // These have a line of their own on standard output; a terminal would show each of them twice.
  leave_out_of_log({"accepted", "duplicate", "rearmed", "rejected", "delivered", "failed", "released", "unavailable",
                    "no_such_source", "rejected.explained"});
  if (const Status status = check_forward_provider(given.forward); !status.ok()) {
    complain_of_mistakes({status.message()}, kNothingStarted);
    return kExitUsage;
  }
  Result<std::string> admin = next_free_loopback(kFirstAdminPort, given.forward.listen);
  if (!admin.ok()) return complain_of_start(admin.status());
  CheckedConfig checked = check_config_text(forward_toml(given.forward, *admin), kForwardConfigName);
  for (const std::string& warning : checked.warnings) complain(warning);
  if (!checked.config) {
    std::vector<std::string> mistakes;
    for (const std::string& error : checked.errors) mistakes.push_back(named_by_option(error));
    complain_of_mistakes(mistakes, kNothingStarted);
    return kExitUsage;
  }
  if (const Status status = check_free(given.forward.listen); !status.ok()) return complain_of_start(status);

  // Closing the terminal ends it as Ctrl-C does: there is no configuration to read again.
  Signals signals(Signals::Hangup::kStops);
  FailureNote failure([&signals] { signals.wake(); });
  LiveLines lines(system_clock(), stdout_wants_colour(), given.forward.path, [&signals] { signals.wake(); });
  Gateway::Options options;
  options.ingest_observer = &lines;
  options.delivery_observer = &lines;
  options.failed = [&failure](const Status& status) { failure.put(status); };
  options.overdue = end_overdue_drain;
  Result<std::unique_ptr<Gateway>> started = Gateway::start(checked.config, options);
  // Of two that start at once, both may have found the same port free.
  for (int tries = 1; tries < kPortsTried && says_taken(started.status(), *admin); ++tries) {
    admin = next_free_loopback(kFirstAdminPort, given.forward.listen);
    if (!admin.ok()) return complain_of_start(admin.status());
    checked = check_config_text(forward_toml(given.forward, *admin), kForwardConfigName);
    started = Gateway::start(checked.config, options);
  }
  if (!started.ok()) return complain_of_start(started.status());
  Gateway& gateway = **started;
  say(ready_line(gateway));
  say(introduction(gateway, *checked.config, given.forward));
  std::fflush(stdout);

  while (signals.wait() == Signals::Event::kWoken && !failure.happened()) print_lines(lines);
  const int status = drain(gateway, failure);
  print_lines(lines);
  return status;
}

}  // namespace

Run add_forward(CLI::App& root) {
  CLI::App* command = root.add_subcommand(
      "forward", "Run a gateway for one provider and one destination, without a configuration file");
  const auto given = std::make_shared<Forward>();
  // The lines of `forward` tell the ordinary course, so that the log keeps to what needs a person.
  given->log.level = "warn";
  ForwardOptions& options = given->forward;
  offer(*command->add_option("PROVIDER", options.provider, "Who sends: stripe, slack, github, ...")
             ->required()
             ->type_name(""),
        signing_provider_names());
  command
      ->add_option("--secret", options.secrets,
                   "The provider's signing secret: a literal, env:NAME or file:PATH; may be repeated")
      ->required()
      ->expected(1)
      ->take_all()
      ->type_name("S");
  command->add_option("--to", options.to, "Where events go")->required()->type_name("URL");
  command->add_option("--listen", options.listen, "Address for the provider")->type_name("ADDR")->capture_default_str();
  command->add_option("--path", options.path, "Path for the provider")->type_name("P")->capture_default_str();
  command->add_option("--store", options.store, "The inbox; default sqlite:hookonce-PROVIDER.db")->type_name("URL");
  command->add_option("--header", options.header, "The signature header, for provider hmac")->type_name("NAME");
  add_log_options(*command, given->log);
  command->footer(
      "Prints one line for each arrival, rejection and attempt. The admin API listens on the next free port from\n"
      "8081 on, which is printed. Ctrl-C drains as `serve` does.\n"
      "\n"
      "Examples:\n"
      "  hookonce forward stripe --secret env:STRIPE_WEBHOOK_SECRET --to http://127.0.0.1:8000/webhook/\n"
      "  hookonce forward slack --secret file:slack.secret --to http://127.0.0.1:3000/slack/events --path /slack\n"
      "  hookonce forward hmac --header X-Signature --secret env:SECRET --to http://127.0.0.1:8000/hook");
  return [given] { return forward(*given); };
}

}  // namespace hookonce
