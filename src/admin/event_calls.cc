#include "admin/event_calls.h"

#include <algorithm>
#include <utility>

#include "admin/answers.h"
#include "admin/event_queries.h"
#include "admin/event_views.h"
#include "base/log.h"

namespace hookonce {

namespace {

HttpResponse bad_parameter(const Status& status) {
  return error_response(400, "invalid_parameter", status.message());
}

HttpResponse bad_field(const Status& status) {
  return error_response(422, "invalid_field", status.message());
}

HttpResponse broken_body(const Status& status) {
  return error_response(400, "malformed", status.message());
}

HttpResponse no_such_event() {
  return error_response(404, "no_such_event",
                        "no event has this id; a provider's own id is found with GET /api/v1/events?key=");
}

Status not_configured(const std::string& destination, const std::string& where) {
  return invalid("destination \"" + destination + "\" is not configured" + where);
}

// Whether the event may be sent to `destination`. A source that the configuration no longer knows vouches for nothing,
// so there the event's own deliveries do.
Status check_destination(const EventDetail& event, const std::string& destination, const Config& config) {
  if (config.destinations.count(destination) == 0) return not_configured(destination, "");
  const auto named = [&](const auto& candidates, auto name_of) {
    return std::any_of(candidates.begin(), candidates.end(),
                       [&](const auto& candidate) { return name_of(candidate) == destination; });
  };
  const auto source = config.sources.find(event.summary.source);
  const bool allowed = source != config.sources.end()
                           ? named(source->second.destinations, [](const SourceDestination& d) { return d.name; })
                           : named(event.deliveries, [](const Delivery& d) { return d.destination; });
  if (allowed) return {};
  return not_configured(destination,
                        " for source \"" + event.summary.source + "\"; add it to the source's `destinations`");
}

void nudge(const CallContext& context) {
  if (context.deliveries_pending) context.deliveries_pending();
}

}  // namespace

HttpResponse list_events(const CallContext& context, std::string_view query) {
  const Result<ListQuery> list = parse_list_query(query, context.now);
  if (!list.ok()) return bad_parameter(list.status());
  const Result<EventPage> page = context.store.list(list->filter, list->limit, list->cursor);
  if (!page.ok()) return store_error_answer(page.status());
  json::array items;
  for (const EventSummary& event : page->items) items.push_back(summary_view(event));
  json::object answer{{"items", std::move(items)}};
  answer["next_cursor"] = next_cursor_view(list->mark, page->next);
  answer["searched_until"] =
      page->searched_until ? json::value(to_rfc3339(*page->searched_until)) : json::value(nullptr);
  if (!list->filter.query.empty()) answer["bodies_searched"] = context.store.searches_bodies();
  return json_answer(200, answer);
}

HttpResponse list_deliveries(const CallContext& context, std::string_view query) {
  const Result<DeliveriesQuery> list = parse_deliveries_query(query);
  if (!list.ok()) return bad_parameter(list.status());
  const Result<DeliveryPage> page = context.store.deliveries(list->filter, list->limit, list->cursor);
  if (!page.ok()) return store_error_answer(page.status());
  json::array items;
  for (const DeliverySummary& delivery : page->items) items.push_back(delivery_view(delivery, context.config));
  json::object answer{{"items", std::move(items)}};
  answer["next_cursor"] = next_cursor_view(list->mark, page->next);
  answer["searched_until"] =
      page->searched_until ? json::value(to_rfc3339(*page->searched_until)) : json::value(nullptr);
  return json_answer(200, answer);
}

HttpResponse get_event(const CallContext& context, const EventCall& call) {
  const Result<bool> reveal = parse_reveal(call.query);
  if (!reveal.ok()) return bad_parameter(reveal.status());
  const auto id = EventId::parse(call.id);
  if (!id) return no_such_event();
  const Result<std::optional<EventDetail>> event = context.store.get(*id);
  if (!event.ok()) return store_error_answer(event.status());
  if (!event->has_value()) return no_such_event();
  return json_answer(200, detail_view(**event, {context.config, *reveal, context.clocks}));
}

HttpResponse replay_event(const CallContext& context, const EventCall& call) {
  ReplayBody wanted;
  if (!call.body.empty()) {
    const Result<json::value> body = parse_json(call.body);
    if (!body.ok()) return broken_body(body.status());
    Result<ReplayBody> parsed = parse_replay_body(*body);
    if (!parsed.ok()) return bad_field(parsed.status());
    wanted = std::move(parsed).value();
  }
  const auto id = EventId::parse(call.id);
  if (!id) return no_such_event();
  ReplayRequest request;
  request.ids = {*id};
  request.new_key = wanted.new_key;
  if (wanted.destination) {
    const Result<std::optional<EventDetail>> event = context.store.get(*id);
    if (!event.ok()) return store_error_answer(event.status());
    if (!event->has_value()) return no_such_event();
    const Status allowed = check_destination(**event, *wanted.destination, context.config);
    if (!allowed.ok()) return bad_field(allowed);
    request.destination = wanted.destination;
    request.create_missing = true;
  }
  const Result<Replayed> replayed = context.store.replay(request, context.now);
  if (replayed.code() == Code::kNotFound) return no_such_event();
  // One of unknown outcome may have made deliveries pending, and nobody else would say so.
  if (replayed.ok() || replayed.code() == Code::kUnknown) nudge(context);
  if (!replayed.ok()) return store_error_answer(replayed.status());
  log_info("replayed", {{"event", id->text()},
                        {"destination", wanted.destination.value_or("*")},
                        {"deliveries", replayed->deliveries.size()},
                        {"new_key", wanted.new_key}});
  json::array deliveries;
  for (const ReplayedDelivery& delivery : replayed->deliveries) deliveries.push_back(replayed_view(delivery));
  return json_answer(202, json::object{{"deliveries", std::move(deliveries)}});
}

HttpResponse watch_events(const CallContext& context, std::string_view query, std::function<bool()> allowed) {
  Result<LiveFilter> filter = parse_live_query(query);
  if (!filter.ok()) return error_response(400, "invalid_parameter", filter.status().message());
  HttpResponse response{200, {{"Content-Type", "text/event-stream"}}, ""};
  response.stream = context.live.watch(std::move(*filter), std::move(allowed));
  if (response.stream == nullptr) {
    response = error_response(503, "overloaded",
                              "already " + std::to_string(kWatchersMax) + " callers watch; close one, then try again");
    response.headers.add("Retry-After", "5");
  }
  return response;
}

std::optional<HttpResponse> BulkReplay::begin(const CallContext& context, std::string_view body) {
  const Result<json::value> parsed_body = parse_json(body.empty() ? "{}" : body);
  if (!parsed_body.ok()) return broken_body(parsed_body.status());
  Result<ReplaysBody> wanted = parse_replays_body(*parsed_body, context.now);
  if (!wanted.ok()) return bad_field(wanted.status());
  if (wanted->names_nothing() && !wanted->dry_run) {
    return bad_field(
        invalid("no filter is given, so every event would be sent again; name one, as in \"since\": \"1h\""));
  }
  if (wanted->destination && context.config.destinations.count(*wanted->destination) == 0) {
    return bad_field(not_configured(*wanted->destination, ""));
  }
  wanted_ = std::move(*wanted);
  request_.filter = wanted_.filter;
  request_.dead_only = wanted_.dead;
  request_.destination = wanted_.destination;
  request_.new_key = wanted_.new_key;
  request_.dry_run = wanted_.dry_run;
  request_.cursor = wanted_.cursor;
  if (wanted_.limit) request_.limit = *wanted_.limit;
  began_at_ = context.now;
  begun_ = true;
  return std::nullopt;
}

std::optional<HttpResponse> BulkReplay::step(const CallContext& context, std::string_view body) {
  if (!begun_) {
    if (auto refusal = begin(context, body)) return refusal;
  } else if (context.draining) {
    return finish(unavailable("the gateway began to stop; ask again for the rest"));
  }
  Result<Replayed> part = context.store.replay(request_, began_at_);
  const bool taken = part.ok() ? !part->deliveries.empty() : part.code() == Code::kUnknown;
  if (taken && !wanted_.dry_run) nudge(context);
  if (!part.ok()) return finish(part.status());
  matched_ += static_cast<std::int64_t>(part->deliveries.size());
  request_.cursor = std::move(part->next);
  if (request_.cursor && !wanted_.is_part()) return std::nullopt;
  return finish({});
}

HttpResponse BulkReplay::finish(const Status& failed) const {
  if (!wanted_.dry_run && matched_ > 0) {
    log_info(
        "replayed",
        {{"destination", wanted_.destination.value_or("*")}, {"deliveries", matched_}, {"new_key", wanted_.new_key}});
  }
  if (failed.code() == Code::kInvalid) return bad_field(failed);  // the cursor
  if (!failed.ok()) {
    return store_error_answer(failed.with_context(std::to_string(matched_) + " deliveries were taken, then"));
  }
  json::object answer{{"matched", matched_}};
  if (wanted_.is_part()) answer["next_cursor"] = next_cursor_view(wanted_.mark, request_.cursor);
  return json_answer(202, answer);
}

}  // namespace hookonce
