#include "test/sim/process.h"

#include <algorithm>
#include <iterator>

#include "core/dedup.h"

namespace hookonce::sim {

namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr std::size_t kBatchMax = 6;  // small, so that what waits behind a batch is reached as well
constexpr Duration kTolerance = minutes(5);
constexpr Duration kAckDeadline = seconds(2);
constexpr Duration kRecoverPause = milliseconds(400);
constexpr int kNoLimit = 1000;  // attempts of a gateway that ignores them

constexpr int kOk = 200;
constexpr int kUnauthorized = 401;
constexpr int kInternalError = 500;
constexpr int kAway = 503;

}  // namespace

Process::Process(World& world, FaultStore& store, const Clocks& clocks, int instance)
    : world_(world), store_(store), clocks_(clocks), instance_(instance), dispatcher_(store) {
  healthy_ = store_.health().ok();
  configure(world.plan.config);
}

Process::~Process() {
  world_.auditor.died(instance_);
}

bool Process::work(Work work) {
  switch (work) {
    case Work::kCommit:
      return commit();
    case Work::kTick:
      return tick();
    case Work::kStart:
      return start();
    case Work::kEnd:
      return end();
    case Work::kAnswer:
      break;
  }
  if (answers_.empty()) return false;
  sent_.push_back(std::move(answers_.front()));
  answers_.pop_front();
  return true;
}

void Process::configure(std::shared_ptr<const Config> config) {
  if (world_.canary == Canary::kIgnoresLimit) {
    auto broken = std::make_shared<Config>(*config);
    for (auto& [name, destination] : broken->destinations) destination.retry.attempts = kNoLimit;
    config = std::move(broken);
  }
  config_ = std::move(config);
  nudged_ = true;
}

void Process::receive(Request request) {
  if (is_draining()) return answer(std::move(request), kAway);
  const Duration apart = wall() - request.stamp;
  const bool verified = !request.forged && apart <= kTolerance && apart >= -kTolerance;
  if (!verified && world_.canary != Canary::kVerifiesLate) return answer(std::move(request), kUnauthorized);
  if (request.retry && world_.canary == Canary::kSwallowsRetries) return answer(std::move(request), kOk);
  Waiting waiting{request, new_event(request), now() + kAckDeadline, false};
  if (world_.canary == Canary::kAnswersEarly) {
    waiting.answered = true;
    answer(std::move(request), kOk, waiting.event.id);
  }
  accepts_.push_back(std::move(waiting));
}

NewEvent Process::new_event(const Request& request) {
  const SourcePlan& source = world_.plan.sources[static_cast<std::size_t>(request.source)];
  NewEvent event;
  event.id = EventId::make(now(), world_.random.bytes());
  event.source = source.name;
  event.key = request.key;
  event.keys = {key_hash("", {request.key})};
  if (!request.also.empty()) event.keys.push_back(key_hash("json:/also", {request.also}));
  event.window = source.window;
  event.body = request.body;
  event.arrival.at = now();
  event.arrival.body_hash = body_hash(request.body);
  event.destinations = source.destinations;
  event.rearm = source.rearm;
  return event;
}

void Process::answer(Request request, int status, std::optional<EventId> id) {
  answers_.push_back({std::move(request), status, id});
}

bool Process::commit() {
  if (!healthy_ && now() >= recover_at_) return recover();
  if (!healthy_ && world_.canary == Canary::kUnknownDropsDelivery) return false;
  std::deque<Settlement> settles;
  while (healthy_ && !settles_.empty() && settles.size() < kBatchMax / 2) {
    settles.push_back(std::move(settles_.front()));
    settles_.pop_front();
  }
  std::deque<Waiting> accepts;
  while (!accepts_.empty() && accepts.size() + settles.size() < kBatchMax) {
    accepts.push_back(std::move(accepts_.front()));
    accepts_.pop_front();
  }
  if (accepts.empty() && settles.empty()) return false;
  std::erase_if(accepts, [this](Waiting& waiting) {
    if (waiting.deadline >= now()) return false;
    refuse(waiting, unavailable("late"));
    return true;
  });
  if (!healthy_) {
    for (Waiting& waiting : accepts) {
      if (!answer_unrecorded(waiting)) refuse(waiting, unavailable("ill"));
    }
  } else if (!accepts.empty() || !settles.empty()) {
    commit_range(std::move(accepts), std::move(settles));
  }
  return true;
}

bool Process::recover() {
  healthy_ = store_.recover(now()).ok();
  recover_at_ = now() + kRecoverPause;
  world_.trace.add("i{} recover {}", instance_, healthy_);
  return true;
}

void Process::commit_range(std::deque<Waiting> accepts, std::deque<Settlement> settles) {
  std::vector<NewEvent> events;
  for (Waiting& waiting : accepts) events.push_back(std::move(waiting.event));
  const std::vector<Settlement> settlements(settles.begin(), settles.end());
  const auto facts = store_.commit(events, settlements, now());
  for (std::size_t i = 0; i < events.size(); ++i) accepts[i].event = std::move(events[i]);
  world_.trace.add("i{} commit {} events {} settlements: {}", instance_, accepts.size(), settles.size(),
                   to_string(facts.code()));
  if (facts.ok()) return answer_range(facts.value(), accepts, settles);
  if (facts.code() != Code::kInternal) return put_aside(facts.status(), accepts, settles);
  if (accepts.size() + settles.size() == 1) {
    for (Waiting& waiting : accepts) refuse(waiting, facts.status());
    return;
  }
  // Halved until the culprit stands alone; events first, then settlements.
  const std::size_t half = (accepts.size() + settles.size()) / 2;
  const auto first_accepts = static_cast<std::ptrdiff_t>(std::min(half, accepts.size()));
  const auto first_settles = static_cast<std::ptrdiff_t>(half) - first_accepts;
  std::deque<Waiting> later(std::make_move_iterator(accepts.begin() + first_accepts),
                            std::make_move_iterator(accepts.end()));
  std::deque<Settlement> later_settles(settles.begin() + first_settles, settles.end());
  accepts.erase(accepts.begin() + first_accepts, accepts.end());
  settles.erase(settles.begin() + first_settles, settles.end());
  commit_range(std::move(accepts), std::move(settles));
  commit_range(std::move(later), std::move(later_settles));
}

void Process::answer_range(const CommitFacts& facts, std::deque<Waiting>& accepts,
                           const std::deque<Settlement>& settles) {
  for (std::size_t i = 0; i < accepts.size(); ++i) {
    nudged_ = nudged_ || facts.accepts[i].new_delivery;
    world_.trace.add("  request {} {} {}", accepts[i].request.number, to_string(facts.accepts[i].verdict),
                     facts.accepts[i].id.text());
    const int status = accepts[i].request.forged ? kUnauthorized : kOk;
    if (!accepts[i].answered) answer(std::move(accepts[i].request), status, facts.accepts[i].id);
  }
  for (std::size_t i = 0; i < settles.size(); ++i) {
    const Next next = settles[i].next;
    nudged_ = nudged_ || (facts.settles[i].taken && (next == Next::kRetry || next == Next::kRelease));
    const AttemptResult& result = settles[i].result;
    ended_.push_back({settles[i].destination, settles[i].event, settles[i].attempt, result.started_at, sign_of(result),
                      result.error});
    world_.trace.add("  attempt {} of {} to {}: {} {}", settles[i].attempt, settles[i].event.text(),
                     settles[i].destination, to_string(settles[i].result.outcome),
                     facts.settles[i].taken ? "taken" : "not taken");
  }
}

void Process::put_aside(const Status& status, std::deque<Waiting>& accepts, std::deque<Settlement>& settles) {
  const bool healthy = store_.health().ok();
  const bool unknown = status.code() == Code::kUnknown;
  if (!healthy) {
    healthy_ = false;
    recover_at_ = now() + kRecoverPause;
  }
  // If it took effect after all, nothing but this says that deliveries are pending.
  if (unknown && world_.canary != Canary::kForgetsNudge) nudged_ = true;
  std::deque<Waiting> again;
  for (Waiting& waiting : accepts) {
    if (unknown && world_.canary == Canary::kUnknownIsDone) {
      answer(std::move(waiting.request), kOk, waiting.event.id);
    } else if (answer_unrecorded(waiting)) {
      continue;
    } else if (unknown && world_.canary == Canary::kUnknownDropsDelivery) {
      waiting.event.id = EventId::make(now(), world_.random.bytes());
      waiting.event.destinations.clear();
      again.push_back(std::move(waiting));
    } else if (!unknown && healthy) {
      again.push_back(std::move(waiting));
    } else {
      refuse(waiting, status);
    }
  }
  accepts_.insert(accepts_.begin(), std::make_move_iterator(again.begin()), std::make_move_iterator(again.end()));
  settles_.insert(settles_.begin(), settles.begin(), settles.end());
}

bool Process::answer_unrecorded(Waiting& waiting) {
  const auto found = store_.find_duplicate(waiting.event, now());
  if (!found.ok() || !found.value()) return false;
  if (!waiting.answered) answer(std::move(waiting.request), kOk, found.value()->id);
  return true;
}

void Process::refuse(Waiting& waiting, const Status& status) {
  if (waiting.answered) return;
  answer(std::move(waiting.request), status.code() == Code::kInternal ? kInternalError : kAway);
}

void Process::set_paused(const std::string& destination, bool paused) {
  const auto changed = store_.set_paused(destination, paused);
  world_.trace.add("i{} {} {}: {}", instance_, paused ? "pauses" : "resumes", destination,
                   changed.ok() ? (*changed ? "done" : "no news") : "failed");
  if (!paused && (changed.ok() || changed.code() == Code::kUnknown)) nudged_ = true;
}

void Process::replay(const ReplayRequest& request) {
  const auto replayed = store_.replay(request, now());
  world_.trace.add("i{} replay: {}", instance_, to_string(replayed.code()));
  if (replayed.ok() || replayed.code() == Code::kUnknown) nudged_ = true;
}

void Process::drain(Duration limit) {
  drain_until_ = now() + limit;
}

bool Process::has_drained() const {
  return is_draining() && accepts_.empty() && settles_.empty() && answers_.empty() && claims_.empty() &&
         attempts_.empty();
}

std::optional<Time> Process::wake_at() const {
  if (!answers_.empty() || !claims_.empty() || (healthy_ && !(accepts_.empty() && settles_.empty())))
    return world_.now();
  std::optional<Time> earliest;
  const auto take = [&](Time time) { earliest = std::min(earliest.value_or(time), time); };
  for (const Attempted& attempt : attempts_) take(attempt.ends_at);
  if (!healthy_) take(recover_at_ - clocks_.skew);
  if (is_draining()) return earliest;
  if (nudged_ || !ended_.empty()) take(blocked_until_.value_or(now()) - clocks_.skew);
  if (wake_at_) take(std::max(*wake_at_, blocked_until_.value_or(*wake_at_)) - clocks_.skew);
  return earliest;
}

}  // namespace hookonce::sim
