// What a PostgreSQL inbox does beyond the contract suite: locks that cross, connections that end, servers that are not
// fit, and whose clock counts. Each test has a schema of its own in the server that the environment names.
#include "store/postgres_store.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/bytes.h"
#include "store/committer.h"
#include "test/support/asserts.h"
#include "test/support/event_builder.h"
#include "test/support/postgres_schema.h"

namespace hookonce {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

struct EndConnection {
  void operator()(PGconn* connection) const { PQfinish(connection); }
};

class PostgresStoreTest : public testing::Test {
 protected:
  void SetUp() override {
    if (skip_without(schema_.missing())) GTEST_SKIP() << schema_.missing();
    store_ = open();
  }
  // By the server's clock, as in production. The name of the schema is the connections' name too.
  std::unique_ptr<Store> open(PostgresClock clock = PostgresClock::kServer) {
    auto opened = open_postgres_store(url(), clock);
    EXPECT_OK(opened);
    return opened.ok() ? *std::move(opened) : nullptr;
  }
  std::string url() const { return schema_.url() + "&application_name=" + schema_.name(); }
  std::string with_database(const std::string& name) const {
    std::string text = url();
    const std::size_t slash = text.find('/', std::string("postgres://").size());
    return text.replace(slash + 1, text.find('?') - slash - 1, name);
  }
  std::string with_password(const std::string& password) const {
    std::string text = url();
    const std::size_t colon = text.find(':', std::string("postgres://").size());
    return text.replace(colon + 1, text.find('@') - colon - 1, password);
  }
  // What all later migrations made is undone; deliveries that stand in a line are those of source "shop", ordering key
  // "a". REQUIRES: no store is open.
  void back_to_the_first_version() {
    schema_.sql(
        "DROP TABLE pauses; DROP TABLE rejected; ALTER TABLE schema_version DROP COLUMN inbox; "
        "DROP INDEX deliveries_open_in_order; ALTER TABLE contents DROP COLUMN new_items; "
        "ALTER TABLE events DROP COLUMN signature_hash; "
        "ALTER TABLE arrivals DROP COLUMN signature_hash, DROP COLUMN same_key; "
        "ALTER TABLE lines DROP CONSTRAINT lines_pkey, DROP COLUMN line, ADD COLUMN source bytea, "
        "ADD COLUMN ordering_key bytea; "
        "UPDATE lines SET source = 'shop', ordering_key = 'a'; "
        "ALTER TABLE lines ADD PRIMARY KEY (destination, source, ordering_key, seq); "
        "DO $$ DECLARE f regprocedure; BEGIN FOR f IN SELECT oid FROM pg_proc WHERE pronamespace = '" +
        schema_.name() +
        "'::regnamespace LOOP EXECUTE 'DROP FUNCTION ' || f; END LOOP; END $$; "
        "UPDATE schema_version SET version = 1");
  }
  AcceptFacts accept(Store& store, NewEvent event) {
    const auto facts = store.commit(events_of(std::move(event)), {}, system_clock().now());
    EXPECT_OK(facts);
    return facts.ok() ? facts.value().accepts.at(0) : AcceptFacts();
  }
  Claimed claim(Store& store, Time now, Duration lease = seconds(60)) {
    auto claimed = store.claim({{{"backend", 100, lease, 20, hours(72)}}}, now);
    EXPECT_OK(claimed);
    return claimed.ok() ? *std::move(claimed) : Claimed();
  }
  // Looks again and again until `sql` says t; there is nothing to await in another program's locks.
  void wait_until(const std::string& sql) {
    for (const Duration end = steady_now() + seconds(30); steady_now() < end;) {
      if (schema_.sql(sql) == "t") return;
      std::this_thread::yield();
    }
    ADD_FAILURE() << "waited in vain: " << sql;
  }
  std::unique_ptr<PGconn, EndConnection> person() {
    std::unique_ptr<PGconn, EndConnection> connection(PQconnectdb(std::getenv("HOOKONCE_TEST_POSTGRES")));
    run(*connection, "SET search_path = " + schema_.name());
    return connection;
  }
  static void run(PGconn& connection, const std::string& sql) {
    std::unique_ptr<PGresult, decltype(&PQclear)> result(PQexec(&connection, sql.c_str()), &PQclear);
    EXPECT_EQ(PQresultStatus(result.get()), PGRES_COMMAND_OK) << PQerrorMessage(&connection);
  }
  void end_connections() {
    schema_.sql("SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE application_name = '" +
                schema_.name() + "'");
  }
  static std::string hex(const std::string& key) {
    const KeyHash hash = key_hash("", {key});
    return to_hex({reinterpret_cast<const char*>(hash.data()), hash.size()});
  }

  PostgresTestSchema schema_{PostgresTestServer::kDirect};
  std::unique_ptr<Store> store_;
};

// Goal: a batch that the server ends in favour of another one goes through by itself. Method: a trigger ends the first
// tries as the server ends the victim of a deadlock; it counts them in a sequence, which no rollback takes back.
TEST_F(PostgresStoreTest, ABatchThatDeadlocksIsRepeated) {
  schema_.sql(
      "CREATE SEQUENCE tries; CREATE FUNCTION end_it() RETURNS trigger LANGUAGE plpgsql AS "
      "'DECLARE n bigint := nextval(''tries''); BEGIN "
      "IF n = 1 THEN RAISE EXCEPTION ''victim'' USING ERRCODE = ''40P01''; END IF; "
      "IF n = 2 THEN RAISE EXCEPTION ''victim'' USING ERRCODE = ''40001''; END IF; RETURN NEW; END'; "
      "CREATE TRIGGER at_insert BEFORE INSERT ON contents FOR EACH ROW EXECUTE FUNCTION end_it()");
  EXPECT_EQ(accept(*store_, NewEventBuilder().key("k").build()).verdict, Verdict::kAccepted);
  EXPECT_EQ(schema_.sql("SELECT last_value FROM tries"), "3");
  EXPECT_OK(store_->health());
}

TEST_F(PostgresStoreTest, BatchesOfOppositeOrderBothCommit) {
  const auto second = open();
  std::vector<NewEvent> forth, back;
  for (int i = 0; i < 50; ++i) {
    forth.push_back(NewEventBuilder().key(std::to_string(i)).build());
    back.push_back(NewEventBuilder().key(std::to_string(49 - i)).build());
  }
  std::atomic<int> accepted{0};
  const auto commit = [&](Store& store, const std::vector<NewEvent>& events) {
    const auto facts = store.commit(events, {}, system_clock().now());
    ASSERT_OK(facts);
    for (const AcceptFacts& fact : facts.value().accepts) accepted += fact.verdict == Verdict::kAccepted ? 1 : 0;
  };
  std::thread one([&] { commit(*store_, forth); });
  std::thread two([&] { commit(*second, back); });
  one.join();
  two.join();
  EXPECT_EQ(accepted, 50);
}

// Goal: two batches that meet in the same two lines wait for each other and never die by each other, whichever of their
// parts names which line first. Method: a person holds the line that everybody locks first; while both batches stand
// there, neither may hold the other line.
TEST_F(PostgresStoreTest, BatchesThatMeetInTwoLinesInOppositeOrderBothCommit) {
  const auto second = open();
  const auto ordered = [](const std::string& line) {
    return NewEventBuilder().source("shop").ordering_key(line).ordered({"backend"}).build();
  };
  accept(*store_, ordered("a"));
  accept(*store_, ordered("b"));
  const Claimed heads = claim(*store_, system_clock().now());
  ASSERT_EQ(heads.leases.size(), 2u);
  const auto other = person();
  run(*other, "BEGIN");
  run(*other,
      "DO $$ BEGIN PERFORM pg_advisory_xact_lock(least("
      "line_lock(line_of('backend', 'shop', 'a')), line_lock(line_of('backend', 'shop', 'b'))));"
      "END $$");
  const auto commit = [&](Store& store, const std::string& joined, const Lease& settled) {
    const auto facts = store.commit(events_of(ordered(joined)), std::vector{success(settled)}, system_clock().now());
    ASSERT_OK(facts);
    EXPECT_TRUE(facts.value().settles.at(0).taken);
  };
  std::thread one([&] { commit(*store_, "a", heads.leases[1]); });
  std::thread two([&] { commit(*second, "b", heads.leases[0]); });
  const std::string ours =
      "SELECT pid FROM pg_stat_activity WHERE application_name = '" + schema_.name() + "' AND wait_event = 'advisory'";
  wait_until("SELECT count(*) = 2 FROM (" + ours + ") waiting");
  EXPECT_EQ(
      schema_.sql("SELECT count(*) FROM pg_locks WHERE granted AND locktype IN ('advisory', 'tuple') AND pid IN (" +
                  ours + ")"),
      "0");
  run(*other, "COMMIT");
  one.join();
  two.join();
  EXPECT_EQ(claim(*store_, system_clock().now()).leases.size(), 2u);
}

TEST_F(PostgresStoreTest, LinesOfAnOlderVersionGoOn) {
  const auto ordered = [] { return NewEventBuilder().source("shop").ordering_key("a").ordered({"backend"}).build(); };
  accept(*store_, ordered());
  const EventId next = accept(*store_, ordered()).id;
  const Claimed head = claim(*store_, system_clock().now());
  ASSERT_EQ(head.leases.size(), 1u);
  store_.reset();
  back_to_the_first_version();
  store_ = open();
  const auto facts = store_->commit({}, std::vector{success(head.leases[0])}, system_clock().now());
  ASSERT_OK(facts);
  EXPECT_TRUE(facts.value().settles.at(0).freed);
  const Claimed freed = claim(*store_, system_clock().now());
  ASSERT_EQ(freed.leases.size(), 1u);
  EXPECT_EQ(freed.leases[0].event, next);
}

TEST_F(PostgresStoreTest, AnExpiredKeyHasOneNewWinnerAmongManyArrivalsOnTwoInstances) {
  const auto second = open();
  const EventId first = accept(*store_, NewEventBuilder().key("k").window(Duration(1)).build()).id;
  std::atomic<int> accepted{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      for (int n = 0; n < 8; ++n) {
        const AcceptFacts facts = accept(i % 2 == 0 ? *store_ : *second, NewEventBuilder().key("k").build());
        EXPECT_NE(facts.id, first);
        if (facts.verdict == Verdict::kAccepted) ++accepted;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(accepted, 1);
}

TEST_F(PostgresStoreTest, ARowThatAPersonHoldsLeavesTheStoreWell) {
  accept(*store_, NewEventBuilder().key("k").build());
  const auto other = person();
  run(*other, "BEGIN");
  run(*other, "UPDATE dedup SET older = NULL");
  const auto facts = store_->commit(events_of(NewEventBuilder().key("k").build()), {}, system_clock().now());
  EXPECT_EQ(facts.code(), Code::kExhausted);
  EXPECT_OK(store_->health());
  run(*other, "ROLLBACK");
  EXPECT_EQ(accept(*store_, NewEventBuilder().key("k").build()).verdict, Verdict::kDuplicate);
}

TEST_F(PostgresStoreTest, OneHeldKeyRefusesNoOtherEventOfItsBatch) {
  const auto other = person();
  run(*other, "BEGIN");
  NewEvent held = NewEventBuilder().key("held").build();
  run(*other, "DO $$ BEGIN INSERT INTO dedup (seq, expires_at, key, source) VALUES (1, now() + interval '1 day', '" +
                  hex("held") + "', '" + held.source + "'); END $$");
  constexpr int kEvents = 33;
  std::array<std::promise<Code>, kEvents> answers;
  Committer committer(*store_, system_clock(), {});
  for (int i = 0; i < kEvents; ++i) {  // one batch, since it has not started yet
    const bool is_held = i == 20;
    const Time deadline = system_clock().now() + (is_held ? Duration(seconds(2)) : Duration(seconds(60)));
    committer.submit(is_held ? std::move(held) : NewEventBuilder().key(std::to_string(i)).build(), deadline, nullptr,
                     [&answer = answers[static_cast<std::size_t>(i)]](const Result<AcceptFacts>& facts) {
                       answer.set_value(facts.code());
                     });
  }
  committer.start();
  for (std::size_t i = 0; i < kEvents; ++i) {
    EXPECT_EQ(answers[i].get_future().get(), i == 20 ? Code::kUnavailable : Code::kOk) << i;
  }
  committer.stop();
  EXPECT_OK(store_->health());
  run(*other, "ROLLBACK");
}

TEST_F(PostgresStoreTest, ConnectionsThatEndedWhileIdleAreReplacedUnnoticed) {
  accept(*store_, NewEventBuilder().key("a").build());
  claim(*store_, system_clock().now());
  ASSERT_OK(store_->list({}, 10, std::nullopt));
  end_connections();
  EXPECT_OK(store_->list({}, 10, std::nullopt));
  EXPECT_EQ(accept(*store_, NewEventBuilder().key("b").build()).verdict, Verdict::kAccepted);
  EXPECT_EQ(claim(*store_, system_clock().now()).leases.size(), 1u);
  EXPECT_OK(store_->health());
}

// A trigger ends the connection while the COMMIT is on its way.
TEST_F(PostgresStoreTest, ACommitWhoseAnswerNeverCameIsUnknown) {
  schema_.sql(
      "CREATE FUNCTION end_it() RETURNS trigger LANGUAGE plpgsql AS "
      "'BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NULL; END'; "
      "CREATE CONSTRAINT TRIGGER at_commit AFTER INSERT ON events DEFERRABLE INITIALLY DEFERRED "
      "FOR EACH ROW EXECUTE FUNCTION end_it()");
  const auto facts = store_->commit(events_of(NewEventBuilder().key("k").build()), {}, system_clock().now());
  EXPECT_EQ(facts.code(), Code::kUnknown);
  EXPECT_EQ(store_->health().code(), Code::kUnavailable);
  EXPECT_EQ(store_->commit({}, {}, system_clock().now()).code(), Code::kUnavailable);
  schema_.sql("DROP TRIGGER at_commit ON events");
  EXPECT_OK(store_->recover(system_clock().now()));
  EXPECT_EQ(accept(*store_, NewEventBuilder().key("k").build()).verdict, Verdict::kAccepted);
}

TEST_F(PostgresStoreTest, WithoutItsTablesItIsIllAndNobodyLosesTheOthers) {
  schema_.sql("ALTER TABLE events RENAME TO elsewhere");
  EXPECT_EQ(store_->commit(events_of(NewEventBuilder().build()), {}, system_clock().now()).code(), Code::kUnavailable);
  EXPECT_EQ(store_->health().code(), Code::kUnavailable);
  schema_.sql("ALTER TABLE elsewhere RENAME TO events");
  EXPECT_OK(store_->recover(system_clock().now()));
  EXPECT_EQ(accept(*store_, NewEventBuilder().build()).verdict, Verdict::kAccepted);
}

TEST_F(PostgresStoreTest, LeasesAndDueTimesAreTheServersWhateverAGatewayThinks) {
  accept(*store_, NewEventBuilder().build());
  const Time now = system_clock().now();
  ASSERT_EQ(claim(*store_, now - hours(100)).leases.size(), 1u);
  EXPECT_TRUE(claim(*store_, now + hours(100)).leases.empty());
  // The wait is the server's, told in the caller's time.
  const auto due = store_->next_due({"backend"}, now + hours(100));
  ASSERT_OK(due);
  ASSERT_TRUE(due.value().has_value());
  EXPECT_GT(*due.value(), now + hours(100));
  EXPECT_LE(*due.value(), now + hours(100) + seconds(60));
}

TEST_F(PostgresStoreTest, PruningGoesByAgeOnTheServersClock) {
  const EventId id = accept(*store_, NewEventBuilder().to({}).build()).id;
  const Time ahead = system_clock().now() + hours(10000);
  EXPECT_OK(store_->prune({ahead - hours(720), ahead, 500}));
  EXPECT_TRUE(store_->get(id).value().has_value());
}

TEST_F(PostgresStoreTest, PruningLeavesWhatSomebodyHoldsAndWaitsForNobody) {
  const EventId held = accept(*store_, NewEventBuilder().to({}).build()).id;
  const EventId free = accept(*store_, NewEventBuilder().to({}).build()).id;
  const auto somebody = person();
  run(*somebody, "BEGIN");
  run(*somebody, "UPDATE events SET type = type WHERE seq = (SELECT min(seq) FROM events)");
  const Time now = system_clock().now();
  EXPECT_EQ(store_->prune({now, now, 500}).value(), 1);
  EXPECT_TRUE(store_->get(held).value().has_value());
  EXPECT_FALSE(store_->get(free).value().has_value());
  run(*somebody, "COMMIT");
  EXPECT_EQ(store_->prune({now, now, 500}).value(), 1);
  EXPECT_FALSE(store_->get(held).value().has_value());
}

TEST_F(PostgresStoreTest, SeveralGatewaysMayMakeTheTablesAtOnce) {
  store_.reset();
  schema_.sql("DROP SCHEMA " + schema_.name() + " CASCADE");
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back([&] { EXPECT_NE(open(), nullptr); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(schema_.sql("SELECT count(*) FROM schema_version"), "1");
}

TEST_F(PostgresStoreTest, ArrivalsOfAnOlderVersionHaveNoSignature) {
  const EventId first = accept(*store_, NewEventBuilder().key("k").build()).id;
  accept(*store_, NewEventBuilder().key("k").build());
  store_.reset();
  back_to_the_first_version();
  store_ = open();
  const AcceptFacts facts = accept(*store_, NewEventBuilder().key("k").build());
  EXPECT_EQ(facts.first, (FirstArrival{kTestStart, 0, {}}));
  const auto detail = store_->get(first);
  ASSERT_OK(detail);
  ASSERT_EQ((*detail)->arrivals.size(), 3u);
  EXPECT_TRUE((*detail)->arrivals[1].same_key);
}

TEST_F(PostgresStoreTest, TablesOfANewerVersionAreRefused) {
  schema_.sql("UPDATE schema_version SET version = 1000");
  const auto opened = open_postgres_store(url());
  ASSERT_EQ(opened.code(), Code::kPrecondition);
  EXPECT_NE(opened.status().message().find("use a newer hookonce"), std::string::npos) << opened.status().message();
}

TEST_F(PostgresStoreTest, ASchemaOfSomebodyElsesTablesIsRefused) {
  store_.reset();
  schema_.sql("DROP TABLE schema_version");
  const auto opened = open_postgres_store(url());
  ASSERT_EQ(opened.code(), Code::kPrecondition);
  EXPECT_NE(opened.status().message().find("name another with ?schema="), std::string::npos);
}

TEST_F(PostgresStoreTest, AServerThatOnlyReadsIsRefused) {
  const auto opened = open_postgres_store(url() + "&options=-c%20default_transaction_read_only%3Don");
  ASSERT_EQ(opened.code(), Code::kPrecondition);
  EXPECT_NE(opened.status().message().find("read-only"), std::string::npos) << opened.status().message();
}

TEST_F(PostgresStoreTest, AWrongPasswordIsNamedAndNotShown) {
  const auto opened = open_postgres_store(with_password("not-the-password"));
  ASSERT_EQ(opened.code(), Code::kPrecondition);
  const std::string message = opened.status().message();
  EXPECT_NE(message.find("correct user and password in store.url"), std::string::npos) << message;
  EXPECT_EQ(message.find("not-the-password"), std::string::npos) << message;
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
}

TEST_F(PostgresStoreTest, AMissingDatabaseIsNamedWithItsMend) {
  const auto opened = open_postgres_store(with_database("no_such_inbox"));
  ASSERT_EQ(opened.code(), Code::kPrecondition);
  EXPECT_NE(opened.status().message().find("createdb"), std::string::npos) << opened.status().message();
}

TEST(PostgresStoreAway, AServerThatDoesNotAnswerIsUnavailable) {
  const auto opened = open_postgres_store("postgres://hookonce:sekret@127.0.0.1:1/inbox");
  ASSERT_EQ(opened.code(), Code::kUnavailable);
  EXPECT_EQ(opened.status().message().find("sekret"), std::string::npos) << opened.status().message();
}

}  // namespace
}  // namespace hookonce
