#include "dispatch/pool.h"

#include <algorithm>
#include <optional>
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

// What the attempts on their way share with the pool. It outlives the pool where the committer holds on to a settlement
// for longer.
struct Slots {
  Mutex mutex;
  CondVar changed;
  int in_flight GUARDED_BY(mutex) = 0;
  std::vector<AttemptEnd> ended GUARDED_BY(mutex);  // attempts of whose end the dispatcher must hear
  bool nudged GUARDED_BY(mutex) = false;
  bool stopping GUARDED_BY(mutex) = false;
  std::shared_ptr<const Config> config GUARDED_BY(mutex);
  AttemptReport report;

  void take() LOCKS_EXCLUDED(mutex) {
    report.started();
    MutexLock lock(mutex);
    ++in_flight;
  }
  void give_back(AttemptEnd end) LOCKS_EXCLUDED(mutex) {
    report.ended();
    MutexLock lock(mutex);
    --in_flight;
    ended.push_back(std::move(end));
    changed.notify_all();
  }
  // Until nothing is in flight, at most until `end` by steady_now().
  void await_none(Duration end) LOCKS_EXCLUDED(mutex) {
    MutexLock lock(mutex);
    for (Duration left = end - steady_now(); in_flight > 0 && left > Duration::zero(); left = end - steady_now()) {
      changed.wait_for(mutex, std::min(left, kWaitMax));
    }
  }
};

}  // namespace

struct DeliveryPool::State {
  State(Store& s, Committer& c, Sender& se, const Clock& cl, Options o)
      : store(s), committer(c), sender(se), clock(cl), options(o), dispatcher(s) {}

  void run();
  // What the loop acts on next; nullptr: the pool stops.
  std::shared_ptr<const Config> await_turn();
  void tick(const std::shared_ptr<const Config>& config);
  void note_store(const Status& status, Time now);
  void start_attempt(Lease lease, const std::shared_ptr<const Config>& config, Time claimed_before);
  // Any thread: an attempt has ended.
  static void settle(const std::shared_ptr<Slots>& slots, Committer& committer, const Clock& clock, Observer* observer,
                     Lease lease, AttemptResult result, const DestinationConfig& destination);

  Store& store;
  Committer& committer;
  Sender& sender;
  const Clock& clock;
  const Options options;
  const std::shared_ptr<Slots> slots = std::make_shared<Slots>();

  // The loop's thread only.
  Dispatcher dispatcher;
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
}

void DeliveryPool::State::run() {
  while (const auto config = await_turn()) tick(config);
}

std::shared_ptr<const Config> DeliveryPool::State::await_turn() {
  std::vector<AttemptEnd> ended;
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
  const Time now = clock.now();
  for (const AttemptEnd& end : ended) dispatcher.ended(end, *config, now);
  return config;
}

void DeliveryPool::State::tick(const std::shared_ptr<const Config>& config) {
  const Time now = clock.now();
  auto tick = dispatcher.tick(now, *config);
  for (const auto& change : dispatcher.take_breaker_changes()) slots->report.breaker_changed(change, now);
  note_store(tick.status(), now);
  if (!tick.ok()) {
    wake_at = blocked_until;
    return;
  }
  for (const DeadDelivery& dead : tick->dead) {
    slots->report.died_unknown(dead);
    if (options.observer != nullptr) options.observer->buried(dead);
  }
  for (Lease& lease : tick->leases) start_attempt(std::move(lease), config, now);
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

void DeliveryPool::State::start_attempt(Lease lease, const std::shared_ptr<const Config>& config, Time claimed_before) {
  const DestinationConfig& destination = config->destinations.find(lease.destination)->second;
  slots->take();
  // The lease began during the claim. Its length is the store's word; how much of it has gone is measured here, from
  // before the claim, so that neither another machine's clock nor a slow claim can make an attempt outlast its lease.
  const Duration left = (lease.until - lease.claimed_at) - (clock.now() - claimed_before);
  bool stopping = false;
  {
    MutexLock lock(slots->mutex);
    stopping = slots->stopping;
  }
  if (stopping || left < destination.timeout) {
    AttemptResult result;
    result.outcome = Outcome::kReleased;
    result.started_at = clock.now();
    result.error = stopping ? "the gateway stops" : "too little of the lease was left for an attempt";
    return settle(slots, committer, clock, options.observer, std::move(lease), std::move(result), destination);
  }
  // The committer and the clock outlive every attempt: stop() ends them all before the pool goes.
  Lease sent = lease;
  sender.send(std::move(sent), config,
              [shared = slots, &committer = committer, &clock = clock, observer = options.observer,
               lease = std::move(lease), config, &destination](AttemptResult result) mutable {
                settle(shared, committer, clock, observer, std::move(lease), std::move(result), destination);
              });
}

void DeliveryPool::State::settle(const std::shared_ptr<Slots>& slots, Committer& committer, const Clock& clock,
                                 Observer* observer, Lease lease, AttemptResult result,
                                 const DestinationConfig& destination) {
  AttemptEnd end{lease.destination, lease.event, lease.attempt, result.started_at, sign_of(result), result.error};
  Settlement settlement = decide(lease, std::move(result), destination.retry, random_unit());
  settlement.skip_dead = destination.skips_dead();
  // Only what the report and the observer need: a body must not wait in memory for its settlement.
  lease.body.reset();
  auto kept = settlement;
  committer.submit(std::move(settlement), nullptr,
                   [slots, &clock, observer, lease = std::move(lease), kept = std::move(kept),
                    end = std::move(end)](Result<SettleFacts> facts) {
                     if (facts.ok()) {
                       slots->report.settled(lease, kept, *facts, clock.now());
                       if (observer != nullptr) observer->settled(lease, kept, *facts);
                     } else {
                       slots->report.not_settled(lease, facts.status());
                     }
                     slots->give_back(end);
                   });
}

}  // namespace hookonce
