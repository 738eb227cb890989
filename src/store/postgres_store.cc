#include "store/postgres_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <optional>
#include <utility>

#include "base/log.h"
#include "base/sync.h"
#include "store/commit_watch.h"
#include "store/event_filter.h"
#include "store/postgres_accept.h"
#include "store/postgres_claim.h"
#include "store/postgres_copy.h"
#include "store/postgres_delivery_list.h"
#include "store/postgres_inbox.h"
#include "store/postgres_lines.h"
#include "store/postgres_pauses.h"
#include "store/postgres_pool.h"
#include "store/postgres_prune.h"
#include "store/postgres_read.h"
#include "store/postgres_replay.h"
#include "store/postgres_schema.h"
#include "store/postgres_search.h"

namespace hookonce {

namespace {

// A batch that meets another one in its way (a deadlock, which the server ends after a second) goes through when it is
// repeated; more often than this, something else is wrong.
constexpr int kRepeatsMax = 5;

// A row that another gateway holds is free again within milliseconds, or after the second for which one that stands
// still may keep it; deadlocks are found after a second too, and repeated at once. Where a person's transaction holds a
// row for longer, batches are halved until what is held stands alone: with short waits, so that the rest is stored
// while its senders still wait, and for as long as such waits go on.
constexpr Duration kCommitLockTimeout = std::chrono::milliseconds(1200);
constexpr Duration kSearchLockTimeout = std::chrono::milliseconds(80);
constexpr Duration kSearchFor = std::chrono::seconds(5);  // since the last wait that was in vain
// Longer than that second as well.
constexpr Duration kLockTimeout = std::chrono::milliseconds(1500);
// Pruning can wait for another day, and the committer waits for it.
constexpr Duration kPruneLockTimeout = std::chrono::milliseconds(50);
constexpr Duration kWriteTimeout = std::chrono::seconds(5);
constexpr Duration kReadTimeout = std::chrono::seconds(15);
// For the committer, which asks this of every arrival while nothing can be committed.
constexpr Duration kDuplicateTimeout = std::chrono::milliseconds(500);
// For a page of a copy: nobody waits for it, and a server that is busy with others need not end it.
constexpr Duration kCopyTimeout = std::chrono::seconds(60);

// Connections at most, each opened when first needed: commits, claims and pruning, people's reading. A search must not
// keep an event waiting.
constexpr int kCommitConnections = 4;
constexpr int kClaimConnections = 3;
constexpr int kReadConnections = 4;

// How often a connection that lives long is asked whether the inbox behind it is still the same: a schema that was
// dropped and restored at once shows no error.
constexpr Duration kCheckEvery = std::chrono::seconds(5);

class PostgresStore final : public Store, private InboxRecords {
 public:
  PostgresStore(PostgresTarget target, PostgresClock clock, OpenFor use)
      : target_(std::move(target)),
        clock_(clock),
        use_(use),
        commit_{target_.schema, kCommitLockTimeout, kWriteTimeout, false},
        search_{target_.schema, kSearchLockTimeout, kWriteTimeout, false},
        write_{target_.schema, kLockTimeout, kWriteTimeout, false},
        prune_write_{target_.schema, kPruneLockTimeout, kWriteTimeout, false},
        read_{target_.schema, kLockTimeout, kReadTimeout, true},
        brief_{target_.schema, kLockTimeout, kDuplicateTimeout, true},
        copy_write_{target_.schema, kLockTimeout, kCopyTimeout, false},
        copy_read_{target_.schema, kLockTimeout, kCopyTimeout, true},
        commits_(target_, kCommitConnections),
        claims_(target_, kClaimConnections),
        reads_(target_, kReadConnections) {}

  // Connects and makes sure that this is an inbox, in a recovery the one from before (else kNotFound): the server may
  // be another one now.
  Status open() LOCKS_EXCLUDED(health_mutex_);

  Result<CommitFacts> commit(std::span<const NewEvent> events, std::span<const Settlement> settlements,
                             Time now) override;

  Result<std::optional<AcceptFacts>> find_duplicate(const NewEvent& event, Time now) override {
    return transact<std::optional<AcceptFacts>>(reads_, [&](PostgresConnection& connection) {
      return read_duplicate(connection, brief_, event, clock_of(now));
    });
  }

  Result<Claimed> claim(const ClaimRequest& request, Time now) override {
    return transact<Claimed>(
        claims_, [&](PostgresConnection& connection) { return claim_due(connection, write_, request, clock_of(now)); });
  }

  Result<std::optional<Time>> next_due(const std::vector<std::string>& destinations, Time now) override {
    return transact<std::optional<Time>>(claims_, [&](PostgresConnection& connection) {
      return find_next_due(connection, read_, destinations, clock_of(now), now);
    });
  }

  Result<bool> set_paused(const std::string& destination, bool paused) override {
    return transact<bool>(
        claims_, [&](PostgresConnection& connection) { return write_paused(connection, write_, destination, paused); });
  }

  Result<std::optional<ReplyState>> reply(const EventId& id) override {
    return transact<std::optional<ReplyState>>(
        reads_, [&](PostgresConnection& connection) { return read_reply(connection, brief_, id); });
  }

  Result<std::optional<EventDetail>> get(const EventId& id) override {
    return transact<std::optional<EventDetail>>(
        reads_, [&](PostgresConnection& connection) { return read_event(connection, read_, id); });
  }

  Result<EventPage> list(const EventFilter& filter, int limit, const std::optional<std::string>& cursor) override {
    PostgresSearch search;
    search.filter = filter;
    HK_ASSIGN(EventPage page, find(search, limit, cursor));
    for (PostgresFound& found : search.found) page.items.push_back(std::move(found.summary));
    return page;
  }

  Result<DeliveryPage> deliveries(const DeliveryFilter& filter, int limit,
                                  const std::optional<std::string>& cursor) override {
    HK_ASSIGN(DeliveryPlaceInList place, parse_delivery_cursor(cursor));
    PostgresDeliveryWalk walk{{filter, static_cast<std::size_t>(limit), std::move(place), {}, {}}};
    walk.stop_at = steady_now() + list_time.rows;
    while (!walk.finished) {
      HK_ASSIGN(walk, transact<PostgresDeliveryWalk>(
                          reads_, [&](PostgresConnection& connection) -> Result<PostgresDeliveryWalk> {
                            PostgresDeliveryWalk step = walk;  // a step that is repeated begins where this one did
                            HK_TRY(walk_step(connection, read_, step));
                            return step;
                          }));
    }
    return page_of(std::move(walk.list), walk.exhausted);
  }

  Result<StoreStats> stats(Time) override {
    return transact<StoreStats>(reads_, [&](PostgresConnection& connection) { return read_stats(connection, read_); });
  }

  Result<Replayed> replay(const ReplayRequest& request, Time now) override;

  Result<bool> apply_line_rule(const LineRule& rule, Time now) override {
    return transact<bool>(
        claims_, [&](PostgresConnection& connection) { return apply_rule(connection, write_, rule, clock_of(now)); });
  }

  Result<std::int64_t> prune(const PruneRequest& request) override LOCKS_EXCLUDED(prune_mutex_) {
    MutexLock lock(prune_mutex_);
    PostgresPrune* const prune = &prune_;  // The analysis does not see that the lock is held inside a lambda too.
    return transact<std::int64_t>(claims_, [&](PostgresConnection& connection) {
      return prune->run(connection, prune_write_, request, clock_of(request.keys_now));
    });
  }

  Status health() override LOCKS_EXCLUDED(health_mutex_) {
    HK_TRY(watch_.status());
    MutexLock lock(health_mutex_);
    return health_;
  }

  Status recover(Time) override;
  InboxRecords* records() override { return this; }

  std::vector<std::string> weaknesses() override LOCKS_EXCLUDED(health_mutex_) {
    MutexLock lock(health_mutex_);
    if (standby_names_) return {};
    return {
        "PostgreSQL without synchronous_standby_names: a failover to a replica may lose what was acknowledged last"};
  }

 private:
  class RecordReader final : public InboxReader {
   public:
    RecordReader(PostgresStore& store, std::int64_t after, Time as_of) : store_(store), after_(after), as_of_(as_of) {}
    Result<std::vector<InboxRecord>> next() override;

   private:
    PostgresStore& store_;
    std::int64_t after_;
    const Time as_of_;
  };
  Result<std::unique_ptr<InboxReader>> read(std::int64_t after, Time as_of) override {
    return std::unique_ptr<InboxReader>(std::make_unique<RecordReader>(*this, after, as_of));
  }
  Status write(std::span<const InboxRecord> records, const CopyMark& mark) override;
  Result<std::optional<CopyMark>> mark() override {
    return transact<std::optional<CopyMark>>(
        reads_, [&](PostgresConnection& connection) { return read_copy_mark(connection, copy_read_); });
  }
  Status remove_mark() override;

  // kPrecondition where what is here is a copy that was not finished.
  Status check_whole(PostgresConnection& connection) const;

  PostgresClockTime clock_of(Time now) const {
    return clock_ == PostgresClock::kCaller ? PostgresClockTime(now) : std::nullopt;
  }

  // Runs `work`, which begins and commits, on a connection of the pool; repeats it where the server asks for that, and
  // once where a connection turned out to have been closed while it was idle. Trouble with the server, but for readers,
  // makes the store ill.
  template <typename T, typename Work>
  Result<T> transact(PostgresPool& pool, Work work) LOCKS_EXCLUDED(health_mutex_);

  // Runs the search to its end; leaves at most `limit` events in it. The page has the cursor alone.
  Result<EventPage> find(PostgresSearch& search, int limit, const std::optional<std::string>& cursor);
  void set_health(const Status& status) LOCKS_EXCLUDED(health_mutex_);
  // The inbox is gone: nothing is read or written until it is back, or a person starts the gateway anew.
  Status lose(const Status& why) LOCKS_EXCLUDED(health_mutex_);
  PostgresInboxId inbox() LOCKS_EXCLUDED(health_mutex_);
  bool is_lost() LOCKS_EXCLUDED(health_mutex_);
  bool check_due() LOCKS_EXCLUDED(health_mutex_);
  // For duplicates and people while nothing can be written though the server is there: a call that finds the store ill
  // waits for no new connection.
  void connect_reader() LOCKS_EXCLUDED(health_mutex_);

  const PostgresTarget target_;
  const PostgresClock clock_;
  const OpenFor use_;
  const PostgresTransaction commit_;
  const PostgresTransaction search_;  // commits while something is held
  const PostgresTransaction write_;
  const PostgresTransaction prune_write_;
  const PostgresTransaction read_;
  const PostgresTransaction brief_;
  const PostgresTransaction copy_write_;
  const PostgresTransaction copy_read_;
  PostgresPool commits_;
  PostgresPool claims_;
  PostgresPool reads_;

  std::atomic<std::int64_t> search_until_{0};  // by steady_now(), in microseconds

  Mutex prune_mutex_;
  PostgresPrune prune_ GUARDED_BY(prune_mutex_);

  CommitWatch watch_;

  Mutex health_mutex_;
  Status health_ GUARDED_BY(health_mutex_) = unavailable("the store is not open");
  bool standby_names_ GUARDED_BY(health_mutex_) = true;  // as of the last opening
  PostgresInboxId inbox_ GUARDED_BY(health_mutex_);
  bool lost_ GUARDED_BY(health_mutex_) = false;
  Duration checked_at_ GUARDED_BY(health_mutex_){};  // the inbox, by steady_now()
};

Status PostgresStore::open() {
  commits_.clear();
  claims_.clear();
  reads_.clear();
  HK_ASSIGN(PostgresPool::Loan loan, commits_.borrow(PostgresPool::Opening::kFresh));
  HK_ASSIGN(const PostgresServerState server, check_server(loan.connection(), target_));
  if (use_ == OpenFor::kCopyingFrom) HK_TRY(check_inbox_exists(loan.connection(), target_));
  const PostgresInboxId known = inbox();
  HK_ASSIGN(const Bytes16 found, prepare_schema(loan.connection(), target_, known));
  if (use_ == OpenFor::kServing) {
    HK_TRY(check_rights(loan.connection(), target_));
    HK_TRY(check_whole(loan.connection()));
  }
  if (use_ == OpenFor::kServing && !known) {
    // One for each kind of work, as long as the store serves: where the server takes fewer, it says so now.
    HK_ASSIGN(PostgresPool::Loan claiming, claims_.borrow(PostgresPool::Opening::kFresh));
    HK_ASSIGN(PostgresPool::Loan reading, reads_.borrow(PostgresPool::Opening::kFresh));
    claiming.keep();
    reading.keep();
  }
  loan.keep();
  MutexLock lock(health_mutex_);
  health_ = {};
  standby_names_ = server.standby_names;
  inbox_ = found;
  lost_ = false;
  checked_at_ = steady_now();
  return {};
}

template <typename T, typename Work>
Result<T> PostgresStore::transact(PostgresPool& pool, Work work) {
  // What is durable can be read while nothing can be written, as long as a connection is left for it; and whatever
  // befalls a reader says nothing about commits.
  const bool reads = &pool == &reads_;
  const Status ill = health();
  if (!ill.ok() && (!reads || is_lost())) return unavailable(ill.message());
  const auto failed = [this, reads](const Status& status) LOCKS_EXCLUDED(health_mutex_) {
    if (!reads) set_health(unavailable(status.message()));
    return status;
  };
  auto opening = ill.ok() ? PostgresPool::Opening::kAllowed : PostgresPool::Opening::kOnlyIdle;
  for (int repeats = 0;; ++repeats) {
    auto borrowed = pool.borrow(opening);
    if (borrowed.code() == Code::kExhausted) return unavailable(borrowed.status().message());
    if (!borrowed.ok()) return failed(unavailable(borrowed.status().message()));
    PostgresPool::Loan& loan = borrowed.value();
    PostgresConnection& connection = loan.connection();
    const bool checks = loan.fresh() || check_due();
    const Status same =
        checks ? check_same_inbox(connection, target_, inbox(), reads ? kDuplicateTimeout : kWriteTimeout) : Status();
    Result<T> result = same.ok() ? work(connection) : Result<T>(same);
    if (result.ok()) {
      loan.keep();
      return result;
    }
    if (connection.rollback()) loan.keep();
    if (same.code() == Code::kNotFound) return lose(same);
    const PostgresTrouble trouble = connection.trouble();
    if (trouble == PostgresTrouble::kRepeat && repeats < kRepeatsMax) continue;
    // Whoever closed an idle connection (a restart, a pooler, a firewall) took nothing with it.
    if (trouble == PostgresTrouble::kLost && result.code() == Code::kUnavailable && !loan.fresh() && ill.ok()) {
      opening = PostgresPool::Opening::kFresh;
      continue;
    }
    const bool bad =
        trouble == PostgresTrouble::kLost || trouble == PostgresTrouble::kServer || result.code() == Code::kUnknown;
    return bad ? failed(result.status()) : result.status();
  }
}

Result<CommitFacts> PostgresStore::commit(std::span<const NewEvent> events, std::span<const Settlement> settlements,
                                          Time now) {
  if (events.size() > PostgresAccept::kBatchMax)
    return internal("more events in one batch than its numbers have room for");
  const bool searches = steady_now().count() < search_until_;
  const PostgresTransaction& transaction = searches ? search_ : commit_;
  const CommitWatch::Running running = watch_.begin();
  auto committed = transact<CommitFacts>(commits_, [&](PostgresConnection& connection) -> Result<CommitFacts> {
    PostgresAccept accept(events, clock_of(now));
    PostgresSettle settle(settlements);
    std::map<PostgresPlace, DeliveryRecord> records;
    connection.begin(transaction);
    const bool has_lines = !accept.lines().empty() || std::any_of(settlements.begin(), settlements.end(), may_leave);
    if (has_lines) lock_lines(connection, accept.lines(), settlements);
    accept.queue_keys(connection);
    if (!settlements.empty()) settle.queue_lock(connection);
    HK_ASSIGN(const auto first, connection.run());
    const std::span<const PostgresResult> results = std::span(first).subspan(has_lines ? 1 : 0);
    accept.read_keys(results.first(accept.key_queries()));
    if (!settlements.empty()) settle.read(results.back(), records);
    if (accept.has_held_keys()) {
      accept.queue_holders(connection);
      HK_ASSIGN(const auto second, connection.run());
      HK_TRY(accept.read_holders(second, records));
    }
    PostgresChanges changes;
    CommitFacts facts;
    facts.accepts = accept.decide(records, changes);
    facts.settles = settle.decide(records, changes, accept.now());
    accept.queue_writes(connection);
    changes.queue(connection);
    settle.queue_replies(connection);
    if (settle.has_leaving()) HK_TRY(settle.leave(connection, accept.now(), facts.settles));
    HK_TRY(connection.run_and_commit().status());
    return facts;
  });
  if (committed.code() == Code::kExhausted) search_until_ = (steady_now() + kSearchFor).count();
  return committed;
}

Result<EventPage> PostgresStore::find(PostgresSearch& search, int limit, const std::optional<std::string>& cursor) {
  HK_ASSIGN(search.before, parse_cursor(cursor));
  // One more than asked for shows whether there is a next page.
  search.wanted = static_cast<std::size_t>(limit) + 1;
  search.stop_at = steady_now() + (search.filter.query.empty() ? list_time.rows : list_time.bodies);
  while (!search.finished) {
    HK_ASSIGN(const PostgresSearch next,
              transact<PostgresSearch>(reads_, [&](PostgresConnection& connection) -> Result<PostgresSearch> {
                PostgresSearch step = search;  // a step that is repeated begins where this one did
                HK_TRY(search_step(connection, read_, step));
                return step;
              }));
    search = next;
  }
  EventPage page;
  if (search.found.size() == search.wanted) {
    search.found.pop_back();
    page.next = format_cursor(search.found.back().seq);
    page.searched_until = search.found.back().summary.received_at;
  } else if (!search.exhausted) {
    page.next = format_cursor(search.before);
    page.searched_until = search.looked_until;
  }
  return page;
}

Result<Replayed> PostgresStore::replay(const ReplayRequest& request, Time now) {
  if (request.ids.size() > static_cast<std::size_t>(kListMax)) return invalid("replay: at most 500 ids at once");
  if (!request.ids.empty()) {
    return transact<Replayed>(claims_, [&](PostgresConnection& connection) {
      return replay_ids(connection, write_, request, clock_of(now));
    });
  }
  PostgresSearch search;
  search.filter = request.filter;
  search.dead_deliveries = request.dead_only;
  HK_ASSIGN(EventPage page, find(search, request.limit, request.cursor));
  HK_ASSIGN(Replayed replayed, transact<Replayed>(claims_, [&](PostgresConnection& connection) {
              return replay_found(connection, write_, request, search.found, clock_of(now));
            }));
  replayed.next = std::move(page.next);
  return replayed;
}

Status PostgresStore::recover(Time) {
  if (health().ok()) return {};
  const Status opened = open();
  if (opened.ok()) return opened;
  if (opened.code() == Code::kNotFound) return lose(opened);
  if (opened.code() == Code::kPrecondition) connect_reader();
  // Whatever it is, a running gateway waits for it to be mended: a replica may be promoted, a password set back.
  const Status later = unavailable(opened.message());
  set_health(later);
  return later;
}

Status PostgresStore::check_whole(PostgresConnection& connection) const {
  HK_ASSIGN(const auto unfinished, read_copy_mark(connection, read_));
  if (!unfinished) return {};
  return precondition(
      fmt::format("{}: a copy of {} that was not finished; repeat `hookonce store copy`, or drop the schema {}",
                  target_.shown, unfinished->from, target_.schema));
}

Result<std::vector<InboxRecord>> PostgresStore::RecordReader::next() {
  return store_.transact<std::vector<InboxRecord>>(
      store_.reads_, [this](PostgresConnection& connection) -> Result<std::vector<InboxRecord>> {
        std::int64_t after = after_;  // a step that is repeated begins where this one did
        HK_ASSIGN(auto records, read_records(connection, store_.copy_read_, after, as_of_));
        after_ = after;
        return records;
      });
}

Status PostgresStore::write(std::span<const InboxRecord> records, const CopyMark& mark) {
  return transact<bool>(commits_,
                        [&](PostgresConnection& connection) -> Result<bool> {
                          HK_TRY(write_records(connection, copy_write_, records, mark));
                          return true;
                        })
      .status();
}

Status PostgresStore::remove_mark() {
  return transact<bool>(commits_,
                        [&](PostgresConnection& connection) -> Result<bool> {
                          HK_TRY(remove_copy_mark(connection, copy_write_));
                          return true;
                        })
      .status();
}

void PostgresStore::set_health(const Status& status) {
  MutexLock lock(health_mutex_);
  if (!lost_) health_ = status;
}

Status PostgresStore::lose(const Status& why) {
  const Status status = unavailable(why.message());
  {
    MutexLock lock(health_mutex_);
    health_ = status;
    if (std::exchange(lost_, true)) return status;
  }
  log_error("store.lost", {{"reason", why.message()}});
  return status;
}

PostgresInboxId PostgresStore::inbox() {
  MutexLock lock(health_mutex_);
  return inbox_;
}

bool PostgresStore::is_lost() {
  MutexLock lock(health_mutex_);
  return lost_;
}

void PostgresStore::connect_reader() {
  auto loan = reads_.borrow(PostgresPool::Opening::kFresh);
  if (loan.ok() && check_same_inbox(loan->connection(), target_, inbox(), kReadTimeout).ok()) loan->keep();
}

bool PostgresStore::check_due() {
  MutexLock lock(health_mutex_);
  if (steady_now() - checked_at_ < kCheckEvery) return false;
  checked_at_ = steady_now();  // Others need not wait for the one that checks.
  return true;
}

}  // namespace

Result<std::unique_ptr<Store>> open_postgres_store(std::string_view url, PostgresClock clock, OpenFor use) {
  HK_ASSIGN(PostgresTarget target, parse_postgres_url(url));
  const std::string shown = target.shown;
  auto store = std::make_unique<PostgresStore>(std::move(target), clock, use);
  HK_TRY(store->open());
  log_info("store.opened", {{"store", shown}});
  return std::unique_ptr<Store>(std::move(store));
}

Status check_postgres_url(std::string_view url) {
  return parse_postgres_url(url).status();
}

std::string shown_postgres_url(std::string_view url) {
  const auto target = parse_postgres_url(url);
  return target.ok() ? target.value().shown : "postgres://";
}

}  // namespace hookonce
