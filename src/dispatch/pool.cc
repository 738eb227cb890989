#include "dispatch/pool.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/log.h"
#include "base/random.h"
#include "base/sync.h"
#include "core/breaker.h"
#include "core/destination_counters.h"
#include "dispatch/attempt_report.h"
#include "dispatch/dispatcher.h"
#include "dispatch/reply_waiters.h"

namespace hookonce {
namespace {

// Pauses after a claim that the store refused; short at first, because most troubles are.
constexpr Duration kStoreWaitFirst = std::chrono::milliseconds(100);
constexpr Duration kStoreWaitMax = std::chrono::seconds(5);
// How long stop() waits for the settlements of what it released. A store that takes longer is away, and then the leases
// run out by themselves: the same as after a crash.
constexpr Duration kReleaseWait = std::chrono::seconds(5);
// A wait for a moment that is further away is cut into pieces of this, so that it fits every clock.
constexpr Duration kWaitMax = std::chrono::hours(1);

// How many first attempts of synchronous sources may be on their way to one destination: enough for 2,500 a second
// where it answers within 100 ms, and no more open connections than a destination that hangs may cost.
constexpr int kBesideMax = 256;

// One attempt on its way.
struct OpenAttempt {
  Lease lease;
  std::shared_ptr<const Config> config;
  const DestinationConfig* destination = nullptr;  // in `config`
  bool beside = false;                             // holds no slot
  SyncDelivery::Done done;                         // of the sender that waits for it; may be null
};

struct Ended {
  AttemptEnd end;
  bool beside = false;
};

// What the attempts on their way share with the pool. It outlives the pool where the committer holds on to a settlement
// for longer.
struct Slots {
  Slots(Store& store, Committer& c, Sender& s, const Clock& k, DeliveryPool::Observer* o)
      : committer(c), sender(s), clock(k), observer(o), waiters(store, k) {}

  Committer& committer;
  Sender& sender;
  const Clock& clock;
  DeliveryPool::Observer* const observer;
  Mutex mutex;
  CondVar changed;
  int in_flight GUARDED_BY(mutex) = 0;
  std::map<std::string, int, std::less<>> beside GUARDED_BY(mutex);  // of those, by destination
  std::set<std::string, std::less<>> not_closed GUARDED_BY(mutex);   // destinations, by their breakers
  std::vector<Ended> ended GUARDED_BY(mutex);                        // attempts of whose end the dispatcher must hear
  bool nudged GUARDED_BY(mutex) = false;
  bool stopping GUARDED_BY(mutex) = false;
  std::shared_ptr<const Config> config GUARDED_BY(mutex);
  AttemptReport report;
  ReplyWaiters waiters;

  void take() LOCKS_EXCLUDED(mutex) {
    report.started();
    MutexLock lock(mutex);
    ++in_flight;
  }
  // For an attempt beside the slots; why it may not start, or empty.
  std::string take_beside(const std::string& destination) LOCKS_EXCLUDED(mutex) {
    report.started();
    MutexLock lock(mutex);
    ++in_flight;
    const int others = beside[destination]++;
    if (others >= kBesideMax) return "too many synchronous attempts are on their way";
    if (not_closed.count(destination) != 0) return "the breaker is not closed";
    return {};
  }
  // The dispatcher hears of it, and the slot is free.
  void note_ended(Ended attempt) LOCKS_EXCLUDED(mutex) {
    MutexLock lock(mutex);
    ended.push_back(std::move(attempt));
    changed.notify_all();
  }
  std::vector<Ended> take_ended() LOCKS_EXCLUDED(mutex) {
    MutexLock lock(mutex);
    return std::exchange(ended, {});
  }
  // All is said and done, the settlement too. `destination` where the attempt was beside the slots, else empty.
  void note_settled(const std::string& destination) LOCKS_EXCLUDED(mutex) {
    report.ended();
    MutexLock lock(mutex);
    --in_flight;
    if (!destination.empty()) --beside[destination];
    changed.notify_all();
  }
  // Until nothing is in flight, at most until `end` by steady_now().
  void await_none(Duration end) LOCKS_EXCLUDED(mutex) {
    MutexLock lock(mutex);
    for (Duration left = end - steady_now(); in_flight > 0 && left > Duration::zero(); left = end - steady_now()) {
      changed.wait_for(mutex, std::min(left, kWaitMax));
    }
  }
  void note_breaker(const Dispatcher::BreakerChange& change) LOCKS_EXCLUDED(mutex) {
    MutexLock lock(mutex);
    if (change.open_until) {
      not_closed.insert(change.destination);
    } else {
      not_closed.erase(change.destination);
    }
  }
};

bool wants_late_reply(const OpenAttempt& attempt) {
  const auto source = attempt.config->sources.find(attempt.lease.source);
  return source != attempt.config->sources.end() && source->second.late_reply.has_value();
}

// Why the sender of a synchronous source's attempt has no reply of it.
std::string reason_of(const Settlement& settlement, const Result<SettleFacts>& settled) {
  const AttemptResult& result = settlement.result;
  if (!result.error.empty()) {
    return (result.outcome == Outcome::kReleased ? "not sent: " : "the attempt failed: ") + result.error;
  }
  if (!settled.ok()) return "the reply could not be stored: " + settled.status().message();
  return "a later attempt has replaced this one";
}

// Tells those who wait for a reply what has become of it.
void answer_waiting(Slots& slots, OpenAttempt& attempt, const Settlement& settlement,
                    const Result<SettleFacts>& settled) {
  SyncAnswer answer;
  if (settled.ok() && settled->taken && settlement.reply) {
    answer.reply = settlement.reply;
    // After a person's replay another reply may have been there before, which is the one that counts: whoever waits
    // gets that from the store. And nobody waits at the provider any more.
    if (!attempt.lease.replay) slots.waiters.settled(settlement.event, *settlement.reply);
    // Also without an address: the sender of late replies says that there was none.
    if (!attempt.lease.replay && (!settlement.result.reply_url.empty() || wants_late_reply(attempt))) {
      LateReply late{settlement.event, attempt.lease.source, settlement.result.reply_url, *settlement.reply};
      answer.late = [&sender = slots.sender, late = std::move(late), config = attempt.config] {
        sender.send_late(late, config);
      };
    }
  }
  if (attempt.done) {
    if (!answer.reply) answer.reason = reason_of(settlement, settled);
    std::exchange(attempt.done, nullptr)(std::move(answer));
  } else if (answer.late) {
    answer.late();
  }
}

}  // namespace

struct DeliveryPool::State {
  State(Store& s, Committer& c, Sender& se, const Clock& cl, Options o)
      : sender(se),
        clock(cl),
        options(o),
        slots(std::make_shared<Slots>(s, c, se, cl, o.observer)),
        dispatcher(s, [this](const auto& wanted) { return claim(wanted); }) {}

  void run();
  // What the loop acts on next; nullptr: the pool stops.
  std::shared_ptr<const Config> await_turn();
  void tick(const std::shared_ptr<const Config>& config);
  Result<Claimed> claim(const Committer::Wanted& wanted);
  void hear(const std::vector<Ended>& ended);
  void note_store(const Status& status, Time now);
  static void start_attempt(const std::shared_ptr<Slots>& slots, OpenAttempt attempt, Time claimed_before,
                            std::string why_not);
  // Any thread: an attempt has ended.
  static void settle(const std::shared_ptr<Slots>& slots, OpenAttempt attempt, AttemptResult result);

  Sender& sender;
  const Clock& clock;
  const Options options;
  const std::shared_ptr<Slots> slots;

  // The loop's thread only, or the committer's while the loop waits for a claim.
  Dispatcher dispatcher;
  std::shared_ptr<const Config> current;  // what the loop acts on
  std::optional<Time> wake_at;
  std::optional<Time> blocked_until;  // after a claim that failed: no other one before this
  Duration store_wait = kStoreWaitFirst;
  std::string store_trouble;  // of the last claim; empty: it went through

  std::thread thread;
  bool stopped = false;  // of the thread that owns the pool
};

DeliveryPool::DeliveryPool(Store& store, Committer& committer, Sender& sender, const Clock& clock, Options options)
    : state_(std::make_unique<State>(store, committer, sender, clock, options)) {}

DeliveryPool::~DeliveryPool() {
  stop(Duration::zero());
}

void DeliveryPool::start(std::shared_ptr<const Config> config) {
  HK_CHECK(config != nullptr && !state_->thread.joinable());
  configure(std::move(config));
  state_->slots->waiters.start();
  state_->thread = std::thread([state = state_.get()] { state->run(); });
}

void DeliveryPool::configure(std::shared_ptr<const Config> config) {
  // So that every destination is in the metrics, the quiet ones too.
  for (const auto& [name, destination] : config->destinations) destination_counters(name);
  MutexLock lock(state_->slots->mutex);
  state_->slots->config = std::move(config);
  state_->slots->nudged = true;
  state_->slots->changed.notify_all();
}

void DeliveryPool::nudge() {
  MutexLock lock(state_->slots->mutex);
  // Said once until the loop has heard it: a busy gateway nudges with every commit.
  if (std::exchange(state_->slots->nudged, true)) return;
  state_->slots->changed.notify_all();
}

void DeliveryPool::deliver(Lease lease, Time leased_after, Done done) {
  const auto& slots = state_->slots;
  OpenAttempt attempt;
  attempt.lease = std::move(lease);
  attempt.beside = true;
  attempt.done = std::move(done);
  std::string why_not = slots->take_beside(attempt.lease.destination);
  {
    MutexLock lock(slots->mutex);
    attempt.config = slots->config;
  }
  State::start_attempt(slots, std::move(attempt), leased_after, std::move(why_not));
}

void DeliveryPool::await_reply(const EventId& event, Time deadline, Done done) {
  state_->slots->waiters.add(event, deadline, std::move(done));
}

void DeliveryPool::stop(Duration limit) {
  if (std::exchange(state_->stopped, true)) return;
  const Duration end = steady_now() + limit;
  {
    MutexLock lock(state_->slots->mutex);
    state_->slots->stopping = true;
    state_->slots->changed.notify_all();
  }
  if (state_->thread.joinable()) state_->thread.join();
  state_->slots->await_none(end);
  state_->sender.stop();
  state_->slots->await_none(std::max(end, steady_now() + kReleaseWait));
  state_->slots->waiters.stop();
}

void DeliveryPool::State::run() {
  while (const auto config = await_turn()) tick(config);
}

// What ended while the claim waited for its transaction is settled by that, and makes room in it.
Result<Claimed> DeliveryPool::State::claim(const Committer::Wanted& wanted) {
  return slots->committer.claim([&](Time now) {
    hear(slots->take_ended());
    return wanted(now);
  });
}

void DeliveryPool::State::hear(const std::vector<Ended>& ended) {
  const Time now = clock.now();
  for (const auto& [end, beside] : ended) {
    if (beside) {
      dispatcher.noted_beside(end, *current, now);
    } else {
      dispatcher.ended(end, *current, now);
    }
  }
}

std::shared_ptr<const Config> DeliveryPool::State::await_turn() {
  std::vector<Ended> ended;
  std::shared_ptr<const Config> config;
  {
    MutexLock lock(slots->mutex);
    for (;;) {
      if (slots->stopping) return nullptr;
      const Time now = clock.now();
      const bool wanted = slots->nudged || !slots->ended.empty() || (wake_at && *wake_at <= now);
      const bool blocked = blocked_until && now < *blocked_until;
      if (wanted && !blocked) break;
      const std::optional<Time> next = blocked ? blocked_until : wake_at;
      if (next) {
        slots->changed.wait_for(slots->mutex, std::min(Duration(*next - now), kWaitMax));
      } else {
        slots->changed.wait(slots->mutex);
      }
    }
    slots->nudged = false;
    ended.swap(slots->ended);
    config = slots->config;
  }
  current = config;
  hear(ended);
  return config;
}

void DeliveryPool::State::tick(const std::shared_ptr<const Config>& config) {
  const Time now = clock.now();
  auto tick = dispatcher.tick(now, *config);
  for (const auto& change : dispatcher.take_breaker_changes()) {
    slots->note_breaker(change);
    slots->report.breaker_changed(change, now);
  }
  note_store(tick.status(), now);
  if (!tick.ok()) {
    wake_at = blocked_until;
    return;
  }
  for (const DeadDelivery& dead : tick->dead) {
    slots->report.died_unknown(dead);
    if (options.observer != nullptr) options.observer->buried(dead);
  }
  for (Lease& lease : tick->leases) {
    slots->take();
    OpenAttempt attempt;
    attempt.lease = std::move(lease);
    attempt.config = config;
    start_attempt(slots, std::move(attempt), tick->asked_at, {});
  }
  wake_at = tick->wake_at;
  if (options.idle_poll > Duration::zero())
    wake_at = std::min(wake_at.value_or(now + options.idle_poll), now + options.idle_poll);
}

// One line when the store's answer changes, not one per try.
void DeliveryPool::State::note_store(const Status& status, Time now) {
  if (status.ok()) {
    if (!store_trouble.empty()) log_info("claim.recovered");
    store_trouble.clear();
    store_wait = kStoreWaitFirst;
    blocked_until.reset();
    return;
  }
  if (status.message() != store_trouble) log_warn("claim.failed", {{"reason", status.message()}});
  store_trouble = status.message();
  blocked_until = now + store_wait;
  store_wait = std::min(store_wait * 2, kStoreWaitMax);
}

void DeliveryPool::State::start_attempt(const std::shared_ptr<Slots>& slots, OpenAttempt attempt, Time claimed_before,
                                        std::string why_not) {
  // The lease began during the claim. Its length is the store's word; how much of it has gone is measured here, from
  // before the claim, so that neither another machine's clock nor a slow claim can make an attempt outlast its lease.
  const Lease& lease = attempt.lease;
  const Duration left = (lease.until - lease.claimed_at) - (slots->clock.now() - claimed_before);
  if (attempt.config != nullptr) {
    const auto known = attempt.config->destinations.find(lease.destination);
    if (known != attempt.config->destinations.end()) attempt.destination = &known->second;
  }
  {
    MutexLock lock(slots->mutex);
    if (slots->stopping) why_not = "the gateway stops";
  }
  if (attempt.destination == nullptr) {
    why_not = "the configuration does not know the destination any more";
  } else if (left < attempt.destination->timeout) {
    why_not = "too little of the lease was left for an attempt";
  }
  if (!why_not.empty()) {
    AttemptResult result;
    result.outcome = Outcome::kReleased;
    result.started_at = slots->clock.now();
    result.error = std::move(why_not);
    // The event is safe whatever becomes of the settlement, so nobody waits for that.
    if (attempt.done) std::exchange(attempt.done, nullptr)({.reason = "not sent: " + result.error});
    return settle(slots, std::move(attempt), std::move(result));
  }
  // The committer and the clock outlive every attempt: stop() ends them all before the pool goes.
  Lease sent = lease;
  const auto config = attempt.config;
  slots->sender.send(std::move(sent), config, [slots, attempt = std::move(attempt)](AttemptResult result) mutable {
    settle(slots, std::move(attempt), std::move(result));
  });
}

void DeliveryPool::State::settle(const std::shared_ptr<Slots>& slots, OpenAttempt attempt, AttemptResult result) {
  static const DestinationConfig unknown;  // a lease that is given back asks for nothing of it
  const DestinationConfig& destination = attempt.destination != nullptr ? *attempt.destination : unknown;
  const Lease& lease = attempt.lease;
  Ended ended{{lease.destination, lease.event, lease.attempt, result.started_at, sign_of(result), result.error},
              attempt.beside};
  Settlement settlement = decide(lease, std::move(result), destination.retry, random_unit());
  settlement.skip_dead = destination.skips_dead();
  // Only what the report and the observer need: a body must not wait in memory for its settlement.
  attempt.lease.body.reset();
  auto kept = settlement;
  const std::string beside = attempt.beside ? lease.destination : std::string();
  const bool slot_is_free = slots->committer.settles_before_claims();
  slots->committer.submit(
      std::move(settlement), nullptr,
      [slots, attempt = std::move(attempt), kept = std::move(kept), beside,
       ended = slot_is_free ? std::nullopt : std::optional(ended)](Result<SettleFacts> facts) mutable {
        const Lease& lease = attempt.lease;
        if (facts.ok()) {
          slots->report.settled(lease, kept, *facts, slots->clock.now());
          if (slots->observer != nullptr) slots->observer->settled(lease, kept, *facts);
        } else {
          slots->report.not_settled(lease, facts.status());
        }
        answer_waiting(*slots, attempt, kept, facts);
        if (ended) slots->note_ended(*std::move(ended));
        slots->note_settled(beside);
      });
  // After the settlement, so that no claim takes the slot in a transaction before it.
  if (slot_is_free) slots->note_ended(std::move(ended));
}

}  // namespace hookonce
