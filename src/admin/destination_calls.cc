#include "admin/destination_calls.h"

#include <algorithm>

#include "admin/answers.h"
#include "admin/event_queries.h"
#include "base/bytes.h"
#include "base/log.h"
#include "core/destination_counters.h"

namespace hookonce {

namespace {

HttpResponse no_such_destination(std::string_view name) {
  return error_response(404, "no_such_destination",
                        "destination \"" + to_utf8(name) + "\" is not configured, and nothing waits for it");
}

// One that is gone from the configuration counts while deliveries wait for it, or a pause holds it.
Result<bool> is_known(const CallContext& context, const std::string& name) {
  if (context.config.destinations.count(name) > 0) return true;
  HK_ASSIGN(const StoreStats stats, context.store.stats(context.now));
  const auto is_it = [&name](const auto& waiting) { return waiting.first == name; };
  return std::find(stats.paused.begin(), stats.paused.end(), name) != stats.paused.end() ||
         std::any_of(stats.pending_by_destination.begin(), stats.pending_by_destination.end(), is_it);
}

}  // namespace

HttpResponse set_paused(const CallContext& context, const EventCall& call, bool paused) {
  if (!call.body.empty()) {
    const Result<json::value> body = parse_json(call.body);
    if (!body.ok()) return error_response(400, "malformed", body.status().message());
    const Status status = expect_no_fields(*body);
    if (!status.ok()) return error_response(422, "invalid_field", status.message());
  }
  const auto name = percent_decode(call.id, false);
  if (!name) return no_such_destination(call.id);
  const Result<bool> known = is_known(context, *name);
  if (!known.ok()) return store_error_answer(known.status());
  if (!*known) return no_such_destination(*name);
  const Result<bool> changed = context.store.set_paused(*name, paused);
  // One of unknown outcome may have freed the destination, and nobody else would say so.
  const bool perhaps = changed.ok() || changed.code() == Code::kUnknown;
  if (perhaps && !paused && context.deliveries_pending) context.deliveries_pending();
  if (!changed.ok()) return store_error_answer(changed.status());
  destination_counters(*name).set_paused(paused);
  if (*changed) log_info(paused ? "destination.paused" : "destination.resumed", {{"destination", *name}});
  return json_answer(200, json::object{{"name", json_text(*name)}, {"paused", paused}});
}

}  // namespace hookonce
