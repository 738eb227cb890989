#include "admin/api.h"

#include <utility>

#include "admin/access.h"
#include "admin/answers.h"
#include "admin/dashboard.h"
#include "admin/destination_calls.h"
#include "admin/event_calls.h"
#include "admin/event_queries.h"
#include "admin/history_calls.h"
#include "admin/openapi.h"
#include "admin/rejected_calls.h"
#include "admin/routes.h"
#include "admin/session_calls.h"
#include "admin/state_calls.h"
#include "admin/wrong_tokens.h"
#include "base/sync.h"

namespace hookonce {

namespace {

constexpr std::size_t kBodyMax = 64 * kKiB;  // filters and a few flags; the largest sensible body is a hundredth of it

// Scrapers give up after ten seconds and then have nothing; old numbers say more.
constexpr Duration kMetricsPatience = std::chrono::seconds(1);

HttpResponse not_found_or_allowed(const Routed& routed) {
  if (routed.allowed.empty()) {
    return error_response(404, "no_such_call", "no such call; GET /api/v1/openapi.json lists them all");
  }
  HttpResponse response = error_response(405, "method_not_allowed", "this path takes " + routed.allowed + " only");
  response.headers.add("Allow", routed.allowed);
  return response;
}

// What the path leads to: a call, or a file of the dashboard.
Routed route_of(const HttpRequest& head) {
  if (find_dashboard_file(head.path) == nullptr) return find_route(head.method, head.path);
  return find_route(head.method, "/");
}

// The order of the rules: a caller that may not be here at all learns nothing about what is.
std::optional<HttpResponse> refuse(const HttpRequest& head, const ServerConfig& server, bool authorized) {
  if (auto answer = refuse_host(head, server)) return answer;
  if (auto answer = refuse_origin(head)) return answer;
  const Routed routed = route_of(head);
  const bool open = routed.route != nullptr && routed.route->open;
  if (!open && !authorized) return unauthorized_answer();
  if (routed.route == nullptr) return not_found_or_allowed(routed);
  return std::nullopt;
}

// Whether the caller says that it knows the token, and may be guessing.
bool offers_token(const HttpRequest& head, const ServerConfig& server) {
  if (server.admin_token.empty()) return false;
  return head.headers.has("Authorization") || (head.method == "POST" && head.path == "/api/v1/session");
}

HttpResponse show_metrics(Store& store) {
  static Gauge& ready = metrics().gauge("hookonce_store_ready", "1 while a commit can be expected to succeed");
  ready.set(store.health().ok() ? 1 : 0);
  return text_answer("text/plain; version=0.0.4; charset=utf-8", metrics().render());
}

// REQUIRES: the call is none of those that are about the caller itself.
HttpResponse answer_call(const CallContext& context, const Routed& routed, const HttpRequest& request) {
  const EventCall event{routed.id, request.query, request.body};
  switch (routed.route->call) {
    case Call::kIndex:
      return dashboard_answer(*find_dashboard_file(request.path), request);
    case Call::kHealth:
      return health();
    case Call::kReady:
    case Call::kBeginSession:
    case Call::kShowSession:
    case Call::kEndSession:
      break;
    case Call::kMetrics:
      return show_metrics(context.store);
    case Call::kOpenApi:
      return text_answer("application/json", std::string(openapi_document()));
    case Call::kListEvents:
      return list_events(context, request.query);
    case Call::kGetEvent:
      return get_event(context, event);
    case Call::kReplayEvent:
      return replay_event(context, event);
    case Call::kReplayEvents:
      return replay_events(context, request.body);
    case Call::kListDeliveries:
      return list_deliveries(context, request.query);
    case Call::kSources:
      return list_sources(context);
    case Call::kDestinations:
      return list_destinations(context);
    case Call::kPause:
      return set_paused(context, event, true);
    case Call::kResume:
      return set_paused(context, event, false);
    case Call::kStats:
      return show_stats(context);
    case Call::kHistory:
      return show_history(context, request.query);
    case Call::kStream:
      return watch_events(context, request.query);
    case Call::kListRejected:
      return list_rejected(context, request.query);
    case Call::kAcceptRejected:
      return accept_rejected(context, routed.id);
  }
  return error_response(500, "internal", "a call without an answer; this is a bug");
}

// What is answered from what the process knows.
bool asks_no_store(Call call) {
  return call == Call::kIndex || call == Call::kHealth || call == Call::kReady || call == Call::kOpenApi ||
         call == Call::kSources || call == Call::kHistory || call == Call::kStream || call == Call::kBeginSession ||
         call == Call::kShowSession || call == Call::kEndSession;
}

bool checks_its_query(Call call) {
  return call == Call::kListEvents || call == Call::kGetEvent || call == Call::kListDeliveries ||
         call == Call::kHistory || call == Call::kStream || call == Call::kListRejected;
}
// Probes and scrapers add parameters of their own, which mean nothing here.
bool ignores_its_query(Call call) {
  return call == Call::kIndex || call == Call::kHealth || call == Call::kReady || call == Call::kMetrics;
}

// Answers hold other people's data: no cache keeps them, and no browser guesses that they are a page. The dashboard's
// files hold nobody's, and say themselves how long they are kept.
HttpResponse hardened(HttpResponse response) {
  if (!response.headers.has("Cache-Control")) response.headers.add("Cache-Control", "no-store");
  response.headers.set("X-Content-Type-Options", "nosniff");
  return response;
}

}  // namespace

struct AdminApi::State {
  Store& store;
  LiveHub& live;
  History& history;
  const Clock& clock;
  const Options options;

  Mutex mutex;
  std::shared_ptr<const Config> config GUARDED_BY(mutex) = std::make_shared<const Config>();
  std::string ingest_address GUARDED_BY(mutex);

  State(Store& s, LiveHub& l, History& h, const Clock& c, Options o)
      : store(s), live(l), history(h), clock(c), options(std::move(o)) {}

  std::shared_ptr<const Config> current() {
    MutexLock lock(mutex);
    return config;
  }
  std::string current_ingest_address() {
    MutexLock lock(mutex);
    return ingest_address;
  }
  Sessions sessions;
  WrongTokens wrong_tokens;

  bool is_caller_authorized(const HttpRequest& head, const ServerConfig& server) {
    return is_authorized(head, server) || has_session(head, server, sessions, clock.now());
  }
  // REQUIRES: the request is not refused. On the worker's thread where the call asks the store.
  HttpResponse answer(const HttpRequest& request, const Config& config_now, bool authorized);
};

HttpResponse AdminApi::State::answer(const HttpRequest& request, const Config& config_now, bool authorized) {
  if (auto refusal = refuse_content_type(request)) return *std::move(refusal);
  const Routed routed = route_of(request);
  const Call call = routed.route->call;
  if (!checks_its_query(call) && !ignores_its_query(call)) {
    const Status status = expect_no_query(request.query);
    if (!status.ok()) return error_response(400, "invalid_parameter", status.message());
  }
  if (call == Call::kMetrics && options.measure) options.measure();
  const CallContext context{store,
                            live,
                            history,
                            clock.now(),
                            config_now,
                            options.rejected,
                            options.draining && options.draining(),
                            options.deliveries_pending,
                            current_ingest_address(),
                            options.clocks};
  if (call == Call::kReady) return readiness(context, authorized);
  if (call == Call::kShowSession) return show_session(config_now.server, authorized);
  if (call == Call::kEndSession) return end_session(request, sessions);
  if (call == Call::kBeginSession) return begin_session(request, config_now.server, sessions, context.now);
  return answer_call(context, routed, request);
}

AdminApi::AdminApi(Store& store, LiveHub& live, History& history, const Clock& clock, Options options)
    : state_(std::make_unique<State>(store, live, history, clock, std::move(options))) {}

AdminApi::~AdminApi() = default;

void AdminApi::configure(std::shared_ptr<const Config> config) {
  {
    MutexLock lock(state_->mutex);
    state_->config.swap(config);
  }
  // `config` is the old one now. Who watches by a token that counts no more must not go on.
  if (config->server.admin_token != state_->current()->server.admin_token) state_->live.end_all();
}

void AdminApi::set_ingest_address(std::string address) {
  MutexLock lock(state_->mutex);
  state_->ingest_address = std::move(address);
}

HeadDecision AdminApi::on_head(const HttpRequest& head) {
  const auto config = state_->current();
  const bool authorized = state_->is_caller_authorized(head, config->server);
  auto refusal = refuse(head, config->server, authorized);
  if (!refusal) return {std::nullopt, kBodyMax};
  // A wrong token is answered with the whole request, where the answer can be held back.
  if (refusal->status == 401 && offers_token(head, config->server)) return {std::nullopt, kBodyMax};
  return {hardened(*std::move(refusal)), 0};
}

void AdminApi::on_request(HttpRequest request, Responder responder) {
  auto config = state_->current();
  const Time now = state_->clock.now();
  const bool tries = offers_token(request, config->server);
  // Asked again, because the token may have been changed between the head and the body.
  const bool authorized = state_->is_caller_authorized(request, config->server);
  auto refusal = refuse(request, config->server, authorized);
  Executor* const worker = state_->options.worker;
  if (refusal || worker == nullptr || asks_no_store(route_of(request).route->call)) {
    HttpResponse answer = hardened(refusal ? *std::move(refusal) : state_->answer(request, *config, authorized));
    if (tries && answer.status == 401) {
      // Only who guesses is held back: the right token is never answered late, however many others are wrong.
      if (state_->wrong_tokens.is_full(now)) return responder.respond(hardened(too_many_tokens_answer()));
      state_->wrong_tokens.answer_late(std::move(responder), std::move(answer), now);
      return;
    }
    responder.respond(std::move(answer));
    return;
  }
  if (route_of(request).route->call == Call::kMetrics) {
    responder.set_deadline(now + kMetricsPatience, hardened(show_metrics(state_->store)));
  }
  struct Asked {
    HttpRequest request;
    Responder responder;
    std::shared_ptr<const Config> config;
  };
  const auto asked = std::make_shared<Asked>();
  asked->request = std::move(request);
  asked->responder = std::move(responder);
  asked->config = std::move(config);
  worker->post({[state = state_.get(), asked, authorized] {
    asked->responder.respond(hardened(state->answer(asked->request, *asked->config, authorized)));
  }});
}

}  // namespace hookonce
