#include "ingest/ingest.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/bytes.h"
#include "base/log.h"
#include "base/sync.h"
#include "core/cause.h"
#include "core/dedup.h"
#include "core/trace.h"
#include "ingest/answers.h"
#include "ingest/diagnosis.h"
#include "ingest/new_event.h"
#include "ingest/source_table.h"

namespace hookonce {

namespace {

constexpr std::size_t kLoggedMax = 96;  // of a key, type or path in a log line; the whole is in the inbox

constexpr Duration kAgainMax = std::chrono::seconds(15);  // for a rejected request that is taken again; a person waits

constexpr std::string_view kUnwanted = "no destination of its source wants it: see types and when";

// Not the default: then `--accept all` after a wrong secret would take what somebody replayed, too.
constexpr std::string_view kClockWasWrong =
    ". It is judged as of its arrival. If this machine's clock was wrong then: raise the source's `tolerance` above "
    "that, reload, accept it, and put the old one back";

std::string_view logged(std::string_view text) {
  return text.substr(0, kLoggedMax);
}

double milliseconds(Duration duration) {
  return std::round(static_cast<double>(duration.count()) / 100.0) / 10.0;
}

bool is_health_path(std::string_view path) {
  return path == "/healthz" || path == "/readyz";
}

Refusal refusal_of(Reason reason) {
  switch (reason) {
    case Reason::kMissingHeader:
    case Reason::kMissingSignature:
    case Reason::kMissingTimestamp:
    case Reason::kMissingToken:
      return Refusal::kSignatureMissing;
    case Reason::kTimestampTooOld:
    case Reason::kTimestampInFuture:
      return Refusal::kTimestampOutOfTolerance;
    case Reason::kMalformedHeader:
      return Refusal::kMalformed;
    default:
      return Refusal::kSignatureMismatch;
  }
}

// The answer to a request that no connection waits for.
class AwaitedAnswer final : public Responder::Channel {
 public:
  // At most kAgainMax; then the fallback.
  HttpResponse wait() {
    const Duration end = steady_now() + kAgainMax;
    MutexLock lock(mutex_);
    for (Duration left = kAgainMax; !answer_ && left > Duration::zero(); left = end - steady_now()) {
      answered_.wait_for(mutex_, left);
    }
    return answer_ ? *std::move(answer_) : std::move(fallback_);
  }

  void respond(HttpResponse response) override {
    MutexLock lock(mutex_);
    if (!answer_) answer_ = std::move(response);
    answered_.notify_all();
  }
  // The committer answers by the deadline that it was given; a commit on its way is waited for.
  void set_deadline(Time, HttpResponse fallback, std::function<void()>) override {
    MutexLock lock(mutex_);
    fallback_ = std::move(fallback);
  }
  Executor& executor() override { return inline_; }

 private:
  struct InlineExecutor final : Executor {
    void post(std::vector<Task> tasks) override {
      for (const Task& task : tasks) task();
    }
  };

  InlineExecutor inline_;
  Mutex mutex_;
  CondVar answered_;
  std::optional<HttpResponse> answer_ GUARDED_BY(mutex_);
  HttpResponse fallback_ GUARDED_BY(mutex_) = draining_answer();
};

RejectedRequest rejected_request(const IngestSource& source, Refusal refusal, const std::string& message, Client client,
                                 HttpRequest request) {
  RejectedRequest rejected;
  rejected.id = EventId::make(request.wall_at);
  rejected.source = source.config->name;
  rejected.code = to_string(refusal);
  rejected.reason = message;
  rejected.first_at = rejected.last_at = request.wall_at;
  rejected.remote = std::move(client.address);
  rejected.peer = std::move(request.remote);
  rejected.tls = request.tls;
  rejected.path = std::move(request.path);
  rejected.query = std::move(request.query);
  rejected.headers = std::move(request.headers);
  rejected.body = std::move(request.body);
  return rejected;
}

// As it was at its moment.
HttpRequest request_of(const RejectedRequest& rejected) {
  HttpRequest request;
  request.method = "POST";
  request.path = rejected.path;
  request.query = rejected.query;
  request.headers = rejected.headers;
  request.body = rejected.body;
  request.remote = rejected.peer;
  request.tls = rejected.tls;
  request.head_at = rejected.first_at;
  request.wall_at = rejected.first_at;
  return request;
}

std::string named(const IngestSource& source, std::string_view what) {
  return "source \"" + source.config->name + "\": " + std::string(what);
}

// Also of a time stamp that is refused: where our own clock is wrong, that is all of them.
void measure_skew(const Verification& verification, Time wall, SourceCounters& counters) {
  if (is_signed_rightly(verification.reason) && verification.provider_time)
    counters.clock_skew.add(wall - *verification.provider_time);
}

// One arrival between submitting it and its commit. It owns all that the answer needs, since the Ingest's configuration
// may have been swapped, or the Ingest itself be gone, when the commit is done.
struct InFlight {
  Responder responder;
  std::shared_ptr<const SourceTable> table;  // keeps `source` alive
  const IngestSource* source = nullptr;
  const Clock* clock = nullptr;
  Ingest::Observer* observer = nullptr;
  Time head_at{};
  Time submitted_at{};
  bool empty_answer = false;
  SyncDelivery* sync = nullptr;             // the source is synchronous
  std::optional<HttpResponse> late_answer;  // valid then; nullopt: as an accepted arrival's
  bool acknowledged = false;                // the late answer has gone out; the connection's own thread only
  bool unwanted = false;                    // no destination wants it
  std::size_t body_bytes = 0;
  std::string type;
  std::optional<std::string> key;
  std::string trace;  // for the log; empty where none came
  Arrival arrival;
};

void refuse(const IngestSource& source, Refusal refusal, const std::string& message, Time now,
            Ingest::Observer* observer, Responder& responder) {
  source.counters->refuse(refusal, now);
  const std::string& name = source.config->name;
  if (const auto held_back = source.refusal_lines.admit(now)) {
    const std::string_view fact = is_rejection(refusal) ? "rejected" : "unavailable";
    write_log(LogLevel::kWarn, fact,
              {{"source", name}, {"code", to_string(refusal)}, {"message", message}, {"held_back", *held_back}});
  }
  if (observer != nullptr) observer->rejected(name, std::string(to_string(refusal)), message);
  responder.respond(refusal_answer(refusal, message));
}

void log_arrival(const InFlight& arrived, const AcceptFacts& facts, Cause cause, Time now) {
  if (!log_enabled(LogLevel::kInfo)) return;
  const std::string& source = arrived.source->config->name;
  const std::string_view key = arrived.key ? logged(*arrived.key) : std::string_view("-");
  const std::string event = facts.id.text();
  if (facts.verdict == Verdict::kAccepted) {
    const LogField of_source("source", source), type("type", logged(arrived.type)), of_key("key", key),
        id("event", event), commit_ms("commit_ms", milliseconds(now - arrived.submitted_at));
    if (arrived.trace.empty()) {
      log_info("accepted", {of_source, type, of_key, id, commit_ms});
    } else {
      log_info("accepted", {of_source, type, of_key, id, commit_ms, {"trace", arrived.trace}});
    }
    if (arrived.unwanted) {
      log_debug("unwanted",
                {{"source", source}, {"type", logged(arrived.type)}, {"event", event}, {"reason", kUnwanted}});
    }
    return;
  }
  log_info(to_string(facts.verdict),
           {{"source", source},
            {"type", logged(arrived.type)},
            {"key", key},
            {"event", event},
            {"cause", to_string(cause)},
            {"since_first_ms", since_first(facts, arrived.arrival) / std::chrono::milliseconds(1)},
            {"same_body", facts.same_body}});
}

void count_arrival(const InFlight& arrived, const AcceptFacts& facts, Cause cause, Time now) {
  SourceCounters& counters = *arrived.source->counters;
  if (facts.verdict == Verdict::kAccepted) {
    counters.accepted.add();
    counters.accepted_rate.add(now);
    if (arrived.unwanted) counters.unwanted.add();
  } else {
    counters.duplicate(cause).add();
    counters.duplicates_rate.add(now);
  }
  if (facts.verdict == Verdict::kRearmed) counters.rearmed.add();
  counters.body_bytes.add(arrived.body_bytes);
}

Time deadline_of(const InFlight& arrived) {
  return arrived.head_at + arrived.source->config->ack_deadline;
}

void observe_answer(const InFlight& arrived, Time answered_at) {
  arrived.source->counters->answer_seconds.observe(
      std::chrono::duration<double>(answered_at - arrived.head_at).count());
}

// What a synchronous source's sender gets where its destination's answer does not come in time.
std::optional<HttpResponse> late_answer_to(const IngestSource& source, const HttpRequest& request) {
  const auto& configured = source.config->late_answer;
  if (!configured) return source.provider->late_answer(request);
  HttpResponse answer;
  if (!configured->content_type.empty()) answer.headers.add("Content-Type", configured->content_type);
  answer.body = configured->body;
  return answer;
}

HttpResponse acknowledgement(const InFlight& arrived, const AcceptFacts& facts) {
  if (!arrived.late_answer) return arrival_answer(facts.verdict, facts.id, arrived.empty_answer);
  return late_answer(facts.verdict, facts.id, *arrived.late_answer);
}

// The sender gets, or has just got, the late answer and not its destination's.
void note_acknowledged(InFlight& arrived, const AcceptFacts& facts, std::string_view reason) {
  arrived.acknowledged = true;
  arrived.source->counters->acknowledged.add();
  log_info("acknowledged", {{"source", arrived.source->config->name}, {"event", facts.id.text()}, {"reason", reason}});
}

// On the connection's own thread, as everything here: so either the deadline's answer has gone out, or it never will.
void finish_sync(InFlight& arrived, const AcceptFacts& facts, SyncAnswer answer) {
  const Time now = arrived.clock->now();
  const Time deadline = deadline_of(arrived);
  if (!arrived.acknowledged) {
    observe_answer(arrived, std::min(now, deadline));
    if (answer.reply && now < deadline) {
      arrived.source->counters->replied.add();
      return arrived.responder.respond(reply_answer(facts.verdict, facts.id, *answer.reply));
    }
    note_acknowledged(arrived, facts, answer.reply ? "the reply came too late" : answer.reason);
    arrived.responder.respond(acknowledgement(arrived, facts));
  }
  if (answer.late) answer.late();
}

// The deadline's answer has gone out while the attempt is on its way.
void pass_sync_deadline(InFlight& arrived, const AcceptFacts& facts) {
  observe_answer(arrived, deadline_of(arrived));
  note_acknowledged(arrived, facts, "the destination has not answered in time");
}

void await_reply(const std::shared_ptr<InFlight>& waiting, const AcceptFacts& facts) {
  InFlight& arrived = *waiting;
  const Time deadline = deadline_of(arrived);
  Executor& executor = arrived.responder.executor();
  const AcceptFacts known{facts.verdict, facts.id};
  SyncDelivery::Done done = [waiting, known, &executor](SyncAnswer answer) {
    executor.post(
        {[waiting, known, answer = std::move(answer)]() mutable { finish_sync(*waiting, known, std::move(answer)); }});
  };
  if (facts.lease != nullptr) {
    // Held weakly, because the channel keeps it and `waiting` has the channel.
    arrived.responder.set_deadline(deadline, acknowledgement(arrived, facts), [held = std::weak_ptr(waiting), known] {
      if (const auto still = held.lock()) pass_sync_deadline(*still, known);
    });
    arrived.sync->deliver(*facts.lease, arrived.submitted_at, std::move(done));
  } else {
    // The wait ends by itself at the deadline, and then knows why; but why nobody has tried is known here.
    arrived.responder.set_deadline(deadline, acknowledgement(arrived, facts));
    if (facts.verdict == Verdict::kAccepted) {
      done = [done = std::move(done)](SyncAnswer answer) {
        answer.reason = "its destination was paused when the request came";
        done(std::move(answer));
      };
    }
    arrived.sync->await_reply(facts.id, deadline, std::move(done));
  }
}

void finish(const std::shared_ptr<InFlight>& submitted, const Result<AcceptFacts>& result) {
  InFlight& arrived = *submitted;
  const Time now = arrived.clock->now();
  const bool waits = result.ok() && arrived.sync != nullptr && !result->reply && !arrived.unwanted;
  if (!waits) observe_answer(arrived, now);
  if (!result.ok()) {
    const Refusal refusal = result.code() == Code::kExhausted ? Refusal::kOverloaded : Refusal::kStoreUnavailable;
    // The reason is for the operator's log; the sender learns only that it may send again.
    if (result.code() == Code::kInternal || result.code() == Code::kUnknown) {
      log_error("commit.failed", {{"source", arrived.source->config->name},
                                  {"key", arrived.key ? logged(*arrived.key) : std::string_view("-")},
                                  {"code", to_string(result.code())},
                                  {"message", result.status().message()}});
    }
    const std::string message = refusal == Refusal::kOverloaded
                                    ? "too many events wait for their commit; send the request again"
                                    : "the event could not be stored in time; send the request again";
    return refuse(*arrived.source, refusal, message, now, arrived.observer, arrived.responder);
  }
  // A commit that took longer than the sender waits has stored the event all the same: the sender's next try is its
  // duplicate.
  if (now >= deadline_of(arrived)) {
    arrived.source->counters->refuse(Refusal::kStoreUnavailable, now);
  }
  const Cause cause = conclude(*result, arrived.arrival, *arrived.source->config).cause;
  count_arrival(arrived, *result, cause, now);  // before the answer, so that who has it finds it counted
  if (result->reply) {
    arrived.source->counters->replied.add();
    arrived.responder.respond(reply_answer(result->verdict, result->id, *result->reply));
  } else if (!waits) {
    if (arrived.sync != nullptr) note_acknowledged(arrived, *result, kUnwanted);
    arrived.responder.respond(acknowledgement(arrived, *result));
  }
  log_arrival(arrived, *result, cause, now);
  if (arrived.observer != nullptr) {
    arrived.observer->arrived({arrived.source->config->name, arrived.type, arrived.key, *result, cause,
                               since_first(*result, arrived.arrival)});
  }
  if (waits) await_reply(submitted, *result);
}

}  // namespace

struct Ingest::State {
  Store& store;
  Committer& committer;
  const Clock& clock;
  Observer* const observer;
  SyncDelivery* const sync;
  std::atomic<bool> draining{false};
  LineLimit unknown_paths;
  // Without a label: whatever is asked for, it is one number.
  Counter& no_such_source = metrics().counter("hookonce_no_such_source_total", "Requests to a path that no source has");

  Mutex mutex;
  std::shared_ptr<const SourceTable> table GUARDED_BY(mutex);

  State(Store& s, Committer& c, const Clock& k, Observer* o, SyncDelivery* y)
      : store(s), committer(c), clock(k), observer(o), sync(y) {}

  std::shared_ptr<const SourceTable> current() {
    MutexLock lock(mutex);
    return table;
  }

  // The answer to a request that no source takes, or nullopt where `source` does.
  std::optional<HttpResponse> misdirected(const HttpRequest& head, const IngestSource* source) {
    if (source == nullptr) {
      no_such_source.add();
      if (const auto held_back = unknown_paths.admit(clock.now())) {
        log_info("no_such_source", {{"method", logged(head.method)},
                                    {"path", logged(head.path)},
                                    {"remote", head.remote},
                                    {"held_back", *held_back}});
        if (observer != nullptr)
          observer->misdirected(std::string(logged(head.method)), std::string(logged(head.path)));
      }
      return no_such_source_answer();
    }
    if (head.method != "POST") return method_not_allowed_answer("POST");
    return std::nullopt;
  }

  void submit(InFlight arrived, NewEvent event);
};

void Ingest::State::submit(InFlight arrived, NewEvent event) {
  const Time deadline = deadline_of(arrived);
  Executor& executor = arrived.responder.executor();
  arrived.responder.set_deadline(
      deadline, refusal_answer(Refusal::kStoreUnavailable,
                               "the event could not be stored within the sender's deadline; send the request again"));
  arrived.submitted_at = clock.now();
  arrived.body_bytes = event.body.size();
  arrived.unwanted = event.destinations.empty();
  arrived.type = event.type;
  arrived.key = event.key;
  if (log_enabled(LogLevel::kInfo)) arrived.trace = trace_id(event.headers);
  arrived.arrival = event.arrival;
  // Shared because std::function must be copyable; there is one owner.
  auto shared = std::make_shared<InFlight>(std::move(arrived));
  committer.submit(std::move(event), deadline, &executor,
                   [shared](const Result<AcceptFacts>& result) { finish(shared, result); });
}

Ingest::Ingest(Store& store, Committer& committer, const Clock& clock, Observer* observer, SyncDelivery* sync)
    : state_(std::make_unique<State>(store, committer, clock, observer, sync)) {}

Ingest::~Ingest() = default;

Status Ingest::configure(std::shared_ptr<const Config> config) {
  HK_ASSIGN(auto table, SourceTable::build(std::move(config)));
  MutexLock lock(state_->mutex);
  state_->table.swap(table);
  return {};
}

void Ingest::drain() {
  state_->draining = true;
}

HeadDecision Ingest::on_head(const HttpRequest& head) {
  const bool draining = state_->draining;
  const bool reads = head.method == "GET" || head.method == "HEAD";
  if (is_health_path(head.path) && reads) {
    if (head.path == "/healthz") return {alive_answer(), 0};
    return {ready_answer(!draining && state_->store.health().ok()), 0};
  }
  if (draining) return {draining_answer(), 0};
  const auto table = state_->current();
  const IngestSource* source = table ? table->find(head.path) : nullptr;
  if (source == nullptr && is_health_path(head.path)) return {method_not_allowed_answer("GET, HEAD"), 0};
  if (auto answer = state_->misdirected(head, source)) return {std::move(answer), 0};
  return {std::nullopt, source->config->max_body};
}

// Asks draining no more: a request whose head was taken before is served to its end.
void Ingest::on_request(HttpRequest request, Responder responder) {
  take(std::move(request), std::move(responder), std::nullopt);
}

HttpResponse Ingest::accept_again(const RejectedRequest& rejected) {
  const auto table = state_->current();
  const IngestSource* source = table ? table->find(rejected.path) : nullptr;
  if (source == nullptr || source->config->name != rejected.source) {
    return error_response(404, "no_such_source",
                          "source \"" + rejected.source + "\" is no longer configured at " + to_utf8(rejected.path));
  }
  const auto awaited = std::make_shared<AwaitedAnswer>();
  take(request_of(rejected), Responder(awaited), rejected.id);
  return awaited->wait();
}

std::optional<std::string> Ingest::explain(const RejectedRequest& rejected) {
  const auto table = state_->current();
  const IngestSource* source = table ? table->find(rejected.path) : nullptr;
  if (source == nullptr || source->config->name != rejected.source) return std::nullopt;
  const auto found = diagnose(*table, *source, request_of(rejected));
  if (!found) return std::nullopt;
  if (const auto held_back = source->explanation_lines.admit(state_->clock.now())) {
    log_info("rejected.explained", {{"source", rejected.source}, {"reason", *found}, {"held_back", *held_back}});
    if (state_->observer != nullptr) state_->observer->explained(rejected.source, *found);
  }
  return named(*source, *found);
}

void Ingest::take(HttpRequest request, Responder responder, const std::optional<EventId>& again) {
  auto table = state_->current();
  const IngestSource* source = table ? table->find(request.path) : nullptr;
  if (auto answer = state_->misdirected(request, source)) return responder.respond(std::move(*answer));

  const BoundProvider& provider = *source->provider;
  const auto refused = [&](Refusal refusal, const std::string& message) {
    if (again) {
      const auto found = diagnose(*table, *source, std::move(request));
      std::string told = found ? named(*source, *found) : message;
      if (refusal == Refusal::kTimestampOutOfTolerance) told += kClockWasWrong;
      return responder.respond(refusal_answer(refusal, told));
    }
    refuse(*source, refusal, message, state_->clock.now(), state_->observer, responder);
    if (state_->observer == nullptr || !is_rejection(refusal)) return;
    Client client = client_of(request, table->proxies());
    state_->observer->keep(rejected_request(*source, refusal, message, std::move(client), std::move(request)));
  };

  if (auto handshake = provider.unsigned_handshake(request)) {
    source->counters->handshakes.add();
    return responder.respond(handshake_answer(std::move(*handshake)));
  }
  Verification verification = provider.verify(request, request.wall_at);
  if (!again) measure_skew(verification, request.wall_at, *source->counters);
  if (verification.reason != Reason::kOk)
    return refused(refusal_of(verification.reason), named(*source, verification.message));
  if (auto handshake = provider.handshake(request)) {
    source->counters->handshakes.add();
    return responder.respond(handshake_answer(std::move(*handshake)));
  }
  Identity identity = provider.identify(request);
  if (!identity.body.ok()) return refused(Refusal::kMalformed, named(*source, identity.body.message()));
  if (lacks_key(*source, identity)) return refused(Refusal::kDedupKeyMissing, missing_key_message(*source));

  InFlight arrived;
  arrived.responder = std::move(responder);
  arrived.source = source;
  arrived.clock = &state_->clock;
  arrived.observer = state_->observer;
  arrived.head_at = again ? state_->clock.now() : request.head_at;  // what its deadline counts from
  arrived.empty_answer = provider.empty_answer(request);
  if (source->config->mode == SourceMode::kSync && !again) {
    HK_CHECK(state_->sync != nullptr);
    arrived.sync = state_->sync;
    arrived.late_answer = late_answer_to(*source, request);
  }
  Client client = client_of(request, table->proxies());
  arrived.table = std::move(table);
  NewEvent event =
      new_event(*source, {std::move(request), std::move(verification), std::move(identity), std::move(client)},
                EventId::make(state_->clock.now()));
  if (again) {
    event.first_lease.reset();  // nobody waits for the reply: it is delivered as any other, and a late one goes out
    if (event.keys.empty()) event.keys.push_back(key_hash("rejected", {again->text()}));
  }
  state_->submit(std::move(arrived), std::move(event));
}

}  // namespace hookonce
