#include "store/sqlite_rejected.h"

#include <unistd.h>

#include <utility>

#include "base/log.h"
#include "base/sync.h"
#include "store/event_filter.h"
#include "store/rejected_record.h"
#include "store/sqlite_database.h"

namespace hookonce {

namespace {

constexpr Duration kBusyWait = std::chrono::seconds(2);  // a person with another program; nothing hurries here

constexpr const char* kTables = R"sql(
  CREATE TABLE IF NOT EXISTS rejected (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id BLOB NOT NULL UNIQUE,
    digest BLOB NOT NULL UNIQUE,
    source BLOB NOT NULL,
    last_at INTEGER NOT NULL,
    count INTEGER NOT NULL,
    size INTEGER NOT NULL,
    request BLOB NOT NULL
  );
  CREATE INDEX IF NOT EXISTS rejected_by_source ON rejected (source, seq, size))sql";

// All but the newest that the limits leave room for.
constexpr const char* kTrim =
    "DELETE FROM rejected WHERE seq IN (SELECT seq FROM (SELECT seq, row_number() OVER newest AS place, sum(size) OVER "
    "newest AS bytes FROM rejected WHERE source = ?1 WINDOW newest AS (ORDER BY seq DESC)) WHERE place > ?2 OR bytes > "
    "?3)";

class SqliteRejected final : public RejectedStore {
 public:
  explicit SqliteRejected(std::unique_ptr<Database> database) : database_(std::move(database)) {}

  Status prepare() {
    MutexLock lock(mutex_);
    HK_TRY(database_->execute(kTables));
    HK_TRY(database_->set_synced(false));  // a power loss may take the newest ones
    return prepare_all(
        *database_,
        {{&count_, "UPDATE rejected SET count = count + ?, last_at = max(last_at, ?) WHERE digest = ?"},
         {&insert_,
          "INSERT INTO rejected (id, digest, source, last_at, count, size, request) VALUES (?, ?, ?, ?, ?, ?, ?)"},
         {&trim_, kTrim},
         {&list_,
          "SELECT seq, last_at, count, size, request FROM rejected WHERE seq < ?1 AND (?2 IS NULL OR source = ?2) "
          "ORDER "
          "BY seq DESC LIMIT ?3"},
         {&get_, "SELECT seq, last_at, count, size, request FROM rejected WHERE id = ?"},
         {&remove_, "DELETE FROM rejected WHERE id = ?"}});
  }

  Status keep(std::span<const RejectedRequest> requests, const RejectedLimits& limits) override {
    MutexLock lock(mutex_);
    Transaction transaction(*database_);
    HK_TRY(transaction.begin(Transaction::Kind::kWrite));
    for (const RejectedRequest& request : requests) HK_TRY(keep_one(request));
    for (const RejectedRequest& request : requests) {
      Query trim(trim_);
      trim.bind_blob(request.source).bind_integer(limits.requests).bind_integer(limits.bytes);
      HK_TRY(trim.run());
    }
    return transaction.commit();
  }

  Result<RejectedPage> list(const std::optional<std::string>& source, int limit,
                            const std::optional<std::string>& cursor) override {
    HK_ASSIGN(const std::int64_t below, parse_cursor(cursor));
    MutexLock lock(mutex_);
    Query query(list_);
    query.bind_integer(below).bind_blob(source).bind_integer(std::int64_t{limit} + 1);
    RejectedPage page;
    std::int64_t bytes = 0;
    std::int64_t last = 0;
    for (;;) {
      HK_ASSIGN(const bool found, query.row());
      if (!found) return page;
      bytes += query.integer(3);
      const bool full =
          page.items.size() == static_cast<std::size_t>(limit) || (!page.items.empty() && bytes > kRejectedPageBytes);
      if (full) {
        page.next = format_cursor(last);
        return page;
      }
      HK_ASSIGN(RejectedRequest request, read(query));
      page.items.push_back(std::move(request));
      last = query.integer(0);
    }
  }

  Result<std::optional<RejectedRequest>> get(const EventId& id) override {
    MutexLock lock(mutex_);
    Query query(get_);
    query.bind_blob(id.bytes());
    HK_ASSIGN(const bool found, query.row());
    if (!found) return std::optional<RejectedRequest>();
    HK_ASSIGN(RejectedRequest request, read(query));
    return std::optional(std::move(request));
  }

  Result<bool> remove(const EventId& id) override {
    MutexLock lock(mutex_);
    Query query(remove_);
    query.bind_blob(id.bytes());
    HK_TRY(query.run());
    return database_->changes() > 0;
  }

 private:
  Status keep_one(const RejectedRequest& request) LOCKS_REQUIRED(mutex_) {
    const KeyHash digest = digest_of(request);
    {
      Query count(count_);
      count.bind_integer(request.count).bind_time(request.last_at).bind_blob(digest);
      HK_TRY(count.run());
    }
    if (database_->changes() > 0) return {};
    const std::string bytes = encode_rejected(request);
    Query insert(insert_);
    insert.bind_blob(request.id.bytes()).bind_blob(digest).bind_blob(request.source).bind_time(request.last_at);
    insert.bind_integer(request.count).bind_integer(request.size()).bind_blob(bytes);
    return insert.run();
  }

  static Result<RejectedRequest> read(const Query& query) {
    HK_ASSIGN(RejectedRequest request, decode_rejected(query.blob(4)));
    request.last_at = query.time(1);
    request.count = query.integer(2);
    return request;
  }

  Mutex mutex_;
  const std::unique_ptr<Database> database_;
  Statement count_ GUARDED_BY(mutex_);
  Statement insert_ GUARDED_BY(mutex_);
  Statement trim_ GUARDED_BY(mutex_);
  Statement list_ GUARDED_BY(mutex_);
  Statement get_ GUARDED_BY(mutex_);
  Statement remove_ GUARDED_BY(mutex_);
};

Result<std::unique_ptr<RejectedStore>> open_file(const std::string& path) {
  HK_ASSIGN(auto database, Database::open(path, Database::Mode::kCreate, kBusyWait));
  auto store = std::make_unique<SqliteRejected>(std::move(database));
  HK_TRY(store->prepare());
  return std::unique_ptr<RejectedStore>(std::move(store));
}

}  // namespace

Result<std::unique_ptr<RejectedStore>> open_sqlite_rejected(const std::string& inbox) {
  const std::string path = inbox + "-rejected";
  auto opened = open_file(path);
  if (opened.ok() || opened.code() == Code::kUnavailable) return opened;
  // Whatever is in the way there, it is worth less than seeing what is rejected from now on.
  log_warn("rejected.replaced", {{"file", path}, {"reason", opened.status().message()}});
  for (const char* ending : {"", "-wal", "-shm"}) ::unlink((path + ending).c_str());
  return open_file(path);
}

}  // namespace hookonce
