// The admin API (contract section 7): health, readiness, metrics, events, replay; with the rules on Host, Origin and
// content type.
//
// Store calls block, and hang where the store does: they run on a thread beside the admin server's own, which answers
// what asks no store (health, readiness) at once, and /metrics from what was measured last where a measurement takes
// long.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "admin/call_context.h"
#include "admin/live_hub.h"
#include "base/executor.h"
#include "base/http_handler.h"
#include "base/metrics.h"
#include "core/config.h"
#include "core/history.h"
#include "store/store.h"

namespace hookonce {

class AdminApi final : public HttpHandler {
 public:
  struct Options {
    std::function<bool()> draining;            // /readyz is 503 meanwhile
    std::function<void()> deliveries_pending;  // after a replay: the dispatcher is nudged
    RejectedAccess rejected;
    std::function<void()> measure;  // before /metrics is answered, always on the worker's thread; may be empty
    Clocks clocks = Clocks::kOne;   // of the arrivals in the store
    Executor* worker = nullptr;     // where the store is called; must outlive this. Null: the caller's thread
  };

  // REQUIRES: store, live, history and clock outlive this.
  AdminApi(Store& store, LiveHub& live, History& history, const Clock& clock, Options options);
  ~AdminApi() override;

  void configure(std::shared_ptr<const Config> config);  // any thread
  // Where the sources can be reached, "127.0.0.1:8080": shown as their URLs where no public one is configured. Any
  // thread.
  void set_ingest_address(std::string address);

  HeadDecision on_head(const HttpRequest& head) override;
  void on_request(HttpRequest request, Responder responder) override;

 private:
  struct State;
  struct Asked;
  static void run(const std::shared_ptr<Asked>& asked);

  const std::shared_ptr<State> state_;  // live streams and calls on the worker know it too
};

}  // namespace hookonce
