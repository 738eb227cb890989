// `hookonce sink`: a backend to try things on.
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <memory>

#include "base/bytes.h"
#include "base/clock.h"
#include "cli/commands.h"
#include "cli/option_checks.h"
#include "cli/provider_choice.h"
#include "cli/signals.h"
#include "cli/sink.h"
#include "cli/terminal.h"
#include "http/server.h"

namespace hookonce {

namespace {

constexpr Duration kStopWithin = std::chrono::milliseconds(500);  // for answers that are on their way
constexpr int kThreads = 2;

struct SinkCommand {
  std::string listen = "127.0.0.1:9000";
  int status = 200;
  std::string delay = "0ms";
  int fail_first = 0;
  ProviderChoice verify;
};

Result<SinkOptions> sink_options(const SinkCommand& given) {
  SinkOptions options;
  options.status = given.status;
  options.fail_first = given.fail_first;
  const auto delay = parse_duration(given.delay);
  if (!delay) return invalid(fmt::format("--delay {}: must be a duration such as 250ms or 5s", given.delay));
  options.delay = *delay;
  if (given.verify.provider.empty()) {
    if (given.verify.secrets.empty() && given.verify.header.empty()) return options;
    return invalid("--secret and --header need --verify PROVIDER, which says what they are for");
  }
  HK_ASSIGN(options.provider, choose_provider(given.verify.provider));
  HK_ASSIGN(const BindSettings settings, choice_settings(*options.provider, given.verify));
  HK_ASSIGN(options.verifier, options.provider->bind(settings));
  return options;
}

// What a reader takes now. A reader that has stopped reading must hold up neither answers nor the end of this program,
// so that what it does not take stays for the next time; pipes say that they are writable only when they take a whole
// page.
class PatientOutput {
 public:
  void add(std::string text) {
    pending_.erase(0, written_);
    written_ = 0;
    if (pending_.size() < kPendingMax) pending_ += text;
  }
  void write() {
    constexpr std::size_t kPage = 4096;
    while (written_ < pending_.size()) {
      pollfd output{STDOUT_FILENO, POLLOUT, 0};
      if (::poll(&output, 1, 0) != 1 || (output.revents & POLLOUT) == 0) return;
      const ssize_t got =
          ::write(STDOUT_FILENO, pending_.data() + written_, std::min(kPage, pending_.size() - written_));
      if (got < 0 && errno != EINTR && errno != EAGAIN) return;
      if (got > 0) written_ += static_cast<std::size_t>(got);
    }
  }

 private:
  static constexpr std::size_t kPendingMax = 4 * kMiB;
  std::string pending_;
  std::size_t written_ = 0;
};

int sink(const SinkCommand& given) {
  auto options = sink_options(given);
  if (!options.ok()) {
    complain(options.status().message());
    return kExitUsage;
  }
  Signals signals(Signals::Hangup::kStops);
  Sink sink(std::move(*options), system_clock(), [&signals] { signals.wake(); });
  HttpServerOptions server_options;
  server_options.listen = {given.listen};
  server_options.threads = kThreads;
  auto server = HttpServer::start(server_options, sink, system_clock());
  if (!server.ok()) {
    complain("--" + server.status().message());  // "listen ADDR: ..."
    return server.code() == Code::kInvalid || server.code() == Code::kPrecondition ? kExitUsage : kExitFailed;
  }
  const std::string address = (*server)->addresses().front();
  PatientOutput output;
  output.add(fmt::format("hookonce: sink ready http={0}\n  effects http://{0}/effects, requests http://{0}/requests\n",
                         address));
  output.write();
  while (signals.wait() != Signals::Event::kStop) {
    output.add(sink.take_lines());
    output.write();
  }
  (*server)->stop(kStopWithin);
  sink.end();
  output.add(sink.take_lines());
  output.write();
  return kExitDone;
}

}  // namespace

Run add_sink(CLI::App& root) {
  CLI::App* command = root.add_subcommand("sink", "A backend to try things on: prints deliveries and counts effects");
  const auto given = std::make_shared<SinkCommand>();
  command->add_option("--listen", given->listen, "Address to listen on; port 0 takes a free one")
      ->type_name("ADDR")
      ->capture_default_str();
  take_whole_number(*command->add_option("--status", given->status, "Status of the answers")
                         ->type_name("CODE")
                         ->capture_default_str(),
                    {200, 599});
  command->add_option("--delay", given->delay, "How long each answer waits")->type_name("DUR")->capture_default_str();
  take_whole_number(
      *command->add_option("--fail-first", given->fail_first, "Answer the first N requests of each event id with 500")
           ->type_name("N")
           ->capture_default_str(),
      {0, 1'000'000});
  offer(*command
             ->add_option("--verify", given->verify.provider,
                          "Verify signatures as this provider's; others are answered 401")
             ->type_name("PROVIDER"),
        provider_names());
  command
      ->add_option("--secret", given->verify.secrets,
                   "The secret for --verify: a literal, env:NAME or file:PATH; may be repeated")
      ->expected(1)
      ->take_all()
      ->type_name("S");
  command->add_option("--header", given->verify.header, "The header for --verify hmac or token")->type_name("NAME");
  command->footer(
      "Takes deliveries on every path. An effect is an answer of 2xx, counted by the provider's event id: that of "
      "--verify,\n"
      "else X-GitHub-Delivery, `event_id` or `id` of a JSON body, Webhook-Id.\n"
      "  GET /effects    {\"event id\": number of effects}\n"
      "  GET /requests   the raw requests: method, path, headers, body_base64, status, received_at\n"
      "Keeps the last 100,000 requests, at most 256 MiB of them. Ctrl-C or SIGTERM ends it with status 0.\n"
      "\n"
      "Examples:\n"
      "  hookonce sink\n"
      "  hookonce sink --listen 127.0.0.1:0 --fail-first 2\n"
      "  hookonce sink --delay 3s --status 503\n"
      "  hookonce sink --verify stripe --secret env:STRIPE_WEBHOOK_SECRET");
  return [given] { return sink(*given); };
}

}  // namespace hookonce
