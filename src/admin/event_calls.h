// The calls on events: list, show, replay one, replay many.
#pragma once

#include <string_view>

#include "admin/call_context.h"

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

// The live stream.
HttpResponse watch_events(const CallContext& context, std::string_view query);

HttpResponse replay_events(const CallContext& context, std::string_view body);

}  // namespace hookonce
