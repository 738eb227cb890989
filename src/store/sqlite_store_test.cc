// What only the SQLite inbox promises: survival of crashes, one owner, and plain words for files that it cannot use.
// The test plays the person with the sqlite3 shell through sqlite_database.h.
#include "store/sqlite_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "core/config.h"
#include "store/open.h"
#include "store/sqlite_database.h"
#include "store/sqlite_schema.h"
#include "test/support/asserts.h"
#include "test/support/event_builder.h"
#include "test/support/temp_folder.h"

namespace hookonce {
namespace {

namespace fs = std::filesystem;
using std::chrono::hours;
using std::chrono::seconds;
using ::testing::HasSubstr;

struct SqliteStoreTest : testing::Test {
  Result<std::unique_ptr<Store>> open(Time now = kTestStart) { return open_sqlite_store(path, now); }
  std::unique_ptr<Store> open_ok(Time now = kTestStart) {
    auto store = open(now);
    EXPECT_TRUE(store.ok()) << store.status().message();
    return store.ok() ? *std::move(store) : nullptr;
  }
  std::unique_ptr<Database> shell(const std::string& file) {
    auto database = Database::open(file, Database::Mode::kCreate, Duration::zero());
    EXPECT_TRUE(database.ok()) << database.status().message();
    return database.ok() ? *std::move(database) : nullptr;
  }
  void write_file(const std::string& text) { std::ofstream(path, std::ios::binary) << text; }

  TempFolder folder;
  std::string path = folder.file("inbox.db");
};

ClaimRequest one_slot() {
  return {{{"backend", 1, seconds(30), 20, hours(72)}}};
}

// Runs `work` in a process that then ends without a word, as kill -9 would.
template <typename Work>
int in_dying_process(Work work) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(work());
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST_F(SqliteStoreTest, WhatWasCommittedSurvivesAProcessThatDies) {
  const EventId id = EventId::make(kTestStart);
  const int exit = in_dying_process([&] {
    auto store = open();
    if (!store.ok()) return 1;
    auto facts = store.value()->commit(events_of(NewEventBuilder().id(id).key("k").build()), {}, kTestStart);
    return facts.ok() ? 0 : 2;
  });
  ASSERT_EQ(exit, 0);
  const auto store = open_ok();
  EXPECT_TRUE(store->get(id).value().has_value());
  const auto again = store->commit(events_of(NewEventBuilder().key("k").build()), {}, kTestStart);
  EXPECT_EQ(again.value().accepts[0].verdict, Verdict::kDuplicate);
  EXPECT_EQ(again.value().accepts[0].id, id);
}

TEST_F(SqliteStoreTest, FileAndLogOfARunningStoreAreAWholeInbox) {
  const auto store = open_ok();
  EventId id;
  for (int i = 0; i < 50; ++i) {
    id = store->commit(events_of(NewEventBuilder().key(std::to_string(i)).build()), {}, kTestStart)
             .value()
             .accepts[0]
             .id;
  }
  const std::string copy = folder.file("copy.db");
  fs::copy_file(path, copy);
  fs::copy_file(path + "-wal", copy + "-wal");
  const auto other = open_sqlite_store(copy, kTestStart);
  ASSERT_OK(other);
  EXPECT_TRUE(other.value()->get(id).value().has_value());
  EXPECT_EQ(other.value()->stats(kTestStart)->pending, 50);
}

TEST_F(SqliteStoreTest, ATornEndOfTheLogIsDropped) {
  std::string copy = folder.file("copy.db");
  {
    const auto store = open_ok();
    ASSERT_OK(store->commit(events_of(NewEventBuilder().key("a").build()), {}, kTestStart));
    ASSERT_OK(store->commit(events_of(NewEventBuilder().key("b").build()), {}, kTestStart));
    fs::copy_file(path, copy);
    fs::copy_file(path + "-wal", copy + "-wal");
  }
  fs::resize_file(copy + "-wal", fs::file_size(copy + "-wal") - 100);
  const auto store = open_sqlite_store(copy, kTestStart);
  ASSERT_OK(store);
  EXPECT_EQ(store.value()->list({}, 10, std::nullopt)->items.size(), 1u);
  EXPECT_EQ(store.value()->commit(events_of(NewEventBuilder().key("b").build()), {}, kTestStart)->accepts[0].verdict,
            Verdict::kAccepted);
}

TEST_F(SqliteStoreTest, WhatWasInFlightIsDueAtOnceAfterACrash) {
  const EventId id = EventId::make(kTestStart);
  const int exit = in_dying_process([&] {
    auto store = open();
    if (!store.ok()) return 1;
    if (!store.value()->commit(events_of(NewEventBuilder().id(id).build()), {}, kTestStart).ok()) return 2;
    return store.value()->claim(one_slot(), kTestStart)->leases.size() == 1 ? 0 : 3;
  });
  ASSERT_EQ(exit, 0);
  const Time now = kTestStart + seconds(1);
  const auto store = open_ok(now);
  EXPECT_EQ(store->next_due({"backend"}, now).value(), now);
  const auto claimed = store->claim(one_slot(), now);
  ASSERT_EQ(claimed.value().leases.size(), 1u);
  EXPECT_EQ(claimed.value().leases[0].attempt, 2);
  EXPECT_EQ(store->get(id).value()->deliveries[0].attempts[0].outcome, Outcome::kUnknown);
}

TEST_F(SqliteStoreTest, OrderOfAcceptanceGoesOnAfterAReopening) {
  std::vector<EventId> ids;
  for (int i = 0; i < 3; ++i) {
    const auto store = open_ok();
    ids.insert(ids.begin(), store->commit(events_of(NewEventBuilder().build()), {}, kTestStart)->accepts[0].id);
  }
  const auto store = open_ok();
  const auto page = store->list({}, 10, std::nullopt);
  ASSERT_OK(page);
  std::vector<EventId> listed;
  for (const EventSummary& item : page.value().items) listed.push_back(item.id);
  EXPECT_EQ(listed, ids);
}

TEST_F(SqliteStoreTest, NobodyElseMayReadTheFiles) {
  const auto store = open_ok();
  ASSERT_OK(store->commit(events_of(NewEventBuilder().build()), {}, kTestStart));
  for (const char* suffix : {"", "-wal", "-shm", ".lock"}) {
    EXPECT_EQ(fs::status(path + suffix).permissions(), fs::perms::owner_read | fs::perms::owner_write) << suffix;
  }
}

TEST_F(SqliteStoreTest, ASecondGatewayIsRefusedAndToldTheLockFile) {
  const auto first = open_ok();
  const auto second = open();
  EXPECT_EQ(second.code(), Code::kPrecondition);
  EXPECT_NE(second.status().message().find(path + ".lock"), std::string::npos) << second.status().message();
  EXPECT_EQ(in_dying_process([&] { return open().code() == Code::kPrecondition ? 0 : 1; }), 0);
  EXPECT_OK(first->commit(events_of(NewEventBuilder().build()), {}, kTestStart));
}

TEST_F(SqliteStoreTest, ALinkToAnOwnedInboxIsThatInbox) {
  const auto first = open_ok();
  fs::create_symlink(path, folder.file("link.db"));
  EXPECT_EQ(open_sqlite_store(folder.file("link.db"), kTestStart).code(), Code::kPrecondition);
}

TEST_F(SqliteStoreTest, AFileThatIsNotSqliteIsNamedAndLeftAlone) {
  const std::string text(5000, 'x');
  write_file(text);
  const auto store = open();
  EXPECT_EQ(store.code(), Code::kPrecondition);
  EXPECT_NE(store.status().message().find(path), std::string::npos);
  std::ifstream file(path, std::ios::binary);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), text);
}

TEST_F(SqliteStoreTest, AForeignSqliteFileIsNamedAndLeftAlone) {
  ASSERT_OK(shell(path)->execute("CREATE TABLE users (name TEXT)"));
  const auto store = open();
  EXPECT_EQ(store.code(), Code::kPrecondition);
  EXPECT_NE(store.status().message().find("not an inbox"), std::string::npos) << store.status().message();
  EXPECT_EQ(shell(path)->integer("SELECT count(*) FROM sqlite_schema").value(), 1);
}

TEST_F(SqliteStoreTest, ANewerSchemaIsRefused) {
  open_ok();
  ASSERT_OK(shell(path)->execute("PRAGMA user_version = 99"));
  const auto store = open();
  EXPECT_EQ(store.code(), Code::kPrecondition);
  EXPECT_NE(store.status().message().find("99"), std::string::npos);
}

TEST_F(SqliteStoreTest, AMissingFolderAndAFolderItselfAreNamed) {
  EXPECT_EQ(open_sqlite_store(folder.file("no/such/inbox.db"), kTestStart).code(), Code::kPrecondition);
  fs::create_directory(path);
  EXPECT_EQ(open().code(), Code::kPrecondition);
}

TEST_F(SqliteStoreTest, AnUnwritableFolderIsNamed) {
  fs::permissions(folder.file(""), fs::perms(0555));
  const int exit = in_dying_process([&] {
    constexpr uid_t kNobody = 65534;  // permissions do not bind root
    if (::geteuid() == 0 && ::setuid(kNobody) != 0) return 1;
    return open().code() == Code::kPrecondition ? 0 : 2;
  });
  fs::permissions(folder.file(""), fs::perms::owner_all);
  EXPECT_EQ(exit, 0);
}

TEST_F(SqliteStoreTest, WhatIsWrittenToAFileThatIsNoLongerThereIsNotDone) {
  for (const std::string suffix : {"", "-wal", ".lock"}) {
    const auto store = open_ok();
    ASSERT_OK(store->commit(events_of(NewEventBuilder().build()), {}, kTestStart));
    fs::rename(path + suffix, path + ".moved");
    EXPECT_EQ(store->health().code(), Code::kPrecondition) << suffix;
    const auto facts = store->commit(events_of(NewEventBuilder().build()), {}, kTestStart);
    EXPECT_FALSE(facts.ok()) << suffix;
    EXPECT_THAT(store->health().message(), HasSubstr("under the running gateway"));
    EXPECT_EQ(store->recover(kTestStart).code(), Code::kPrecondition) << "another file is never taken for it";
    fs::rename(path + ".moved", path + suffix);
  }
}

TEST_F(SqliteStoreTest, RetriesPlannedByAClockThatWasSetBackComeAsMuchEarlier) {
  {
    const auto store = open_ok(kTestStart);
    ASSERT_OK(store->commit(events_of(NewEventBuilder().build()), {}, kTestStart));
    const auto claimed = store->claim(one_slot(), kTestStart);
    ASSERT_EQ(claimed->leases.size(), 1u);
    Settlement retry = release(claimed->leases[0]);
    retry.next = Next::kRetry;
    retry.delay = seconds(60);
    ASSERT_OK(store->commit({}, std::vector<Settlement>{retry}, kTestStart));
  }
  const Time before = kTestStart - hours(2);
  const auto store = open_ok(before);
  EXPECT_EQ(store->next_due({"backend"}, before).value(), before + seconds(60));
}

TEST_F(SqliteStoreTest, AForeignWriterIsWaitedForAndThenNothingWasDone) {
  const auto store = open_ok();
  const auto person = shell(path);
  ASSERT_OK(person->execute("BEGIN IMMEDIATE"));
  const auto facts = store->commit(events_of(NewEventBuilder().key("k").build()), {}, kTestStart);
  EXPECT_EQ(facts.code(), Code::kUnavailable);
  EXPECT_EQ(store->health().code(), Code::kUnavailable) << "nothing can be committed";
  EXPECT_EQ(store->recover(kTestStart).code(), Code::kUnavailable);
  ASSERT_OK(person->execute("COMMIT"));
  EXPECT_OK(store->recover(kTestStart));
  EXPECT_OK(store->health());
  EXPECT_EQ(store->commit(events_of(NewEventBuilder().key("k").build()), {}, kTestStart)->accepts[0].verdict,
            Verdict::kAccepted);
}

// A limit on file sizes stands for a full disk: writes fail, reading goes on, and later it passes.
TEST_F(SqliteStoreTest, AFailedCommitIsUnknownAndRecoveryFindsAWholeInbox) {
  const int exit = in_dying_process([&] {
    ::signal(SIGXFSZ, SIG_IGN);
    auto opened = open();
    if (!opened.ok()) return 1;
    Store& store = *opened.value();
    if (!store.commit(events_of(NewEventBuilder().key("before").build()), {}, kTestStart).ok()) return 2;
    // Already leased by this living process: a recovery must not hand it out again.
    if (store.claim(one_slot(), kTestStart)->leases.size() != 1) return 3;
    const struct rlimit small = {300 * 1024, RLIM_INFINITY};
    ::setrlimit(RLIMIT_FSIZE, &small);
    const auto failed =
        store.commit(events_of(NewEventBuilder().key("big").body(std::string(1 << 20, 'x')).build()), {}, kTestStart);
    if (failed.code() != Code::kUnknown) return 4;
    if (store.health().ok()) return 5;
    if (store.commit(events_of(NewEventBuilder().build()), {}, kTestStart).code() != Code::kUnavailable) return 6;
    const struct rlimit large = {RLIM_INFINITY, RLIM_INFINITY};
    ::setrlimit(RLIMIT_FSIZE, &large);
    if (!store.recover(kTestStart).ok() || !store.health().ok()) return 7;
    if (store.commit(events_of(NewEventBuilder().key("before").build()), {}, kTestStart)->accepts[0].verdict !=
        Verdict::kDuplicate) {
      return 8;
    }
    if (!store.claim(one_slot(), kTestStart)->leases.empty()) return 9;
    return store.list({}, 10, std::nullopt).ok() ? 0 : 10;
  });
  EXPECT_EQ(exit, 0);
}

TEST_F(SqliteStoreTest, AFileThatIsGoneIsNeverReplacedByAnEmptyOne) {
  const int exit = in_dying_process([&] {
    ::signal(SIGXFSZ, SIG_IGN);
    auto opened = open();
    if (!opened.ok()) return 1;
    const struct rlimit small = {100 * 1024, RLIM_INFINITY};
    ::setrlimit(RLIMIT_FSIZE, &small);
    Store& store = *opened.value();
    if (store.commit(events_of(NewEventBuilder().body(std::string(1 << 20, 'x')).build()), {}, kTestStart).ok())
      return 2;
    for (const char* suffix : {"", "-wal", "-shm"}) fs::remove(path + suffix);
    return store.recover(kTestStart).code() == Code::kPrecondition ? 0 : 3;
  });
  EXPECT_EQ(exit, 0);
  EXPECT_FALSE(fs::exists(path));
}

TEST_F(SqliteStoreTest, DamageEndsInWordsForAPerson) {
  {
    const auto store = open_ok();
    std::vector<NewEvent> events;
    for (int i = 0; i < 200; ++i) events.push_back(NewEventBuilder().key(std::to_string(i)).build());
    ASSERT_OK(store->commit(events, {}, kTestStart));
  }
  {
    std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(4096 * 2);
    const std::string noise(fs::file_size(path) - 4096 * 2, '\x5a');
    file << noise;
  }
  const auto store = open();
  if (!store.ok()) {
    EXPECT_EQ(store.code(), Code::kPrecondition) << store.status().message();
    return;
  }
  EXPECT_EQ(store.value()->commit(events_of(NewEventBuilder().key("1").build()), {}, kTestStart).code(),
            Code::kUnavailable);
  EXPECT_EQ(store.value()->recover(kTestStart).code(), Code::kPrecondition);
}

TEST_F(SqliteStoreTest, TheLogStaysBoundedUnderLoadAndEmptyAfterAnOrderlyEnd) {
  auto store = open_ok();
  const std::string body(16 * 1024, 'x');
  std::int64_t longest = 0;
  for (int batch = 0; batch < 100; ++batch) {  // 160 MB of bodies
    std::vector<NewEvent> events;
    for (int i = 0; i < 100; ++i)
      events.push_back(NewEventBuilder().key(std::to_string(batch * 100 + i)).body(body).build());
    ASSERT_OK(store->commit(events, {}, kTestStart));
    longest = std::max(longest, store->stats(kTestStart)->log_bytes);
  }
  EXPECT_GT(longest, 0);
  EXPECT_LT(longest, 80ll << 20);
  store.reset();
  EXPECT_EQ(fs::file_size(path + "-wal"), 0u);
}

TEST_F(SqliteStoreTest, ABackupOfARunningStoreIsAWholeInbox) {
  const auto store = open_ok();
  const EventId id = store->commit(events_of(NewEventBuilder().key("k").build()), {}, kTestStart)->accepts[0].id;
  const std::string copy = folder.file("copy.db");
  ASSERT_OK(backup_store("sqlite:" + path, copy));
  ASSERT_OK(store->commit(events_of(NewEventBuilder().key("later").build()), {}, kTestStart));
  {
    const auto other = open_sqlite_store(copy, kTestStart);
    ASSERT_OK(other);
    EXPECT_TRUE(other.value()->get(id).value().has_value());
    EXPECT_EQ(other.value()->list({}, 10, std::nullopt)->items.size(), 1u);
  }
  EXPECT_EQ(backup_store("sqlite:" + path, copy).code(), Code::kPrecondition);
  EXPECT_EQ(backup_store("sqlite:" + folder.file("none.db"), folder.file("c.db")).code(), Code::kPrecondition);
  EXPECT_FALSE(fs::exists(folder.file("c.db")));
  EXPECT_EQ(backup_store("memory:", folder.file("c.db")).code(), Code::kInvalid);
}

// As the first version left it: every key in dedup, none of the later columns, short answers.
TEST_F(SqliteStoreTest, AnInboxOfTheFirstVersionKeepsItsKeysAndAttempts) {
  EventId id;
  {
    const auto store = open_ok();
    id = store->commit(events_of(NewEventBuilder().key("k").build()), {}, kTestStart)->accepts[0].id;
    const Settlement failed =
        failure(store->claim({{{"backend", 1, std::chrono::seconds(30), 20, std::chrono::hours(72)}}}, kTestStart)
                    ->leases.at(0),
                Duration::zero());
    ASSERT_OK(store->commit({}, std::span(&failed, 1), kTestStart));
  }
  ASSERT_OK(shell(path)->execute(
      "DROP INDEX deliveries_open_in_order;"
      "ALTER TABLE contents DROP COLUMN new_items; ALTER TABLE attempts RENAME TO long_attempts;"
      "CREATE TABLE attempts (seq INTEGER NOT NULL, destination INTEGER NOT NULL, number INTEGER NOT NULL,"
      "  started_at INTEGER NOT NULL, duration INTEGER, outcome INTEGER NOT NULL, status INTEGER NOT NULL,"
      "  error BLOB NOT NULL, response BLOB NOT NULL CHECK (length(response) <= 1024),"
      "  PRIMARY KEY (seq, destination, number)) STRICT, WITHOUT ROWID;"
      "INSERT INTO attempts SELECT * FROM long_attempts; DROP TABLE long_attempts;"
      "INSERT INTO dedup SELECT source, key, seq, expires_at FROM event_keys; DROP TABLE dedup_moved;"
      "DROP TABLE lines; DROP TABLE replies; DROP TABLE pauses; ALTER TABLE events DROP COLUMN signature_hash;"
      "ALTER TABLE arrivals DROP COLUMN signature_hash; ALTER TABLE arrivals DROP COLUMN same_key;"
      "ALTER TABLE dedup ADD COLUMN older INTEGER; ALTER TABLE event_keys DROP COLUMN source;"
      "ALTER TABLE event_keys DROP COLUMN expires_at; PRAGMA user_version = 1"));
  const auto store = open_ok();
  const auto verdict_of = [&](const char* key) {
    return store->commit(events_of(NewEventBuilder().key(key).build()), {}, kTestStart)->accepts[0].verdict;
  };
  const AcceptFacts facts = store->commit(events_of(NewEventBuilder().key("k").build()), {}, kTestStart)->accepts[0];
  EXPECT_EQ(facts.verdict, Verdict::kDuplicate);
  EXPECT_EQ(facts.first, (FirstArrival{kTestStart, 0, {}}));
  EXPECT_EQ(verdict_of("other"), Verdict::kAccepted);
  EXPECT_EQ(verdict_of("other"), Verdict::kDuplicate);
  EXPECT_EQ(store->get(id).value()->new_items, "");
  EXPECT_EQ(store->get(id).value()->deliveries.at(0).attempts.at(0).error, "it did not work");
  Settlement long_answer = failure(
      store->claim({{{"backend", 1, std::chrono::seconds(30), 20, std::chrono::hours(72)}}}, kTestStart)->leases.at(0),
      Duration::zero());
  EXPECT_EQ(store->list({.state = EventState::kPending}, 10, std::nullopt)->items.back().id, id);
  long_answer.result.response = std::string(kResponseKept, 'x');
  ASSERT_OK(store->commit({}, std::span(&long_answer, 1), kTestStart));
}

// All events were pruned, so that no number is left but in what says how far the keys were moved.
TEST_F(SqliteStoreTest, AKeyTakenInAnEmptyInboxIsItsOwnAfterOpeningAgain) {
  open_ok();
  ASSERT_OK(shell(path)->execute("UPDATE dedup_moved SET moved_to = 1000"));
  const auto verdict = [&] {
    return open_ok()->commit(events_of(NewEventBuilder().key("k").build()), {}, kTestStart)->accepts[0].verdict;
  };
  EXPECT_EQ(verdict(), Verdict::kAccepted);
  EXPECT_EQ(verdict(), Verdict::kDuplicate);
}

TEST_F(SqliteStoreTest, TheTablesRefuseWhatTheStateMachineForbids) {
  const auto store = open_ok();
  ASSERT_OK(store->commit(events_of(NewEventBuilder().key("k").build()), {}, kTestStart));
  const auto person = shell(path);
  for (const char* sql :
       {"UPDATE deliveries SET state = 4", "UPDATE deliveries SET state = 1", "UPDATE deliveries SET state = 2",
        "UPDATE deliveries SET counted = 5", "UPDATE deliveries SET new_key = 1", "UPDATE events SET id = x'00'",
        "UPDATE events SET retry_number = 1", "UPDATE event_keys SET key = x'00'", "UPDATE events SET type = 'text'"}) {
    EXPECT_EQ(person->execute(sql).code(), Code::kInternal) << sql;
  }
}

// More of them than are sorted at once, and more newer ones than are looked at first.
TEST_F(SqliteStoreTest, ManyPendingEventsBehindManyNewerOnesAreListedOnceAndInOrder) {
  const auto store = open_ok();
  std::vector<EventId> pending;
  for (int batch = 0; batch < 28; ++batch) {
    const bool waits = batch < 21;
    std::vector<NewEvent> events;
    for (int i = 0; i < 1000; ++i) {
      events.push_back(NewEventBuilder()
                           .to(waits ? std::vector<std::string>{"backend", "other"} : std::vector<std::string>{})
                           .build());
    }
    const auto committed = store->commit(events, {}, kTestStart + seconds(batch));
    ASSERT_OK(committed);
    for (const AcceptFacts& facts : committed->accepts) {
      if (waits) pending.push_back(facts.id);
    }
  }
  std::reverse(pending.begin(), pending.end());
  std::vector<EventId> listed;
  std::optional<std::string> cursor;
  do {
    const auto page = store->list({.state = EventState::kPending}, kListMax, cursor);
    ASSERT_OK(page);
    for (const EventSummary& item : page->items) listed.push_back(item.id);
    cursor = page->next;
  } while (cursor);
  EXPECT_EQ(listed, pending);
}

// Each statement that must stay quick with millions of rows is answered by an index, never by walking a table or
// sorting.
TEST_F(SqliteStoreTest, HotStatementsUseTheirIndexes) {
  open_ok();
  const auto person = shell(path);
  const auto plan = [&](const std::string& sql) {
    std::string text;
    auto statement = person->prepare("EXPLAIN QUERY PLAN " + sql);
    EXPECT_OK(statement);
    Query query(statement.value());
    while (query.row().value()) text += std::string(query.blob(3)) + "\n";
    return text;
  };
  const std::string claim = plan(
      "SELECT seq FROM deliveries INDEXED BY deliveries_open WHERE destination = 1 AND due_at <= 2 AND state IN (0, 1) "
      "ORDER BY due_at, seq LIMIT 3");
  EXPECT_NE(claim.find("deliveries_open (destination=? AND due_at<?)"), std::string::npos) << claim;
  EXPECT_EQ(claim.find("TEMP B-TREE"), std::string::npos) << claim;
  const std::string counts = plan(
      "SELECT destination, sum(state = 0), sum(state = 1), min(CASE state WHEN 0 THEN seq END) "
      "FROM deliveries INDEXED BY deliveries_open WHERE state IN (0, 1) GROUP BY destination");
  EXPECT_NE(counts.find("COVERING INDEX deliveries_open"), std::string::npos) << counts;
  EXPECT_EQ(counts.find("TEMP B-TREE"), std::string::npos) << counts;
  const std::string open = plan(
      "SELECT seq, destination, state FROM deliveries INDEXED BY deliveries_open_in_order "
      "WHERE state IN (0, 1) AND seq < 7 ORDER BY seq DESC LIMIT 3");
  EXPECT_NE(open.find("COVERING INDEX deliveries_open_in_order (seq<?)"), std::string::npos) << open;
  EXPECT_EQ(open.find("TEMP B-TREE"), std::string::npos) << open;
}

TEST(StoreUrl, EventsStayForAShorterTimeWhereTheyAllLieInMemory) {
  EXPECT_EQ(default_retention("sqlite:inbox.db"), StoreConfig().retention);
  EXPECT_EQ(default_retention("postgres://h/d"), StoreConfig().retention);
  EXPECT_EQ(default_retention("redis://h"), std::chrono::hours(72));
}

TEST(StoreUrl, OnlyWhatThisVersionHasIsTaken) {
  EXPECT_OK(check_store_url("memory:"));
  EXPECT_OK(check_store_url("sqlite:inbox.db"));
  EXPECT_OK(check_store_url("sqlite:/var/lib/inbox.db"));
  EXPECT_OK(check_store_url("sqlite:///var/lib/inbox.db"));
  EXPECT_OK(check_store_url("postgres://u:secret@h/d"));
  EXPECT_EQ(shown_store_url("postgres://u:secret@h/d"), "postgres://h/d?schema=hookonce");
  EXPECT_OK(check_store_url("redis://u:secret@h/0"));
  EXPECT_EQ(shown_store_url("redis://u:secret@h/0"), "redis://h:6379/0?prefix=hookonce");
  for (const char* url : {"", "inbox.db", "sqlite:", "sqlite://inbox.db", "postgres:u:secret@h/d", "redis:secret@h",
                          "rediss://u:secret@h", "memory", "host=h password=secret", "host=h port=1 password=a:secret",
                          "user:secret@h", ":secret@h", "secret", " postgres://u:secret@h/d", "u:secret://h",
                          "mysql://u:secret@h", "sqlite://u:secret@h/d"}) {
    const Status status = check_store_url(url);
    EXPECT_EQ(status.code(), Code::kInvalid) << url;
    EXPECT_EQ(status.message().find("secret"), std::string::npos) << "a password is never shown";
  }
}

}  // namespace
}  // namespace hookonce
