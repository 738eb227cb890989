// The admin API (contract section 7): health, readiness, metrics, events, replay; with the rules on Host, Origin and
// content type.
//
// Store calls block, so requests are handled on the admin server's own thread, never on an ingest thread.
#pragma once

#include <functional>
#include <memory>

#include "admin/live_hub.h"
#include "base/http_handler.h"
#include "base/metrics.h"
#include "core/config.h"
#include "store/store.h"

namespace hookonce {

class AdminApi final : public HttpHandler {
 public:
  struct Options {
    std::function<bool()> draining;            // /readyz is 503 meanwhile
    std::function<void()> deliveries_pending;  // after a replay: the dispatcher is nudged
    std::function<void()> measure;             // before /metrics is answered, on this API's thread; may be empty
  };

  // REQUIRES: store, live and clock outlive this.
  AdminApi(Store& store, LiveHub& live, const Clock& clock, Options options);
  ~AdminApi() override;

  void configure(std::shared_ptr<const Config> config);  // any thread

  HeadDecision on_head(const HttpRequest& head) override;
  void on_request(HttpRequest request, Responder responder) override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hookonce
