#include "cli/gateway_run.h"

#include <fmt/format.h>

#include <cstdlib>

#include "base/bytes.h"
#include "base/log.h"
#include "cli/commands.h"
#include "cli/terminal.h"

namespace hookonce {

std::string ready_line(const Gateway& gateway) {
  return fmt::format("hookonce: ready ingest={} admin={}\n", join(gateway.ingest_addresses(), ","),
                     gateway.admin_address());
}

void complain_of_config(const CheckedConfig& checked, std::string_view ending) {
  for (const std::string& problem : checked.problems) complain(problem);
  if (!checked.config) complain(counted(checked.errors.size(), "mistake") + std::string(ending));
}

int complain_of_start(const Status& status) {
  if (status.code() == Code::kInvalid || status.code() == Code::kPrecondition) {
    complain_of_mistakes({status.message()}, kNothingStarted);
    return kExitUsage;
  }
  complain(status.message());
  return kExitFailed;
}

void FailureNote::put(const Status& status) {
  {
    MutexLock lock(mutex_);
    if (status_) return;
    status_ = status;
  }
  wake_();
}

std::optional<Status> FailureNote::get() const {
  MutexLock lock(mutex_);
  return status_;
}

void end_overdue_drain() {
  // By the log, which waits for nobody: whoever reads standard error may be what hangs.
  log_warn("drain.cut_short",
           {{"reason",
             "the store or a destination hangs; nothing that was acknowledged is lost, and what was in flight is sent "
             "again when its lease is over"}});
  std::_Exit(kExitDone);
}

int drain(Gateway& gateway, const FailureNote& failure) {
  log_info("draining", {});
  gateway.drain();
  // Also when the store gave up during the drain: some of what was asked for is not written.
  if (const std::optional<Status> status = failure.get()) {
    complain(status->message());
    return kExitFailed;
  }
  log_info("stopped", {});
  return kExitDone;
}

}  // namespace hookonce
