// The calls on events: list, show, replay one, replay many.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "admin/call_context.h"
#include "admin/event_queries.h"

namespace hookonce {

HttpResponse list_events(const CallContext& context, std::string_view query);

HttpResponse list_deliveries(const CallContext& context, std::string_view query);

struct EventCall {
  std::string_view id;  // as it stands in the path
  std::string_view query;
  std::string_view body;
};
HttpResponse get_event(const CallContext& context, const EventCall& call);
HttpResponse replay_event(const CallContext& context, const EventCall& call);

// The live stream; it ends when `allowed` says no.
HttpResponse watch_events(const CallContext& context, std::string_view query, std::function<bool()> allowed);

// The call that replays many. It may last for minutes, so it is done part by part, and other calls come between.
class BulkReplay {
 public:
  // Does the next part. Nullopt: there is more to do, call again. REQUIRES: each time the same body.
  std::optional<HttpResponse> step(const CallContext& context, std::string_view body);

 private:
  std::optional<HttpResponse> begin(const CallContext& context, std::string_view body);
  HttpResponse finish(const Status& failed) const;

  bool begun_ = false;
  Time began_at_{};
  ReplaysBody wanted_;
  ReplayRequest request_;
  std::int64_t matched_ = 0;  // deliveries that the parts so far took
};

}  // namespace hookonce
