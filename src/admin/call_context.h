// What a call of the admin API works with: the store, the moment, and the configuration under which it was taken.
#pragma once

#include <functional>
#include <string>

#include "admin/live_hub.h"
#include "base/clock.h"
#include "base/http_message.h"
#include "core/cause.h"
#include "core/config.h"
#include "core/history.h"
#include "store/rejected_store.h"
#include "store/store.h"

namespace hookonce {

// Where rejected requests are kept, and how one is judged again.
struct RejectedAccess {
  RejectedStore* store = nullptr;  // null where they cannot be kept
  // Answers as the source would have at the request's moment, with today's secrets. Blocks until the event is durable.
  std::function<HttpResponse(const RejectedRequest& request)> accept;
};

struct CallContext {
  Store& store;
  LiveHub& live;
  History& history;
  Time now{};
  const Config& config;
  const RejectedAccess& rejected;
  bool draining = false;
  const std::function<void()>& deliveries_pending;  // may be empty
  std::string ingest_address;                       // "127.0.0.1:8080"; empty where nothing listens
  Clocks clocks = Clocks::kOne;
};

}  // namespace hookonce
