#include "store/sqlite_store.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <filesystem>
#include <optional>
#include <utility>

#include "base/log.h"
#include "base/sync.h"
#include "store/commit_watch.h"
#include "store/event_filter.h"
#include "store/sqlite_accept.h"
#include "store/sqlite_checkpointer.h"
#include "store/sqlite_claim.h"
#include "store/sqlite_copy.h"
#include "store/sqlite_delivery_list.h"
#include "store/sqlite_holder.h"
#include "store/sqlite_keys.h"
#include "store/sqlite_lines.h"
#include "store/sqlite_owner_lock.h"
#include "store/sqlite_pauses.h"
#include "store/sqlite_read.h"
#include "store/sqlite_replay.h"
#include "store/sqlite_replies.h"
#include "store/sqlite_schema.h"
#include "store/sqlite_upkeep.h"

namespace hookonce {

namespace {

// A commit waits this long for a foreign program that holds the write lock (a person with the sqlite3 shell); then
// nothing was done, and the store is ill until the lock is free: duplicates are answered from what can be read, and
// nobody waits for a second as long as this.
constexpr Duration kBusyWait = std::chrono::seconds(1);
// Whether it is free is asked by the one thread that answers everybody.
constexpr Duration kRecoverBusyWait = std::chrono::milliseconds(10);
// At opening, a little more: the truncating checkpoint needs every reader gone.
constexpr Duration kOpenBusyWait = std::chrono::seconds(5);

// Which file lies at a path; none: nothing does.
struct FileIdentity {
  dev_t device = 0;
  ino_t number = 0;
  bool operator==(const FileIdentity&) const = default;
};

std::optional<FileIdentity> identity_of(const std::string& path) {
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0) return std::nullopt;
  return FileIdentity{found.st_dev, found.st_ino};
}

// The files that are open. A path may come to lead elsewhere while they are written on: what goes there is gone when
// they are closed.
struct OpenFiles {
  std::optional<FileIdentity> inbox;
  std::optional<FileIdentity> log;
  bool operator==(const OpenFiles&) const = default;
};

OpenFiles files_at(const std::string& path) {
  return {identity_of(path), identity_of(path + "-wal")};
}

// The writing connection and what is prepared on it.
struct Writer {
  std::unique_ptr<Database> database;
  std::shared_ptr<SqliteHotKeys> hot = std::make_shared<SqliteHotKeys>();
  SqliteNames sources;
  SqliteNames destinations;
  SqliteDeliveries deliveries;
  SqliteKeys keys;
  SqliteLines lines;
  SqliteReplies replies;
  SqlitePauses pauses;
  SqliteSearch search;
  SqliteAccept accept;
  SqliteClaim claim;
  SqliteReplay replay;
  SqliteUpkeep upkeep;
  SqliteRecordWriter records;

  Status prepare() {
    HK_TRY(sources.prepare(*database, SqliteNames::Table::kSources));
    HK_TRY(destinations.prepare(*database, SqliteNames::Table::kDestinations));
    HK_TRY(deliveries.prepare(*database));
    HK_TRY(keys.prepare(*database, *hot));
    HK_TRY(lines.prepare(*database, deliveries));
    HK_TRY(replies.prepare(*database));
    HK_TRY(search.prepare(*database, sources, deliveries, *hot));
    HK_TRY(pauses.prepare(*database, destinations));
    HK_TRY(accept.prepare(*database, sources, destinations, deliveries, keys, lines, replies, pauses));
    HK_TRY(claim.prepare(*database, sources, destinations, deliveries, lines, replies, pauses));
    HK_TRY(replay.prepare(destinations, deliveries, search));
    HK_TRY(upkeep.prepare(*database, deliveries, keys, lines, sources));
    return records.prepare(*database, sources, destinations, deliveries, keys, lines, replies, accept);
  }

  // Within a transaction.
  Result<CommitFacts> commit(std::span<const NewEvent> events, std::span<const Settlement> settlements, Time now) {
    CommitFacts facts;
    facts.accepts.reserve(events.size());
    facts.settles.reserve(settlements.size());
    for (const NewEvent& event : events) {
      HK_ASSIGN(facts.accepts.emplace_back(), accept.accept(event, now));
    }
    for (const Settlement& settlement : settlements) {
      HK_ASSIGN(facts.settles.emplace_back(), claim.settle(settlement, now));
    }
    HK_TRY(keys.move_some());
    return facts;
  }

  // What was kept in memory of a transaction that did not happen.
  void forget(std::int64_t next_seq) {
    sources.forget();
    destinations.forget();
    keys.rolled_back();
    accept.set_next_seq(next_seq);
    upkeep.forget();
  }
};

struct Reader {
  std::unique_ptr<Database> database;
  std::shared_ptr<const SqliteHotKeys> hot;  // the writer's, which a reader may outlive
  SqliteNames sources;
  SqliteNames destinations;
  SqliteDeliveries deliveries;
  SqliteKeyLookup keys;
  SqliteReplies replies;
  SqlitePauses pauses;
  SqliteHolds holds;
  SqliteSearch search;
  SqliteRead read;
  SqliteDeliveryList delivery_list;
  SqliteHolder holder;
  SqliteRecordReader records;

  Status prepare() {
    HK_TRY(sources.prepare(*database, SqliteNames::Table::kSources));
    HK_TRY(destinations.prepare(*database, SqliteNames::Table::kDestinations));
    HK_TRY(deliveries.prepare(*database));
    HK_TRY(keys.prepare(*database, *hot));
    HK_TRY(replies.prepare(*database));
    HK_TRY(search.prepare(*database, sources, deliveries, *hot));
    HK_TRY(pauses.prepare(*database, destinations));
    HK_TRY(holds.prepare(*database, pauses));
    HK_TRY(read.prepare(*database, destinations, deliveries, search, pauses, holds));
    HK_TRY(delivery_list.prepare(*database, destinations, deliveries, search, holds));
    HK_TRY(holder.prepare(*database, sources, deliveries, keys));
    return records.prepare(*database, sources, destinations, deliveries, keys, replies);
  }
};

class SqliteStore final : public Store, private InboxRecords {
 public:
  SqliteStore(OwnerLock lock, OpenFor use) : lock_(std::move(lock)), path_(lock_.real_path()), use_(use) {}
  ~SqliteStore() override;

  enum class Opening { kStart, kRecovery };
  Status open(Time now, Opening opening) LOCKS_EXCLUDED(write_mutex_, read_mutex_);

  Result<CommitFacts> commit(std::span<const NewEvent> events, std::span<const Settlement> settlements,
                             Time now) override {
    return write<CommitFacts>([&](Writer& writer) { return writer.commit(events, settlements, now); });
  }

  bool claims_with_commit() const override { return true; }
  Result<CommitAndClaimFacts> commit_and_claim(std::span<const NewEvent> events,
                                               std::span<const Settlement> settlements, const ClaimRequest& request,
                                               Time now) override {
    return write<CommitAndClaimFacts>([&](Writer& writer) -> Result<CommitAndClaimFacts> {
      CommitAndClaimFacts facts;
      HK_ASSIGN(facts.commit, writer.commit(events, settlements, now));
      HK_ASSIGN(facts.claimed, writer.claim.claim(request, now));
      return facts;
    });
  }

  Result<std::optional<AcceptFacts>> find_duplicate(const NewEvent& event, Time now) override {
    return read<std::optional<AcceptFacts>>([&](Reader& reader) { return reader.holder.find(event, now); });
  }

  Result<Claimed> claim(const ClaimRequest& request, Time now) override {
    return write<Claimed>([&](Writer& writer) { return writer.claim.claim(request, now); });
  }

  Result<bool> set_paused(const std::string& destination, bool paused) override {
    return write<bool>([&](Writer& writer) { return writer.pauses.set(destination, paused); });
  }

  Result<bool> apply_line_rule(const LineRule& rule, Time now) override {
    return write<bool>([&](Writer& writer) -> Result<bool> {
      HK_ASSIGN(const auto destination, writer.destinations.find(rule.destination));
      if (!destination) return false;
      return writer.lines.apply(rule, *destination, now);
    });
  }

  Result<std::int64_t> prune(const PruneRequest& request) override {
    return write<std::int64_t>([&](Writer& writer) { return writer.upkeep.prune(request); }, Sync::kWithNext);
  }

  // On the writing connection, though it only reads: the dispatcher must not wait behind somebody's search.
  Result<std::optional<Time>> next_due(const std::vector<std::string>& destinations, Time now) override
      LOCKS_EXCLUDED(write_mutex_) {
    MutexLock lock(write_mutex_);
    if (!writer_) return closed();
    return writer_->claim.next_due(destinations, now);
  }

  Result<std::optional<ReplyState>> reply(const EventId& id) override {
    return read<std::optional<ReplyState>>([&](Reader& reader) { return reader.replies.state(id); });
  }

  Result<std::optional<EventDetail>> get(const EventId& id) override {
    return read<std::optional<EventDetail>>([&](Reader& reader) { return reader.read.get(id); });
  }

  Result<EventPage> list(const EventFilter& filter, int limit, const std::optional<std::string>& cursor) override {
    Search search;
    search.filter = filter;
    HK_ASSIGN(EventPage page, find(search, limit, cursor));
    for (FoundEvent& event : search.found) page.items.push_back(std::move(event.summary));
    return page;
  }

  Result<DeliveryPage> deliveries(const DeliveryFilter& filter, int limit,
                                  const std::optional<std::string>& cursor) override {
    HK_ASSIGN(DeliveryPlaceInList place, parse_delivery_cursor(cursor));
    DeliveryWalk walk{{filter, static_cast<std::size_t>(limit), std::move(place), {}, {}}};
    walk.stop_at = steady_now() + list_time.rows;
    while (!walk.finished) {
      HK_ASSIGN(const bool done, read<bool>([&walk](Reader& reader) -> Result<bool> {
                  HK_TRY(reader.delivery_list.step(walk));
                  return true;
                }));
      HK_CHECK(done);
    }
    return page_of(std::move(walk.list), walk.exhausted);
  }

  Result<StoreStats> stats(Time) override {
    HK_ASSIGN(StoreStats stats, read<StoreStats>([](Reader& reader) { return reader.read.stats(); }));
    std::error_code error;
    const auto size = std::filesystem::file_size(path_ + "-wal", error);
    if (!error) stats.log_bytes = static_cast<std::int64_t>(size);
    return stats;
  }

  Result<Replayed> replay(const ReplayRequest& request, Time now) override;

  Status health() override LOCKS_EXCLUDED(health_mutex_) {
    HK_TRY(watch_.status());
    const Status in_place = check_files();
    MutexLock lock(health_mutex_);
    if (!in_place.ok() && health_.code() != Code::kPrecondition) health_ = in_place;
    return health_;
  }

  Status recover(Time now) override;
  InboxRecords* records() override { return this; }

 private:
  class RecordReader final : public InboxReader {
   public:
    RecordReader(SqliteStore& store, std::int64_t after, Time as_of) : store_(store), after_(after), as_of_(as_of) {}
    Result<std::vector<InboxRecord>> next() override;

   private:
    SqliteStore& store_;
    std::int64_t after_;
    const Time as_of_;
  };
  Result<std::unique_ptr<InboxReader>> read(std::int64_t after, Time as_of) override {
    return std::unique_ptr<InboxReader>(std::make_unique<RecordReader>(*this, after, as_of));
  }
  Status write(std::span<const InboxRecord> records, const CopyMark& mark) override;
  Result<std::optional<CopyMark>> mark() override {
    return read<std::optional<CopyMark>>([](Reader& reader) { return read_copy_mark(*reader.database); });
  }
  Status remove_mark() override;

  // kWithNext: durable with the next transaction that is synced. What a power cut takes back of it happens again.
  enum class Sync { kNow, kWithNext };
  template <typename T, typename Work>
  Result<T> write(Work work, Sync sync = Sync::kNow) LOCKS_EXCLUDED(write_mutex_);
  template <typename T, typename Work>
  Result<T> read(Work work) LOCKS_EXCLUDED(read_mutex_);

  // Runs the search to its end; leaves at most `limit` events in it. The page has the cursor alone.
  Result<EventPage> find(Search& search, int limit, const std::optional<std::string>& cursor);
  void stop_writing() LOCKS_EXCLUDED(write_mutex_);
  Status ask_for_lock() LOCKS_REQUIRED(write_mutex_);  // REQUIRES: writer_; well again where it is free
  void set_health(const Status& status) LOCKS_EXCLUDED(health_mutex_);
  // kPrecondition where the paths lead to other files than those that are open.
  Status check_files() LOCKS_EXCLUDED(health_mutex_);
  Status closed() LOCKS_EXCLUDED(health_mutex_) { return unavailable(health().message()); }

  const OwnerLock lock_;
  const std::string path_;
  const OpenFor use_;
  SqliteCheckpointer checkpointer_;
  CommitWatch watch_;

  Mutex write_mutex_;
  std::unique_ptr<Writer> writer_ GUARDED_BY(write_mutex_);  // null while the store is ill, but for:
  bool locked_out_ GUARDED_BY(write_mutex_) = false;         // ill only because somebody else holds the write lock

  Mutex read_mutex_;
  std::unique_ptr<Reader> reader_ GUARDED_BY(read_mutex_);

  Mutex health_mutex_;
  Status health_ GUARDED_BY(health_mutex_) = unavailable("the store is not open");
  std::optional<OpenFiles> files_ GUARDED_BY(health_mutex_);  // since the first opening
};

// Frames that a crash or a failed commit left in the log are written and synced anew before anybody relies on them.
Status empty_log(Database& database, SqliteStore::Opening opening) {
  const Status whole = database.checkpoint_whole();
  if (whole.ok() || opening == SqliteStore::Opening::kRecovery || !database.busy()) return whole;
  // Somebody reads an older state (a backup, a shell) and would keep the gateway from starting. The part of the log
  // that can be copied is synced all the same, and the log goes on behind it.
  log_warn("store.log_kept", {{"reason", whole.message()}});
  return database.checkpoint_part();
}

Status check_whole(Database& database) {
  HK_ASSIGN(const auto mark, read_copy_mark(database));
  if (!mark) return {};
  return precondition(
      fmt::format("a copy of {} that was not finished; repeat `hookonce store copy`, or remove the file", mark->from));
}

Status SqliteStore::open(Time now, Opening opening) {
  // A recovery opens what was open, and no other file that lies there now.
  HK_TRY(check_files());
  auto writer = std::make_unique<Writer>();
  // In a recovery a file that is gone is never replaced by an empty one: every key in it would be free again.
  const bool may_be_new = opening == Opening::kStart && use_ != OpenFor::kCopyingFrom;
  const auto mode = may_be_new ? Database::Mode::kCreate : Database::Mode::kExisting;
  HK_ASSIGN(writer->database, Database::open(path_, mode, kOpenBusyWait));
  Database& database = *writer->database;
  if (database.read_only()) return precondition(path_ + ": read-only; mend its permissions or its mount");
  HK_TRY(prepare_schema(database, path_));
  if (use_ == OpenFor::kServing) HK_TRY(check_whole(database));
  HK_TRY(empty_log(database, opening));
  HK_TRY(database.execute(fmt::format("PRAGMA journal_size_limit = {}", kLogBytesMax).c_str()));
  HK_TRY(writer->prepare());
  // At start the owner lock proves that whoever held a lease is dead; in a recovery this process may still be sending.
  if (opening == Opening::kStart && use_ == OpenFor::kServing) {
    Transaction transaction(database);
    HK_TRY(transaction.begin(Transaction::Kind::kWrite));
    HK_TRY(writer->claim.follow_clock(now));
    HK_TRY(writer->claim.end_leases(now));
    HK_TRY(transaction.commit());
  }
  auto reader = std::make_unique<Reader>();
  HK_ASSIGN(reader->database, Database::open(path_, Database::Mode::kExisting, kBusyWait));
  HK_TRY(reader->database->execute("PRAGMA query_only = ON"));
  reader->hot = writer->hot;
  HK_TRY(reader->prepare());

  database.set_busy_wait(kBusyWait);
  checkpointer_.watch(database);
  HK_TRY(checkpointer_.start(path_));
  {
    MutexLock lock(read_mutex_);
    reader_ = std::move(reader);
  }
  {
    MutexLock lock(write_mutex_);
    writer_ = std::move(writer);
    locked_out_ = false;
  }
  MutexLock lock(health_mutex_);
  if (!files_) files_ = files_at(path_);
  health_ = {};
  return {};
}

template <typename T, typename Work>
Result<T> SqliteStore::write(Work work, Sync sync) {
  MutexLock lock(write_mutex_);
  if (!writer_ || locked_out_) return closed();  // nobody waits for the lock again before recover() had it
  const CommitWatch::Running running = watch_.begin();
  Database& database = *writer_->database;
  HK_TRY(database.set_synced(sync == Sync::kNow));
  checkpointer_.restart_if_due(database);

  // The transaction must be over before a connection in trouble is closed, hence the inner scope.
  std::optional<Result<T>> result;
  Status trouble;
  {
    const std::int64_t next_seq = writer_->accept.next_seq();
    Transaction transaction(database);
    const Status begun = transaction.begin(Transaction::Kind::kWrite);
    if (!begun.ok()) {
      if (database.busy()) {
        locked_out_ = true;
        set_health(unavailable(begun.message()));
      } else {
        trouble = begun;
      }
      result.emplace(unavailable(begun.message()));
    } else {
      result.emplace(work(*writer_));
      if (result->ok()) {
        const Status committed = transaction.commit();
        const Status in_place = check_files();
        if (!committed.ok()) {
          trouble = committed;
          result.emplace(committed);
        } else if (!in_place.ok()) {
          trouble = in_place;
          result.emplace(unknown_outcome(in_place.message()));
        } else {
          writer_->keys.committed();
        }
      } else if (result->code() == Code::kUnavailable || result->code() == Code::kPrecondition) {
        trouble = result->status();
        result.emplace(unavailable(trouble.message()));
      }
      if (!result->ok()) writer_->forget(next_seq);
    }
  }
  if (!trouble.ok()) {
    set_health(trouble);
    writer_.reset();
  }
  return *std::move(result);
}

template <typename T, typename Work>
Result<T> SqliteStore::read(Work work) {
  MutexLock lock(read_mutex_);
  if (!reader_) return closed();
  // One moment for all statements; rolled back at the end, as there is nothing to commit.
  Transaction transaction(*reader_->database);
  HK_TRY(transaction.begin(Transaction::Kind::kRead));
  return work(*reader_);
}

Result<EventPage> SqliteStore::find(Search& search, int limit, const std::optional<std::string>& cursor) {
  HK_ASSIGN(search.before, parse_cursor(cursor));
  // One more than asked for shows whether there is a next page.
  search.wanted = static_cast<std::size_t>(limit) + 1;
  search.stop_at = steady_now() + (search.filter.query.empty() ? list_time.rows : list_time.bodies);
  while (!search.finished) {
    HK_ASSIGN(const bool done, read<bool>([&search](Reader& reader) -> Result<bool> {
                HK_TRY(reader.search.step(search));
                return true;
              }));
    HK_CHECK(done);
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

Result<Replayed> SqliteStore::replay(const ReplayRequest& request, Time now) {
  if (request.ids.size() > static_cast<std::size_t>(kListMax)) return invalid("replay: at most 500 ids at once");
  if (!request.ids.empty()) {
    return write<Replayed>([&](Writer& writer) { return writer.replay.by_ids(request, now); });
  }
  // The search is done by the reader, so that commits wait for the changes alone.
  Search search;
  search.filter = request.filter;
  search.dead_deliveries = request.dead_only;
  HK_ASSIGN(EventPage page, find(search, request.limit, request.cursor));
  HK_ASSIGN(Replayed replayed,
            write<Replayed>([&](Writer& writer) { return writer.replay.found(request, search.found, now); }));
  replayed.next = std::move(page.next);
  return replayed;
}

Status SqliteStore::recover(Time now) {
  const Status ill = health();
  if (ill.ok()) return {};
  if (ill.code() == Code::kPrecondition) return ill;  // Damaged, or no longer ours: opening again mends nothing.
  {
    MutexLock lock(write_mutex_);
    if (writer_ && locked_out_) return ask_for_lock();
  }
  // The reader goes on meanwhile: what is durable can be looked at, and duplicates of it can be answered.
  stop_writing();
  const Status opened = open(now, Opening::kRecovery);
  if (!opened.ok()) set_health(opened);
  return opened;
}

Result<std::vector<InboxRecord>> SqliteStore::RecordReader::next() {
  HK_ASSIGN(auto records, store_.read<std::vector<InboxRecord>>(
                              [this](Reader& reader) { return reader.records.page(after_, as_of_); }));
  if (!records.empty()) after_ = records.back().position;
  return records;
}

Status SqliteStore::write(std::span<const InboxRecord> records, const CopyMark& mark) {
  return write<bool>([&](Writer& writer) -> Result<bool> {
           for (const InboxRecord& record : records) HK_TRY(writer.records.write(record));
           HK_TRY(write_copy_mark(*writer.database, mark));
           HK_TRY(writer.keys.move_some());
           return true;
         })
      .status();
}

Status SqliteStore::remove_mark() {
  return write<bool>([](Writer& writer) -> Result<bool> {
           HK_TRY(remove_copy_mark(*writer.database));
           return true;
         })
      .status();
}

SqliteStore::~SqliteStore() {
  std::unique_ptr<Writer> writer;
  {
    MutexLock lock(write_mutex_);
    writer = std::move(writer_);
  }
  stop_writing();
  {
    MutexLock lock(read_mutex_);
    reader_.reset();
  }
  // So that the file alone is the inbox while no gateway runs. Where this fails, the next opening does it.
  if (writer) (void)writer->database->checkpoint_whole();
}

void SqliteStore::stop_writing() {
  {
    MutexLock lock(write_mutex_);
    writer_.reset();
  }
  checkpointer_.stop();
}

Status SqliteStore::ask_for_lock() {
  Database& database = *writer_->database;
  database.set_busy_wait(kRecoverBusyWait);
  const Status begun = Transaction(database).begin(Transaction::Kind::kWrite);
  database.set_busy_wait(kBusyWait);
  if (!begun.ok()) return unavailable(begun.message());
  locked_out_ = false;
  set_health({});
  return {};
}

Status SqliteStore::check_files() {
  MutexLock lock(health_mutex_);
  if (!files_) return {};
  if (!lock_.is_in_place()) {
    return precondition(path_ +
                        ".lock: removed under the running gateway, so that another one may use the inbox; leave "
                        "it where it is, and start the gateway again");
  }
  if (*files_ == files_at(path_)) return {};
  return precondition(
      path_ +
      ": removed or replaced under the running gateway; put back the inbox that was there, its -wal file "
      "too, or start the gateway again with what is there now");
}

void SqliteStore::set_health(const Status& status) {
  MutexLock lock(health_mutex_);
  health_ = status;
}

}  // namespace

Result<std::unique_ptr<Store>> open_sqlite_store(const std::string& path, Time now, OpenFor use) {
  // A store to copy from is never made, nor a lock file beside it.
  std::error_code error;
  if (use == OpenFor::kCopyingFrom && !std::filesystem::exists(path, error)) {
    return precondition(path + ": no such file");
  }
  HK_ASSIGN(OwnerLock lock, OwnerLock::take(path));
  const std::string real_path = lock.real_path();
  auto store = std::make_unique<SqliteStore>(std::move(lock), use);
  const Status opened = store->open(now, SqliteStore::Opening::kStart);
  if (!opened.ok()) return opened.with_context(path);
  // Whole, because the path in the configuration may be relative: who starts in another folder finds another inbox.
  log_info("store.opened", {{"file", real_path}});
  return std::unique_ptr<Store>(std::move(store));
}

}  // namespace hookonce
