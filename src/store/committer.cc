#include "store/committer.h"

#include <algorithm>
#include <atomic>
#include <deque>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/metrics.h"
#include "base/sync.h"

namespace hookonce {

namespace {

constexpr Duration kUpkeepEvery = std::chrono::seconds(1);
// The first try to recover comes soon, because most troubles are short; the last ones spare a disk that stays full.
constexpr Duration kRecoverFirst = std::chrono::milliseconds(100);
constexpr Duration kRecoverMax = std::chrono::seconds(5);
// Behind a healthy store that could not serve (another process holds its lock): the store has waited already.
constexpr Duration kBusyPause = std::chrono::milliseconds(10);
// How long stop() goes on trying to commit what is left while the store cannot serve; its callers have about this much
// patience.
constexpr Duration kStopPatience = std::chrono::seconds(5);

struct AcceptItem {
  NewEvent event;
  Time deadline{};
  Executor* executor = nullptr;
  Committer::AcceptDone done;
};

struct SettleItem {
  Settlement settlement;
  Executor* executor = nullptr;
  Committer::SettleDone done;
};

// Callbacks gathered per executor, so that each loop is woken once.
class Callbacks {
 public:
  void add(Executor* executor, Task task) {
    for (auto& [target, tasks] : groups_) {
      if (target == executor) {
        tasks.push_back(std::move(task));
        return;
      }
    }
    groups_.emplace_back(executor, std::vector<Task>());
    groups_.back().second.push_back(std::move(task));
  }

  void answer(AcceptItem& item, Result<AcceptFacts> result) {
    item.event = NewEvent();  // What the body takes of max_inflight is free before the caller hears of it.
    add(item.executor,
        [done = std::move(item.done), result = std::move(result)]() mutable { done(std::move(result)); });
  }
  void answer(SettleItem& item, Result<SettleFacts> result) {
    add(item.executor,
        [done = std::move(item.done), result = std::move(result)]() mutable { done(std::move(result)); });
  }

  void run() {
    auto groups = std::exchange(groups_, {});
    for (auto& [executor, tasks] : groups) {
      if (executor != nullptr) {
        executor->post(std::move(tasks));
      } else {
        for (Task& task : tasks) task();
      }
    }
  }

 private:
  std::vector<std::pair<Executor*, std::vector<Task>>> groups_;  // as many as I/O threads: a handful
};

struct Batch {
  std::vector<AcceptItem> accepts;
  std::vector<SettleItem> settles;
  bool empty() const { return accepts.empty() && settles.empty(); }
};

}  // namespace

struct Committer::State {
  State(Store& s, const Clock& c, Options o) : store(s), clock(c), options(std::move(o)) {}

  void run() LOCKS_EXCLUDED(mutex);
  // What has gathered, within the limits of one transaction; waits for it, at most until the next upkeep. False: stop.
  bool gather(Batch& batch) LOCKS_EXCLUDED(mutex);
  void take_settles(Batch& batch) LOCKS_REQUIRED(mutex);
  void take_accepts(Batch& batch) LOCKS_REQUIRED(mutex);

  void commit(Batch batch);
  void drop_late(Batch& batch);
  // One transaction over parts of a batch; what cannot be stored now comes back in `again`.
  void commit_range(std::span<NewEvent> events, std::span<AcceptItem> accepts, std::span<SettleItem> settles,
                    Batch& again);
  void answer_range(const CommitFacts& facts, std::span<AcceptItem> accepts, std::span<SettleItem> settles);
  // Answers a duplicate of a durable event though nothing can be written; false where it is not one.
  bool answer_unrecorded(AcceptItem& item);
  void refuse(Batch& batch, const Status& status, bool with_settles);
  void put_back(Batch batch) LOCKS_EXCLUDED(mutex);

  void tend();
  void expect_recovery();
  void recover();

  Store& store;
  const Clock& clock;
  const Options options;
  std::thread thread;

  Mutex mutex;
  CondVar changed;
  std::deque<AcceptItem> accepts GUARDED_BY(mutex);
  std::deque<SettleItem> settles GUARDED_BY(mutex);
  bool running GUARDED_BY(mutex) = false;
  bool stopping GUARDED_BY(mutex) = false;
  Duration stop_until GUARDED_BY(mutex){};  // by steady_now(); valid once stopping
  std::atomic<std::size_t> queued{0};

  // The committer's thread only.
  Callbacks callbacks;
  bool nudge = false;
  bool given_up = false;
  bool was_healthy = true;
  Duration upkeep_at{};   // by steady_now()
  Duration recover_at{};  // by steady_now()
  Duration recover_wait = kRecoverFirst;

  Histogram& commit_seconds =
      metrics().histogram("hookonce_commit_seconds", "Time of one transaction, its sync included");
  Counter& commits = metrics().counter("hookonce_commits_total", "Transactions committed");
  Counter& committed_items =
      metrics().counter("hookonce_committed_items_total", "Events and settlements in those transactions");
  Counter& unrecorded = metrics().counter("hookonce_duplicates_unrecorded_total",
                                          "Duplicates answered while the store could not record them");
  Counter& commit_errors = metrics().counter("hookonce_commit_errors_total", "Transactions that failed");
};

Committer::Committer(Store& store, const Clock& clock, Options options)
    : state_(std::make_unique<State>(store, clock, std::move(options))) {}

Committer::~Committer() {
  stop();
}

void Committer::start() {
  MutexLock lock(state_->mutex);
  if (state_->running || state_->stopping) return;
  state_->running = true;
  state_->thread = std::thread([state = state_.get()] { state->run(); });
}

void Committer::stop() {
  {
    MutexLock lock(state_->mutex);
    if (!state_->stopping) state_->stop_until = steady_now() + kStopPatience;
    state_->stopping = true;
    state_->changed.notify_all();
  }
  if (state_->thread.joinable()) state_->thread.join();
  // Never started, or submitted in the last moment: nobody is left waiting.
  Batch rest;
  {
    MutexLock lock(state_->mutex);
    for (AcceptItem& item : state_->accepts) rest.accepts.push_back(std::move(item));
    for (SettleItem& item : state_->settles) rest.settles.push_back(std::move(item));
    state_->accepts.clear();
    state_->settles.clear();
  }
  state_->refuse(rest, unavailable("the gateway has stopped"), true);
  state_->callbacks.run();
}

void Committer::submit(NewEvent event, Time deadline, Executor* executor, AcceptDone done) {
  Status refused;
  {
    MutexLock lock(state_->mutex);
    if (state_->stopping) {
      refused = unavailable("the gateway is stopping");
    } else if (state_->accepts.size() >= state_->options.queue_max) {
      refused = exhausted("too many events are waiting for the store");
    } else {
      state_->accepts.push_back({std::move(event), deadline, executor, std::move(done)});
      state_->queued.fetch_add(1, std::memory_order_relaxed);
      if (state_->accepts.size() == 1) state_->changed.notify_one();
      return;
    }
  }
  Callbacks callbacks;
  callbacks.add(executor, [done = std::move(done), refused] { done(refused); });
  callbacks.run();
}

void Committer::submit(Settlement settlement, Executor* executor, SettleDone done) {
  {
    MutexLock lock(state_->mutex);
    if (!state_->stopping) {
      state_->settles.push_back({std::move(settlement), executor, std::move(done)});
      state_->queued.fetch_add(1, std::memory_order_relaxed);
      if (state_->settles.size() == 1) state_->changed.notify_one();
      return;
    }
  }
  Callbacks callbacks;
  callbacks.add(executor, [done = std::move(done)] { done(unavailable("the gateway is stopping")); });
  callbacks.run();
}

std::size_t Committer::queued() const {
  return state_->queued.load(std::memory_order_relaxed);
}

void Committer::State::run() {
  upkeep_at = steady_now() + kUpkeepEvery;
  Batch batch;
  while (gather(batch)) {
    if (!batch.empty()) commit(std::exchange(batch, Batch()));
    tend();
  }
}

bool Committer::State::gather(Batch& batch) {
  MutexLock lock(mutex);
  while (accepts.empty() && settles.empty() && !stopping) {
    const Duration wait = std::min(upkeep_at, was_healthy || given_up ? upkeep_at : recover_at) - steady_now();
    if (wait <= Duration::zero()) return true;
    changed.wait_for(mutex, wait);
  }
  if (stopping && steady_now() >= stop_until) return false;
  // While the store is ill, settlements stay in the queue until it is well: only then is there anything to do with
  // them.
  if (was_healthy) take_settles(batch);
  take_accepts(batch);
  queued.store(accepts.size() + settles.size(), std::memory_order_relaxed);
  if (!batch.empty()) return true;
  if (stopping) return false;
  const Duration wait = std::min(upkeep_at, given_up ? upkeep_at : recover_at) - steady_now();
  if (wait > Duration::zero()) changed.wait_for(mutex, wait);
  return true;
}

void Committer::State::take_settles(Batch& batch) {
  // At most half of a transaction, so that a flood of either kind leaves room for the other.
  const std::size_t room = std::max<std::size_t>(1, options.batch_max / 2);
  while (!settles.empty() && batch.settles.size() < room) {
    batch.settles.push_back(std::move(settles.front()));
    settles.pop_front();
  }
}

void Committer::State::take_accepts(Batch& batch) {
  std::size_t bytes = 0;
  while (!accepts.empty() &&
         batch.accepts.size() + batch.settles.size() < std::max<std::size_t>(1, options.batch_max)) {
    bytes += accepts.front().event.body.size();
    if (!batch.accepts.empty() && bytes > options.batch_bytes_max) return;
    batch.accepts.push_back(std::move(accepts.front()));
    accepts.pop_front();
  }
}

void Committer::State::commit(Batch batch) {
  drop_late(batch);
  if (!was_healthy) {
    std::erase_if(batch.accepts, [this](AcceptItem& item) { return answer_unrecorded(item); });
    refuse(batch, unavailable("the store cannot commit now"), false);
  } else if (!batch.empty()) {
    std::vector<NewEvent> events;  // the store wants them in one row
    events.reserve(batch.accepts.size());
    for (AcceptItem& item : batch.accepts) events.push_back(std::move(item.event));
    Batch again;
    commit_range(events, batch.accepts, batch.settles, again);
    events.clear();
    put_back(std::move(again));
  }
  callbacks.run();
  if (std::exchange(nudge, false) && options.deliveries_pending) options.deliveries_pending();
}

void Committer::State::drop_late(Batch& batch) {
  const Time now = clock.now();
  const auto late = std::stable_partition(batch.accepts.begin(), batch.accepts.end(),
                                          [now](const AcceptItem& item) { return item.deadline >= now; });
  for (auto it = late; it != batch.accepts.end(); ++it) {
    callbacks.answer(*it, unavailable("the deadline passed before the store could begin"));
  }
  batch.accepts.erase(late, batch.accepts.end());
}

void Committer::State::commit_range(std::span<NewEvent> events, std::span<AcceptItem> accept_items,
                                    std::span<SettleItem> settle_items, Batch& again) {
  std::vector<Settlement> settlements;
  settlements.reserve(settle_items.size());
  for (const SettleItem& item : settle_items) settlements.push_back(item.settlement);

  const Duration began = steady_now();
  const Result<CommitFacts> facts = store.commit(events, settlements, clock.now());
  if (facts.ok()) {
    commit_seconds.observe(std::chrono::duration<double>(steady_now() - began).count());
    commits.add();
    committed_items.add(events.size() + settlements.size());
    recover_wait = kRecoverFirst;
    answer_range(*facts, accept_items, settle_items);
    return;
  }

  commit_errors.add();
  const std::size_t size = events.size() + settlements.size();
  if (facts.code() == Code::kUnavailable || facts.code() == Code::kUnknown) {
    const bool healthy = store.health().ok();
    if (was_healthy) log_warn("store.unavailable", {{"reason", facts.status().message()}, {"items", size}});
    if (was_healthy && !healthy) expect_recovery();
    // If it took effect after all, nothing but this nudge says that deliveries are pending: the provider's retry is a
    // duplicate then.
    nudge = nudge || facts.code() == Code::kUnknown;
    for (std::size_t i = 0; i < accept_items.size(); ++i) {
      accept_items[i].event = std::move(events[i]);
      if (answer_unrecorded(accept_items[i])) continue;
      if (facts.code() == Code::kUnavailable && healthy) {
        again.accepts.push_back(std::move(accept_items[i]));
      } else {
        callbacks.answer(accept_items[i], facts.status());
      }
    }
    // A settlement is safe to repeat: one that took effect already is not taken again.
    for (SettleItem& item : settle_items) again.settles.push_back(std::move(item));
  } else if (size == 1) {
    log_error("store.refused", {{"reason", facts.status().message()}});
    if (!accept_items.empty()) callbacks.answer(accept_items[0], facts.status());
    if (!settle_items.empty()) callbacks.answer(settle_items[0], facts.status());
  } else {
    // The culprit is found by halving; the order (events first, then settlements) stays.
    const std::size_t half = size / 2;
    const std::size_t first_events = std::min(half, events.size());
    const std::size_t first_settles = half - first_events;
    commit_range(events.first(first_events), accept_items.first(first_events), settle_items.first(first_settles),
                 again);
    commit_range(events.subspan(first_events), accept_items.subspan(first_events), settle_items.subspan(first_settles),
                 again);
  }
}

void Committer::State::answer_range(const CommitFacts& facts, std::span<AcceptItem> accept_items,
                                    std::span<SettleItem> settle_items) {
  for (std::size_t i = 0; i < accept_items.size(); ++i) {
    nudge = nudge || facts.accepts[i].new_delivery;
    callbacks.answer(accept_items[i], facts.accepts[i]);
  }
  for (std::size_t i = 0; i < settle_items.size(); ++i) {
    const Next next = settle_items[i].settlement.next;
    nudge =
        nudge || facts.settles[i].freed || (facts.settles[i].taken && (next == Next::kRetry || next == Next::kRelease));
    callbacks.answer(settle_items[i], facts.settles[i]);
  }
}

bool Committer::State::answer_unrecorded(AcceptItem& item) {
  Result<std::optional<AcceptFacts>> found = store.find_duplicate(item.event, clock.now());
  if (!found.ok() || !*found) return false;
  unrecorded.add();
  callbacks.answer(item, **found);
  return true;
}

void Committer::State::refuse(Batch& batch, const Status& status, bool with_settles) {
  for (AcceptItem& item : batch.accepts) callbacks.answer(item, status);
  if (!with_settles) return;
  for (SettleItem& item : batch.settles) callbacks.answer(item, status);
}

void Committer::State::put_back(Batch batch) {
  if (batch.empty()) return;
  MutexLock lock(mutex);
  for (auto it = batch.accepts.rbegin(); it != batch.accepts.rend(); ++it) accepts.push_front(std::move(*it));
  for (auto it = batch.settles.rbegin(); it != batch.settles.rend(); ++it) settles.push_front(std::move(*it));
  queued.store(accepts.size() + settles.size(), std::memory_order_relaxed);
  // Not a busy loop: the store has just answered "not now", so a moment passes before the same batch is tried again.
  if (!stopping) changed.wait_for(mutex, kBusyPause);
}

void Committer::State::tend() {
  const Duration now = steady_now();
  if (!was_healthy && !given_up && now >= recover_at) recover();
  if (now < upkeep_at) return;
  upkeep_at = now + kUpkeepEvery;
  if (was_healthy) {
    const Status health = store.health();
    if (!health.ok()) {
      log_warn("store.unavailable", {{"reason", health.message()}});
      expect_recovery();
    }
  }
  if (options.upkeep) options.upkeep(clock.now());
}

void Committer::State::recover() {
  const Status status = store.recover(clock.now());
  if (status.ok()) {
    log_info("store.recovered");
    was_healthy = true;
    return;
  }
  if (status.code() == Code::kPrecondition) {
    given_up = true;
    log_error("store.lost", {{"reason", status.message()}});
    if (options.given_up) options.given_up(status);
    return;
  }
  log_warn("store.recover_failed", {{"reason", status.message()}});
  expect_recovery();
}

// The pause grows until a commit succeeds, not merely an opening: a full disk can be opened as often as one likes.
void Committer::State::expect_recovery() {
  was_healthy = false;
  recover_at = steady_now() + recover_wait;
  recover_wait = std::min(recover_wait * 2, kRecoverMax);
}

}  // namespace hookonce
