// `hookonce store copy`: moves an inbox to another store.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>

#include "app/store_copy.h"
#include "cli/commands.h"
#include "cli/copy_text.h"
#include "cli/log_options.h"
#include "cli/progress_bar.h"
#include "cli/signals.h"
#include "cli/terminal.h"
#include "core/config_load.h"
#include "provider/registry.h"

namespace hookonce {

namespace {

struct Copy {
  std::string from;
  std::string to;
  bool json = false;
};

// One bar for each half of the way.
class CopyBars {
 public:
  explicit CopyBars(bool quiet) : quiet_(quiet) {}

  void show(const CopyProgress& progress) {
    if (!bar_ || progress.stage != stage_) {
      end();
      const bool copying = progress.stage == CopyProgress::Stage::kCopying;
      bar_.emplace(copying ? "copied" : "compared", 0, quiet_);
      stage_ = progress.stage;
    }
    bar_->set_total(static_cast<std::size_t>(progress.total));
    bar_->show(static_cast<std::size_t>(progress.done));
  }
  void end() {
    if (bar_) bar_->end();
    bar_.reset();
  }

 private:
  const bool quiet_;
  CopyProgress::Stage stage_{};
  std::optional<ProgressBar> bar_;
};

int finish(const Copy& options, const CopyReport& report) {
  if (report.stopped) {
    complain("stopped; the same command goes on from here. Until it is done, no gateway serves the target");
    return kExitFailed;
  }
  say(options.json ? printable_json(copy_json(report)) + "\n" : copy_text(report));
  if (report.equal()) return kExitDone;
  complain(
      "the copy is not what was copied, and no gateway serves it; was the source in use? Empty the target and begin "
      "anew");
  return kExitFailed;
}

// A URL may hold a password, which nobody should have to write where `ps` shows it.
Result<CopyReport> run(const Copy& options, CopyBars& bars) {
  const ConfigWorld world = machine_world(all_provider_traits(), check_source_secrets);
  HK_ASSIGN(const std::string from, resolve_secret(options.from, world));
  HK_ASSIGN(const std::string to, resolve_secret(options.to, world));
  const Signals signals(Signals::Hangup::kStops);
  return copy_store(from, to, [&](const CopyProgress& progress) {
    bars.show(progress);
    return !signals.asked_to_stop();
  });
}

int run_copy(const Copy& options) {
  apply(LogOptions{"text", "warn"});  // That a store was opened is no news here.
  CopyBars bars(options.json);
  const auto report = run(options, bars);
  bars.end();
  if (report.ok()) return finish(options, report.value());
  complain(report.status().message());
  const bool usage = report.code() == Code::kInvalid || report.code() == Code::kPrecondition;
  return usage ? kExitUsage : kExitFailed;
}

}  // namespace

Run add_store_copy(CLI::App& store) {
  CLI::App* command = store.add_subcommand("copy", "Move an inbox to another store, while no gateway runs on either");
  const auto options = std::make_shared<Copy>();
  command->add_option("--from", options->from, "The store that holds the inbox: a URL, env:NAME or file:PATH")
      ->required()
      ->type_name("URL");
  command->add_option("--to", options->to, "An empty store, or one into which the same copy was interrupted")
      ->required()
      ->type_name("URL");
  command->add_flag("--json", options->json, "The result as one JSON object");
  command->footer(
      "Copies events with their arrivals, deliveries and attempts, the dedup keys that are still taken, and the lines "
      "of\n"
      "ordered destinations. In the end both stores are read once more, and counts and a SHA-256 over the content must "
      "be\n"
      "the same. The source stays as it is; a copy that was interrupted is resumed by the same command. Exit status 1\n"
      "where it was stopped or the two differ.\n"
      "\n"
      "Stop the gateway, copy, change store.url, start the gateway. Nothing may write to either store meanwhile.\n"
      "\n"
      "Examples:\n"
      "  hookonce store copy --from sqlite:hookonce.db --to sqlite:/new/disk/hookonce.db\n"
      "  hookonce store copy --from sqlite:hookonce.db --to env:STORE_URL\n"
      "  hookonce store copy --from redis://127.0.0.1 --to postgres://127.0.0.1/hooks");
  return [options] { return run_copy(*options); };
}

}  // namespace hookonce
