// What a call of the admin API works with: the store, the moment, and the configuration under which it was taken.
#pragma once

#include <functional>

#include "admin/live_hub.h"
#include "base/clock.h"
#include "base/http_message.h"
#include "core/config.h"
#include "store/store.h"

namespace hookonce {

struct CallContext {
  Store& store;
  LiveHub& live;
  Time now{};
  const Config& config;
  bool draining = false;
  const std::function<void()>& deliveries_pending;  // may be empty
};

}  // namespace hookonce
