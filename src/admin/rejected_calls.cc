#include "admin/rejected_calls.h"

#include <string>
#include <utility>

#include "admin/answers.h"
#include "admin/event_queries.h"
#include "admin/event_views.h"
#include "base/bytes.h"
#include "base/log.h"

namespace hookonce {

namespace {

HttpResponse not_kept() {
  HttpResponse response =
      error_response(503, "store_unavailable", "rejected requests cannot be kept now; the log says why");
  response.headers.add("Retry-After", "5");
  return response;
}

json::object view_of(const RejectedRequest& request, const Config& config) {
  json::object view{{"id", request.id.text()},
                    {"source", json_text(request.source)},
                    {"code", json_text(request.code)},
                    {"reason", json_text(request.reason)},
                    {"remote", json_text(request.remote)},
                    {"first_at", to_rfc3339(request.first_at)},
                    {"last_at", to_rfc3339(request.last_at)},
                    {"count", request.count},
                    {"path", json_text(request.path)},
                    {"size", request.body.size()}};
  view["headers"] = headers_view(request.headers, request.source, {config, false});
  view["body_cut"] = add_body(view, request.body, request.source, config, kRejectedBodyShown);
  return view;
}

// A handshake makes no event, and its sender has given up on this one: there is nothing to accept.
HttpResponse leave_handshake(const CallContext& context, const EventId& id) {
  if (const auto removed = context.rejected.store->remove(id); !removed.ok())
    return store_error_answer(removed.status());
  return error_response(
      422, "handshake",
      "it verifies now and is a handshake, which makes no event; it has left the list. Let the provider "
      "send it again");
}

}  // namespace

HttpResponse list_rejected(const CallContext& context, std::string_view query) {
  Result<RejectedQuery> wanted = parse_rejected_query(query);
  if (!wanted.ok()) return error_response(400, "invalid_parameter", wanted.status().message());
  if (context.rejected.store == nullptr) return not_kept();
  const Result<RejectedPage> page = context.rejected.store->list(wanted->source, wanted->limit, wanted->cursor);
  if (!page.ok()) return store_error_answer(page.status());
  json::array items;
  for (const RejectedRequest& request : page->items) items.push_back(view_of(request, context.config));
  json::object answer{{"items", std::move(items)}};
  answer["next_cursor"] = next_cursor_view(wanted->mark, page->next);
  return json_answer(200, answer);
}

HttpResponse accept_rejected(const CallContext& context, std::string_view id) {
  const auto wanted = EventId::parse(id);
  const HttpResponse unknown = error_response(404, "no_such_rejected", "no rejected request with this id is kept");
  if (!wanted) return unknown;
  if (context.rejected.store == nullptr || !context.rejected.accept) return not_kept();
  const auto request = context.rejected.store->get(*wanted);
  if (!request.ok()) return store_error_answer(request.status());
  if (!request->has_value()) return unknown;

  const HttpResponse answer = context.rejected.accept(**request);
  const std::string event(answer.headers.first("Hookonce-Event").value_or(""));
  if (answer.status != 200 || event.empty()) {
    // As it was refused, but for the caller: it is neither its signature nor its time stamp that is wrong.
    if (answer.status >= 500) return answer;
    if (answer.status == 200) return leave_handshake(context, *wanted);
    HttpResponse refused = answer;
    if (answer.status != 404) refused.status = 422;
    return refused;
  }
  const std::string status(answer.headers.first("Hookonce-Status").value_or(""));
  log_info("rejected.accepted", {{"source", (*request)->source}, {"rejected", wanted->text()}, {"event", event}});
  // The event is durable. Were the request still listed after a failure here, accepting it again makes a duplicate.
  if (const auto removed = context.rejected.store->remove(*wanted); !removed.ok()) {
    log_warn("rejected.not_removed", {{"rejected", wanted->text()}, {"reason", removed.status().message()}});
  }
  return json_answer(200, json::object{{"status", status}, {"id", event}});
}

}  // namespace hookonce
