#include "store/committer.h"

#include <algorithm>
#include <atomic>
#include <deque>
#include <iterator>
#include <optional>
#include <span>
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
// What others hold is tried again, alone, after this: each try may wait as long as the store waits for a lock, and
// nothing else is committed meanwhile.
constexpr Duration kHeldAgain = std::chrono::milliseconds(250);
// A batch is searched for it at most this long, about the patience of those who wait; where much is held, halving it
// finds nothing that could be spared.
constexpr Duration kSearchPatience = std::chrono::seconds(2);
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

// A claim that its caller waits for.
struct ClaimItem {
  const Committer::Wanted* wanted = nullptr;
  ClaimRequest request;  // valid once it is in a batch
  std::optional<Result<Claimed>> answer;
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
  ClaimItem* claim = nullptr;  // of the caller who waits
  bool empty() const { return accepts.empty() && settles.empty() && claim == nullptr; }
  void append(Batch more) {
    std::move(more.accepts.begin(), more.accepts.end(), std::back_inserter(accepts));
    std::move(more.settles.begin(), more.settles.end(), std::back_inserter(settles));
  }
};

// What one transaction takes of a batch.
struct Part {
  std::span<NewEvent> events;  // of `accepts`; the store wants them in one row
  std::span<AcceptItem> accepts;
  std::span<SettleItem> settles;
  ClaimItem* claim = nullptr;

  std::size_t size() const { return events.size() + settles.size() + (claim != nullptr ? 1 : 0); }
  // Events first, then settlements: the order stays. A claim may have any place, so it stands apart from the others at
  // once. REQUIRES: size() > 1.
  std::pair<Part, Part> halves() const {
    if (claim != nullptr) return {{events, accepts, settles, nullptr}, {{}, {}, {}, claim}};
    const std::size_t half = size() / 2, first = std::min(half, events.size());
    return {{events.first(first), accepts.first(first), settles.first(half - first)},
            {events.subspan(first), accepts.subspan(first), settles.subspan(half - first)}};
  }
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
  // One transaction. What cannot be stored as it is goes into `parts`, what cannot be stored now into `again`.
  void commit_part(Part part, std::deque<Part>& parts, Duration search_until, Batch& again);
  Result<CommitAndClaimFacts> write(const Part& part);
  void put_off(Part part, const Status& status, bool healthy, Batch& again);
  void set_apart(Part single);
  void retry_held() LOCKS_EXCLUDED(mutex);
  void answer_part(CommitAndClaimFacts all, Part part);
  void answer_claim(ClaimItem* claim, Result<Claimed> answer) LOCKS_EXCLUDED(mutex);
  Duration wake_at() const;  // by steady_now(); when there is something to do though nothing was submitted
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
  ClaimItem* claim GUARDED_BY(mutex) = nullptr;  // until it is in a batch
  CondVar claim_answered;
  bool running GUARDED_BY(mutex) = false;
  bool stopping GUARDED_BY(mutex) = false;
  Duration stop_until GUARDED_BY(mutex){};  // by steady_now(); valid once stopping
  std::atomic<std::size_t> queued{0};

  // The committer's thread only.
  Callbacks callbacks;
  bool nudge = false;
  bool given_up = false;
  std::deque<Batch> held;  // single items that met something somebody else holds
  Duration held_at{};      // by steady_now(): when the first of them is tried again
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
  for (Batch& single : state_->held) rest.append(std::move(single));
  state_->held.clear();
  {
    MutexLock lock(state_->mutex);
    rest.claim = std::exchange(state_->claim, nullptr);
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

Result<Claimed> Committer::claim(const Wanted& wanted) {
  if (!settles_before_claims()) {
    const Time now = state_->clock.now();
    return state_->store.claim(wanted(now), now);
  }
  MutexLock lock(state_->mutex);
  if (state_->stopping) return unavailable("the gateway is stopping");
  ClaimItem item{&wanted, {}, {}};
  state_->claim = &item;
  state_->changed.notify_one();
  while (!item.answer) state_->claim_answered.wait(state_->mutex);
  return *std::move(item.answer);
}

bool Committer::settles_before_claims() const {
  return state_->store.claims_with_commit();
}

std::size_t Committer::queued() const {
  return state_->queued.load(std::memory_order_relaxed);
}

void Committer::State::run() {
  upkeep_at = steady_now() + kUpkeepEvery;
  Batch batch;
  while (gather(batch)) {
    if (!batch.empty()) commit(std::exchange(batch, Batch()));
    retry_held();
    tend();
  }
}

bool Committer::State::gather(Batch& batch) {
  {
    MutexLock lock(mutex);
    while (accepts.empty() && settles.empty() && claim == nullptr && !stopping) {
      const Duration wait = wake_at() - steady_now();
      if (wait <= Duration::zero()) return true;
      changed.wait_for(mutex, wait);
    }
    if (stopping && steady_now() >= stop_until) return false;
    batch.claim = std::exchange(claim, nullptr);
  }
  // Before the settlements are taken: whatever it knows to have ended is among them then.
  if (batch.claim != nullptr) batch.claim->request = (*batch.claim->wanted)(clock.now());

  MutexLock lock(mutex);
  // While the store is ill, settlements stay in the queue until it is well: only then is there anything to do with
  // them.
  if (was_healthy) take_settles(batch);
  take_accepts(batch);
  queued.store(accepts.size() + settles.size(), std::memory_order_relaxed);
  if (!batch.empty()) return true;
  if (stopping && held.empty()) return false;
  const Duration wait = wake_at() - steady_now();
  if (wait > Duration::zero()) changed.wait_for(mutex, wait);
  return true;
}

Duration Committer::State::wake_at() const {
  Duration at = upkeep_at;
  if (!was_healthy && !given_up) at = std::min(at, recover_at);
  if (!held.empty()) at = std::min(at, held_at);
  return at;
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
  std::size_t keys = 0;
  while (!accepts.empty() &&
         batch.accepts.size() + batch.settles.size() < std::max<std::size_t>(1, options.batch_max)) {
    bytes += accepts.front().event.body.size();
    keys += accepts.front().event.keys.size();
    const bool is_full = bytes > options.batch_bytes_max || keys > options.batch_keys_max;
    if (!batch.accepts.empty() && is_full) return;
    batch.accepts.push_back(std::move(accepts.front()));
    accepts.pop_front();
  }
}

void Committer::State::commit(Batch batch) {
  drop_late(batch);
  if (!was_healthy) {
    std::erase_if(batch.accepts, [this](AcceptItem& item) { return answer_unrecorded(item); });
    answer_claim(std::exchange(batch.claim, nullptr), unavailable(store.health().message()));
    refuse(batch, unavailable("the store cannot commit now"), false);
  } else if (!batch.empty()) {
    std::vector<NewEvent> events;  // the store wants them in one row
    events.reserve(batch.accepts.size());
    for (AcceptItem& item : batch.accepts) events.push_back(std::move(item.event));
    Batch again;
    std::deque<Part> parts = {{events, batch.accepts, batch.settles, batch.claim}};
    const Duration search_until = steady_now() + kSearchPatience;
    while (!parts.empty()) {
      const Part part = parts.front();
      parts.pop_front();
      commit_part(part, parts, search_until, again);
    }
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

void Committer::State::commit_part(Part part, std::deque<Part>& parts, Duration search_until, Batch& again) {
  const Duration began = steady_now();
  Result<CommitAndClaimFacts> facts = write(part);
  if (facts.ok()) {
    commit_seconds.observe(std::chrono::duration<double>(steady_now() - began).count());
    commits.add();
    committed_items.add(part.events.size() + part.settles.size());
    recover_wait = kRecoverFirst;
    answer_part(*std::move(facts), part);
    return;
  }

  commit_errors.add();
  if (facts.code() == Code::kUnavailable || facts.code() == Code::kUnknown) {
    const bool healthy = store.health().ok();
    if (was_healthy) log_warn("store.unavailable", {{"reason", facts.status().message()}, {"items", part.size()}});
    if (was_healthy && !healthy) expect_recovery();
    // If it took effect after all, nothing but this nudge says that deliveries are pending: the provider's retry is a
    // duplicate then.
    nudge = nudge || facts.code() == Code::kUnknown;
    put_off(part, facts.status(), healthy, again);
  } else if (facts.code() == Code::kExhausted) {
    if (part.size() == 1) return set_apart(part);
    log_warn("store.held", {{"reason", facts.status().message()}, {"items", part.size()}});
    if (steady_now() >= search_until) return put_off(part, facts.status(), true, again);
    // What is not held is behind at most one more wait than there were halvings: all of a size before the smaller.
    const auto [first, second] = part.halves();
    parts.push_back(first);
    parts.push_back(second);
  } else if (part.size() == 1) {
    log_error("store.refused", {{"reason", facts.status().message()}});
    if (!part.accepts.empty()) callbacks.answer(part.accepts[0], facts.status());
    if (!part.settles.empty()) callbacks.answer(part.settles[0], facts.status());
    answer_claim(part.claim, facts.status());
  } else {
    const auto [first, second] = part.halves();
    parts.push_front(second);
    parts.push_front(first);
  }
}

Result<CommitAndClaimFacts> Committer::State::write(const Part& part) {
  std::vector<Settlement> settlements;
  settlements.reserve(part.settles.size());
  for (const SettleItem& item : part.settles) settlements.push_back(item.settlement);
  const Time now = clock.now();
  if (part.claim != nullptr) {
    return store.commit_and_claim(part.events, settlements, part.claim->request, now);
  }
  CommitAndClaimFacts facts;
  HK_ASSIGN(facts.commit, store.commit(part.events, settlements, now));
  return facts;
}

void Committer::State::put_off(Part part, const Status& status, bool healthy, Batch& again) {
  for (std::size_t i = 0; i < part.accepts.size(); ++i) {
    part.accepts[i].event = std::move(part.events[i]);
    if (answer_unrecorded(part.accepts[i])) continue;
    if (status.code() != Code::kUnknown && healthy) {
      again.accepts.push_back(std::move(part.accepts[i]));
    } else {
      callbacks.answer(part.accepts[i], status);
    }
  }
  // A settlement is safe to repeat: one that took effect already is not taken again.
  for (SettleItem& item : part.settles) again.settles.push_back(std::move(item));
  answer_claim(part.claim, status);
}

// In a batch with others it would keep them waiting again.
void Committer::State::set_apart(Part single) {
  if (single.claim != nullptr) return answer_claim(single.claim, unavailable("what is due is held by others"));
  Batch batch;
  if (!single.settles.empty()) batch.settles.push_back(std::move(single.settles[0]));
  if (!single.accepts.empty()) {
    single.accepts[0].event = std::move(single.events[0]);
    if (answer_unrecorded(single.accepts[0])) return;
    batch.accepts.push_back(std::move(single.accepts[0]));
  }
  const Duration now = steady_now();
  if (held.empty() || held_at <= now) held_at = now + kHeldAgain;
  held.push_back(std::move(batch));
}

// Until it goes through, or its deadline has passed.
void Committer::State::retry_held() {
  if (held.empty()) return;
  if (!was_healthy) {  // The others' rules hold for it now.
    Batch all;
    for (Batch& single : std::exchange(held, {})) all.append(std::move(single));
    put_back(std::move(all));
  } else if (steady_now() >= held_at) {
    for (Batch& single : held) drop_late(single);
    callbacks.run();
    std::erase_if(held, [](const Batch& single) { return single.empty(); });
    if (held.empty()) return;
    Batch single = std::move(held.front());
    held.pop_front();
    held_at = steady_now();  // The next one's turn is at once, unless this one comes back.
    commit(std::move(single));
  }
}

void Committer::State::answer_part(CommitAndClaimFacts all, Part part) {
  answer_claim(part.claim, std::move(all.claimed));
  const CommitFacts& facts = all.commit;
  for (std::size_t i = 0; i < part.accepts.size(); ++i) {
    nudge = nudge || facts.accepts[i].new_delivery;
    callbacks.answer(part.accepts[i], facts.accepts[i]);
  }
  for (std::size_t i = 0; i < part.settles.size(); ++i) {
    const Next next = part.settles[i].settlement.next;
    nudge =
        nudge || facts.settles[i].freed || (facts.settles[i].taken && (next == Next::kRetry || next == Next::kRelease));
    callbacks.answer(part.settles[i], facts.settles[i]);
  }
}

void Committer::State::answer_claim(ClaimItem* item, Result<Claimed> answer) {
  if (item == nullptr) return;
  MutexLock lock(mutex);
  item->answer = std::move(answer);
  claim_answered.notify_one();
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
  answer_claim(std::exchange(batch.claim, nullptr), status);
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
