#include "admin/api.h"

#include <atomic>
#include <functional>
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
#include "core/client_address.h"

namespace hookonce {

namespace {

constexpr std::size_t kBodyMax = 64 * kKiB;  // filters and a few flags; the largest sensible body is a hundredth of it

// Calls that wait for the store or are with it. Their clients may have given up long ago, which nobody can tell from
// one that has only sent all, and each keeps a connection; the other connections are for calls that need no store.
constexpr std::size_t kCallsWaitingMax = 64;

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

std::optional<HttpResponse> refuse_place(const HttpRequest& head, const ServerConfig& server) {
  if (auto answer = refuse_host(head, server)) return answer;
  return refuse_origin(head);
}

// The order of the rules: a caller that may not be here at all learns nothing about what is.
std::optional<HttpResponse> refuse(const HttpRequest& head, const ServerConfig& server, bool authorized) {
  if (auto answer = refuse_place(head, server)) return answer;
  const Routed routed = route_of(head);
  const bool open = routed.route != nullptr && routed.route->open;
  if (!open && !authorized) return unauthorized_answer();
  if (routed.route == nullptr) return not_found_or_allowed(routed);
  return std::nullopt;
}

// Whether the call tells by its answer if the token that came with it is the right one, so that it could be guessed. A
// session needs no such care: nobody guesses 256 random bits.
bool offers_token(const HttpRequest& head, const ServerConfig& server, bool in_session) {
  if (server.admin_token.empty()) return false;
  const Routed routed = route_of(head);
  const Call call = routed.route != nullptr ? routed.route->call : Call::kStats;
  if (call == Call::kBeginSession) return true;
  if (call == Call::kIndex || call == Call::kHealth || call == Call::kEndSession) return false;
  return !in_session && bearer_token(head).has_value();
}

bool asks(const HttpRequest& head, Call call) {
  const Routed routed = route_of(head);
  return routed.route != nullptr && routed.route->call == call;
}

HttpResponse too_many_calls_answer() {
  HttpResponse response = error_response(503, "overloaded", "too many calls wait for the store; try again later");
  response.headers.add("Retry-After", "1");
  return response;
}

HttpResponse show_metrics(Store& store) {
  static Gauge& ready = metrics().gauge("hookonce_store_ready", "1 while a commit can be expected to succeed");
  ready.set(store.health().ok() ? 1 : 0);
  return text_answer("text/plain; version=0.0.4; charset=utf-8", metrics().render());
}

// REQUIRES: the call is none of those that are about the caller itself, and is answered in one go.
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
    case Call::kStream:
    case Call::kReplayEvents:
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

struct AdminApi::State : std::enable_shared_from_this<State> {
  Store& store;
  LiveHub& live;
  History& history;
  const Clock& clock;
  const Options options;

  Mutex mutex;
  std::shared_ptr<const Config> config GUARDED_BY(mutex) = std::make_shared<const Config>();
  std::shared_ptr<const TrustedProxies> proxies GUARDED_BY(mutex) = std::make_shared<const TrustedProxies>();
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
  // Whose tokens are counted together.
  std::string guesser_of(const HttpRequest& head) {
    std::shared_ptr<const TrustedProxies> trusted;
    {
      MutexLock lock(mutex);
      trusted = proxies;
    }
    return network_of(client_of(head, *trusted).address);
  }
  Sessions sessions;
  WrongTokens wrong_tokens;
  std::atomic<std::size_t> waiting{0};  // of kCallsWaitingMax

  bool is_in_session(const HttpRequest& head, const ServerConfig& server) {
    return has_session(head, server, sessions, clock.now());
  }
  std::function<bool()> still_allowed(const HttpRequest& head, const ServerConfig& server);
  // One step of the call; nullopt where there are more. REQUIRES: the request is not refused. On the worker's thread
  // where the call asks the store.
  std::optional<HttpResponse> answer(const HttpRequest& request, const Config& config_now, bool authorized,
                                     BulkReplay& replay);
};

// A call on its way through the worker.
struct AdminApi::Asked {
  const std::shared_ptr<State> state;
  HttpRequest request;
  Responder responder;
  std::shared_ptr<const Config> config;
  bool authorized = false;
  BulkReplay replay;

  explicit Asked(std::shared_ptr<State> s) : state(std::move(s)) {}
  Asked(const Asked&) = delete;
  Asked& operator=(const Asked&) = delete;
  ~Asked() { --state->waiting; }
};

// What lets a stream go on: the token under which it began, and where that was a session's, the session.
std::function<bool()> AdminApi::State::still_allowed(const HttpRequest& head, const ServerConfig& server) {
  const bool by_session = !server.admin_token.empty() && is_in_session(head, server);
  return [weak = weak_from_this(), headers = head.headers, token = server.admin_token, by_session] {
    const auto state = weak.lock();
    if (state == nullptr) return false;
    const auto config_now = state->current();
    if (config_now->server.admin_token != token) return false;
    HttpRequest caller;
    caller.headers = headers;
    return !by_session || state->is_in_session(caller, config_now->server);
  };
}

std::optional<HttpResponse> AdminApi::State::answer(const HttpRequest& request, const Config& config_now,
                                                    bool authorized, BulkReplay& replay) {
  if (auto refusal = refuse_content_type(request)) return refusal;
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
  if (call == Call::kStream) return watch_events(context, request.query, still_allowed(request, config_now.server));
  if (call == Call::kReplayEvents) return replay.step(context, request.body);
  return answer_call(context, routed, request);
}

AdminApi::AdminApi(Store& store, LiveHub& live, History& history, const Clock& clock, Options options)
    : state_(std::make_shared<State>(store, live, history, clock, std::move(options))) {}

AdminApi::~AdminApi() = default;

void AdminApi::configure(std::shared_ptr<const Config> config) {
  auto proxies = TrustedProxies::parse(config->server.trusted_proxies);
  MutexLock lock(state_->mutex);
  state_->config = std::move(config);
  // It was checked when it was read.
  if (proxies.ok()) state_->proxies = std::make_shared<const TrustedProxies>(std::move(proxies).value());
}

void AdminApi::set_ingest_address(std::string address) {
  MutexLock lock(state_->mutex);
  state_->ingest_address = std::move(address);
}

HeadDecision AdminApi::on_head(const HttpRequest& head) {
  const auto config = state_->current();
  const bool trusted = config->server.admin_token.empty() || state_->is_in_session(head, config->server);
  // A token is judged with the whole request, where the answer can be held back: a body that never comes must not make
  // a difference between right and wrong.
  const bool tries = offers_token(head, config->server, trusted);
  auto refusal = tries ? refuse_place(head, config->server) : refuse(head, config->server, trusted);
  if (!refusal) return {std::nullopt, kBodyMax};
  return {hardened(*std::move(refusal)), 0};
}

void AdminApi::on_request(HttpRequest request, Responder responder) {
  auto config = state_->current();
  const Time now = state_->clock.now();
  // Asked again, because the token may have been changed between the head and the body.
  bool authorized = config->server.admin_token.empty() || state_->is_in_session(request, config->server);
  bool tries = offers_token(request, config->server, authorized);
  std::string address;
  if (tries) {
    address = state_->guesser_of(request);
    const bool is_full = state_->wrong_tokens.is_full(address, now);
    // A probe is never refused; it is told what those are told who bring no token.
    if (is_full && !asks(request, Call::kReady)) return responder.respond(hardened(too_many_tokens_answer()));
    tries = !is_full;
    authorized = authorized || (tries && is_authorized(request, config->server));
  }
  auto refusal = refuse(request, config->server, authorized);
  Executor* const worker = state_->options.worker;
  if (refusal || worker == nullptr || asks_no_store(route_of(request).route->call)) {
    BulkReplay replay;
    std::optional<HttpResponse> answer = std::move(refusal);
    while (!answer) answer = state_->answer(request, *config, authorized, replay);
    const bool wrong = tries && (asks(request, Call::kBeginSession) ? answer->status == 401 : !authorized);
    if (wrong) {
      state_->wrong_tokens.answer_late(address, std::move(responder), hardened(*std::move(answer)), now);
    } else {
      responder.respond(hardened(*std::move(answer)));
    }
    return;
  }
  const bool is_scrape = asks(request, Call::kMetrics);
  if (state_->waiting.load() >= kCallsWaitingMax) {
    return responder.respond(hardened(is_scrape ? show_metrics(state_->store) : too_many_calls_answer()));
  }
  if (is_scrape) responder.set_deadline(now + kMetricsPatience, hardened(show_metrics(state_->store)));
  ++state_->waiting;
  auto asked = std::make_shared<Asked>(state_);
  asked->request = std::move(request);
  asked->responder = std::move(responder);
  asked->config = std::move(config);
  asked->authorized = authorized;
  worker->post({[asked = std::move(asked)] { run(asked); }});
}

// One step of the call; the next one stands behind the calls that came meanwhile.
void AdminApi::run(const std::shared_ptr<Asked>& asked) {
  auto answer = asked->state->answer(asked->request, *asked->config, asked->authorized, asked->replay);
  if (answer) return asked->responder.respond(hardened(*std::move(answer)));
  asked->state->options.worker->post({[asked] { run(asked); }});
}

}  // namespace hookonce
