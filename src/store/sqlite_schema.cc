#include "store/sqlite_schema.h"

#include <fmt/format.h>

#include <iterator>

namespace hookonce {

namespace {

constexpr std::int64_t kApplicationId = 0x486b6f6e;  // "Hkon", in the file's header

// Migration 1. Everything that came from outside is a BLOB: a NUL or a lone surrogate must not refuse an event. Times
// are microseconds since 1970. `seq` is the order of acceptance. The state numbers are those of the enums in
// core/model.h.
constexpr const char* kFirstTables = R"sql(
CREATE TABLE sources (id INTEGER PRIMARY KEY, name BLOB NOT NULL UNIQUE) STRICT;
CREATE TABLE destinations (id INTEGER PRIMARY KEY, name BLOB NOT NULL UNIQUE) STRICT;

-- One row per event, with its first arrival. Narrow, because lists and searches walk it.
CREATE TABLE events (
  seq INTEGER PRIMARY KEY,
  id BLOB NOT NULL UNIQUE CHECK (length(id) = 16),
  source INTEGER NOT NULL,
  type BLOB NOT NULL,
  key BLOB,
  ordering_key BLOB,
  received_at INTEGER NOT NULL,
  keys_until INTEGER NOT NULL,
  size INTEGER NOT NULL CHECK (size >= 0),
  duplicates INTEGER NOT NULL DEFAULT 0 CHECK (duplicates >= 0),
  forwarded_trusted INTEGER NOT NULL CHECK (forwarded_trusted IN (0, 1)),
  arrived_at INTEGER NOT NULL,
  remote BLOB NOT NULL,
  retry_number INTEGER,
  retry_reason BLOB,
  provider_time INTEGER,
  secret INTEGER NOT NULL,
  body_hash BLOB NOT NULL CHECK (length(body_hash) = 16),
  CHECK ((retry_number IS NULL) = (retry_reason IS NULL))
) STRICT;

-- Headers and body apart: settling, counting and listing touch none of them.
CREATE TABLE contents (seq INTEGER PRIMARY KEY, headers BLOB NOT NULL, body BLOB NOT NULL) STRICT;

-- Who holds a dedup key. Expiry is the predicate of the insert; `older` is the holder before, handed out by that insert.
CREATE TABLE dedup (
  source INTEGER NOT NULL,
  key BLOB NOT NULL CHECK (length(key) = 16),
  seq INTEGER NOT NULL,
  older INTEGER,
  expires_at INTEGER NOT NULL,
  PRIMARY KEY (source, key)
) STRICT, WITHOUT ROWID;

-- The keys that an event took, in the order of its sequence number: appended, unlike an index by key. Holders of one key are linked both
-- ways, so that every event of a key is found from its dedup row, and a pruned one can be taken out of the chain.
CREATE TABLE event_keys (
  seq INTEGER NOT NULL,
  key BLOB NOT NULL CHECK (length(key) = 16),
  older INTEGER,
  newer INTEGER,
  PRIMARY KEY (seq, key)
) STRICT, WITHOUT ROWID;

-- What a duplicate is told of an event that was pruned before its keys' window was over.
CREATE TABLE pruned (
  seq INTEGER PRIMARY KEY,
  id BLOB NOT NULL CHECK (length(id) = 16),
  source INTEGER NOT NULL,
  received_at INTEGER NOT NULL,
  keys_until INTEGER NOT NULL,
  body_hash BLOB NOT NULL CHECK (length(body_hash) = 16)
) STRICT;
CREATE INDEX pruned_by_end ON pruned (keys_until);

-- Duplicates only; the first arrival is in events.
CREATE TABLE arrivals (
  seq INTEGER NOT NULL,
  number INTEGER NOT NULL CHECK (number BETWEEN 2 AND 100),
  arrived_at INTEGER NOT NULL,
  remote BLOB NOT NULL,
  retry_number INTEGER,
  retry_reason BLOB,
  provider_time INTEGER,
  secret INTEGER NOT NULL,
  body_hash BLOB NOT NULL CHECK (length(body_hash) = 16),
  verdict INTEGER NOT NULL CHECK (verdict IN (1, 2)),
  same_body INTEGER NOT NULL CHECK (same_body IN (0, 1)),
  PRIMARY KEY (seq, number),
  CHECK ((retry_number IS NULL) = (retry_reason IS NULL))
) STRICT, WITHOUT ROWID;

-- due_at: while pending, when it is due; while in flight, when its lease is over; else without meaning.
CREATE TABLE deliveries (
  seq INTEGER NOT NULL,
  destination INTEGER NOT NULL,
  state INTEGER NOT NULL CHECK (state BETWEEN 0 AND 3),
  due_at INTEGER NOT NULL,
  attempt INTEGER NOT NULL CHECK (attempt >= 0),
  counted INTEGER NOT NULL CHECK (counted BETWEEN 0 AND attempt),
  armed_at INTEGER NOT NULL,
  claimed_at INTEGER NOT NULL,
  unsettled INTEGER NOT NULL CHECK (unsettled IN (0, 1)),
  delivered_at INTEGER,
  ended_at INTEGER NOT NULL,
  replay INTEGER NOT NULL CHECK (replay IN (0, 1)),
  new_key INTEGER NOT NULL CHECK (new_key BETWEEN 0 AND new_keys),
  new_keys INTEGER NOT NULL,
  PRIMARY KEY (seq, destination),
  CHECK (state <> 1 OR (unsettled = 1 AND attempt > 0)),
  CHECK (state <> 2 OR delivered_at IS NOT NULL)
) STRICT, WITHOUT ROWID;
CREATE INDEX deliveries_open ON deliveries (destination, due_at, seq, state) WHERE state IN (0, 1);
CREATE INDEX deliveries_dead ON deliveries (seq) WHERE state = 3;

-- Attempts that have ended, and those whose lease ran out; the one in flight is in its delivery's row.
CREATE TABLE attempts (
  seq INTEGER NOT NULL,
  destination INTEGER NOT NULL,
  number INTEGER NOT NULL CHECK (number > 0),
  started_at INTEGER NOT NULL,
  duration INTEGER,
  outcome INTEGER NOT NULL CHECK (outcome BETWEEN 0 AND 3),
  status INTEGER NOT NULL,
  error BLOB NOT NULL CHECK (length(error) <= 1024),
  response BLOB NOT NULL CHECK (length(response) <= 1024),
  PRIMARY KEY (seq, destination, number)
) STRICT, WITHOUT ROWID;
)sql";

// Migration 2: keys are decided in memory and moved into dedup later (sqlite_keys.h). Whatever an older program stored
// is in dedup already, so its rows are never read for that, and their new columns mean nothing.
constexpr const char* kKeysInMemory = R"sql(
ALTER TABLE event_keys ADD COLUMN source INTEGER NOT NULL DEFAULT 0;
ALTER TABLE event_keys ADD COLUMN expires_at INTEGER NOT NULL DEFAULT 0;
ALTER TABLE dedup DROP COLUMN older;
CREATE TABLE dedup_moved (moved_to INTEGER NOT NULL) STRICT;
INSERT INTO dedup_moved SELECT coalesce(max(seq), 0) FROM event_keys;
)sql";

// Migration 3: deliveries to ordered destinations that have not left their line.
constexpr const char* kLines = R"sql(
CREATE TABLE lines (
  destination INTEGER NOT NULL,
  source INTEGER NOT NULL,
  ordering_key BLOB NOT NULL,
  seq INTEGER NOT NULL,
  PRIMARY KEY (destination, source, ordering_key, seq)
) STRICT, WITHOUT ROWID;
)sql";

// Migration 4: what the destinations of synchronous sources answered.
constexpr const char* kReplies = R"sql(
CREATE TABLE replies (
  seq INTEGER PRIMARY KEY,
  status INTEGER NOT NULL,
  content_type BLOB NOT NULL,
  body BLOB NOT NULL CHECK (length(body) <= 65536)
) STRICT;
)sql";

// Migration 5: what tells one request from another, and keys of one event apart. Of older arrivals nothing is known.
constexpr const char* kSignatures = R"sql(
ALTER TABLE events ADD COLUMN signature_hash BLOB NOT NULL DEFAULT x'00000000000000000000000000000000'
  CHECK (length(signature_hash) = 16);
ALTER TABLE arrivals ADD COLUMN signature_hash BLOB NOT NULL DEFAULT x'00000000000000000000000000000000'
  CHECK (length(signature_hash) = 16);
ALTER TABLE arrivals ADD COLUMN same_key INTEGER NOT NULL DEFAULT 1 CHECK (same_key IN (0, 1));
)sql";

// Migration 6: destinations that a person has paused.
constexpr const char* kPauses = "CREATE TABLE pauses (destination INTEGER PRIMARY KEY) STRICT;";

// Migration 7: which items of a batch were new, beside its body; answers are kept at a length for which the old table's
// check has no room. A check can't be changed in place, so the rows move into a new table.
constexpr const char* kBatches = R"sql(
ALTER TABLE contents ADD COLUMN new_items BLOB NOT NULL DEFAULT x'';
ALTER TABLE attempts RENAME TO short_attempts;
CREATE TABLE attempts (
  seq INTEGER NOT NULL,
  destination INTEGER NOT NULL,
  number INTEGER NOT NULL CHECK (number > 0),
  started_at INTEGER NOT NULL,
  duration INTEGER,
  outcome INTEGER NOT NULL CHECK (outcome BETWEEN 0 AND 3),
  status INTEGER NOT NULL,
  error BLOB NOT NULL CHECK (length(error) <= 1024),
  response BLOB NOT NULL CHECK (length(response) <= 4096),
  PRIMARY KEY (seq, destination, number)
) STRICT, WITHOUT ROWID;
INSERT INTO attempts SELECT * FROM short_attempts;
DROP TABLE short_attempts;
)sql";

// Migration 8: open deliveries in the order of lists. It holds what is open alone, so the newest entries, which accepts
// and deliveries write, lie together; beside them it costs them a few hundredths.
constexpr const char* kOpenInOrder =
    "CREATE INDEX deliveries_open_in_order ON deliveries (seq, destination, state) WHERE state IN (0, 1);";

constexpr const char* kMigrations[] = {kFirstTables, kKeysInMemory, kLines,   kReplies,
                                       kSignatures,  kPauses,       kBatches, kOpenInOrder};
constexpr std::int64_t kNewest = static_cast<std::int64_t>(std::size(kMigrations));

Status not_ours(const std::string& path) {
  return precondition(fmt::format("{}: a SQLite file, but not an inbox of hookonce; name another file", path));
}

Status too_new(const std::string& path, std::int64_t version) {
  return precondition(fmt::format("{}: its tables are version {}, this program knows up to {}; use a newer hookonce",
                                  path, version, kNewest));
}

// Of a file that nothing was written to yet, also one that another program has only just created.
Result<bool> is_empty(Database& database) {
  HK_ASSIGN(const std::int64_t application, database.integer("PRAGMA application_id"));
  HK_ASSIGN(const std::int64_t version, database.integer("PRAGMA user_version"));
  HK_ASSIGN(const std::int64_t tables, database.integer("SELECT count(*) FROM sqlite_schema"));
  return application == 0 && version == 0 && tables == 0;
}

Status use_write_ahead_log(Database& database, const std::string& path) {
  HK_ASSIGN(Statement statement, database.prepare("PRAGMA journal_mode = WAL"));
  Query query(statement);
  HK_ASSIGN(const bool answered, query.row());
  if (answered && query.blob(0) == "wal") return {};
  return precondition(fmt::format("{}: this file system cannot hold a write-ahead log; use a local disk", path));
}

}  // namespace

Status prepare_schema(Database& database, const std::string& path) {
  HK_ASSIGN(const bool empty, is_empty(database));
  if (!empty) HK_TRY(check_schema(database, path));  // before anything of a stranger's file is changed
  // The page size takes effect on a new file alone. 4096 writes the least per event of all sizes.
  if (empty) HK_TRY(database.execute("PRAGMA page_size = 4096"));
  HK_TRY(use_write_ahead_log(database, path));

  Transaction transaction(database);
  HK_TRY(transaction.begin(Transaction::Kind::kWrite));
  HK_ASSIGN(const std::int64_t version, database.integer("PRAGMA user_version"));
  if (version == kNewest) return {};
  for (std::int64_t next = version; next < kNewest; ++next) HK_TRY(database.execute(kMigrations[next]));
  const std::string marks =
      fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {};", kApplicationId, kNewest);
  HK_TRY(database.execute(marks.c_str()));
  return transaction.commit();
}

Status check_schema(Database& database, const std::string& path) {
  HK_ASSIGN(const std::int64_t application, database.integer("PRAGMA application_id"));
  if (application != kApplicationId) return not_ours(path);
  HK_ASSIGN(const std::int64_t version, database.integer("PRAGMA user_version"));
  return version > kNewest ? too_new(path, version) : Status();
}

}  // namespace hookonce
