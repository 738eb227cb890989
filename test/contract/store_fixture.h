// What the store suites share: every backend, opened fresh, and short words for what a gateway
// does with it.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "store/open.h"
#include "store/postgres_store.h"
#include "store/redis_store.h"
#include "test/support/asserts.h"
#include "test/support/event_builder.h"
#include "test/support/missing_server.h"
#include "test/support/postgres_schema.h"
#include "test/support/redis_inbox.h"
#include "test/support/temp_folder.h"

namespace hookonce {

// A new backend is one line here, and a class of its own behind make_backend().
inline std::vector<std::string> store_schemes() {
  return {"memory", "sqlite", "postgres", "pgbouncer", "redis"};
}

// Whether a search looks into bodies, which Redis would have to hand out one by one.
inline bool searches_bodies(const std::string& scheme) {
  return scheme != "redis";
}

// Where one test's inbox lies: opened again, it is the same one.
class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string missing() const { return ""; }  // what this machine lacks for it
  virtual Result<std::unique_ptr<Store>> open(Time now) = 0;
};

class EmbeddedBackend final : public Backend {
 public:
  explicit EmbeddedBackend(std::string scheme) : scheme_(std::move(scheme)) {}
  Result<std::unique_ptr<Store>> open(Time now) override {
    return open_store(scheme_ == "sqlite" ? "sqlite:" + folder_.file("inbox.db") : scheme_ + ":", now);
  }

 private:
  const std::string scheme_;
  TempFolder folder_;
};

class PostgresBackend final : public Backend {
 public:
  explicit PostgresBackend(PostgresTestServer server) : schema_(server) {}
  std::string missing() const override { return schema_.missing(); }
  // By the tests' time, which the server's clock knows nothing of.
  Result<std::unique_ptr<Store>> open(Time) override {
    return open_postgres_store(schema_.url(), PostgresClock::kCaller);
  }

 private:
  PostgresTestSchema schema_;
};

class RedisBackend final : public Backend {
 public:
  std::string missing() const override { return inbox_.missing(); }
  // By the tests' time, which the server's clock knows nothing of.
  Result<std::unique_ptr<Store>> open(Time) override { return open_redis_store(inbox_.url(), RedisClock::kCaller); }

 private:
  RedisTestInbox inbox_;
};

inline std::unique_ptr<Backend> make_backend(const std::string& scheme) {
  if (scheme == "redis") return std::make_unique<RedisBackend>();
  if (scheme == "postgres") return std::make_unique<PostgresBackend>(PostgresTestServer::kDirect);
  if (scheme == "pgbouncer") return std::make_unique<PostgresBackend>(PostgresTestServer::kPgBouncer);
  return std::make_unique<EmbeddedBackend>(scheme);
}

class StoreFixture : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    list_time = {std::chrono::hours(1), std::chrono::hours(1)};
    if (skip_without(backend_->missing())) GTEST_SKIP() << backend_->missing();
    auto opened = backend_->open(now_);
    ASSERT_OK(opened);
    store_ = *std::move(opened);
  }

  AcceptFacts accept(NewEvent event) {
    const auto facts = store_->commit(events_of(std::move(event)), {}, now_);
    EXPECT_OK(facts);
    return facts.ok() ? facts.value().accepts.at(0) : AcceptFacts();
  }
  SettleFacts settle(const Settlement& settlement) {
    const std::vector<Settlement> settlements{settlement};
    const auto facts = store_->commit({}, settlements, now_);
    EXPECT_OK(facts);
    return facts.ok() ? facts.value().settles.at(0) : SettleFacts();
  }
  Claimed claim(int slots = 100, const std::string& destination = "backend") {
    auto claimed = store_->claim({{{destination, slots, kLease, attempts_, std::chrono::hours(72), skip_dead_}}}, now_);
    EXPECT_OK(claimed);
    return claimed.ok() ? *std::move(claimed) : Claimed();
  }
  // REQUIRES: something is due.
  Lease lease(const std::string& destination = "backend") {
    Claimed claimed = claim(1, destination);
    EXPECT_EQ(claimed.leases.size(), 1u);
    return claimed.leases.empty() ? Lease() : std::move(claimed.leases[0]);
  }
  EventDetail get(const EventId& id) {
    const auto detail = store_->get(id);
    EXPECT_OK(detail);
    EXPECT_TRUE(detail.ok() && detail.value().has_value());
    return detail.ok() ? detail.value().value_or(EventDetail()) : EventDetail();
  }
  std::vector<EventId> list(const EventFilter& filter = {}) {
    std::vector<EventId> ids;
    const auto page = store_->list(filter, kListMax, std::nullopt);
    EXPECT_OK(page);
    if (!page.ok()) return ids;
    for (const EventSummary& item : page.value().items) ids.push_back(item.id);
    return ids;
  }
  Replayed replay(const ReplayRequest& request) {
    auto replayed = store_->replay(request, now_);
    EXPECT_OK(replayed);
    return replayed.ok() ? *std::move(replayed) : Replayed();
  }
  void pass(Duration time) { now_ += time; }

  static constexpr Duration kLease = std::chrono::seconds(30);

  std::unique_ptr<Backend> backend_ = make_backend(GetParam());
  Time now_ = kTestStart;
  int attempts_ = 20;
  bool skip_dead_ = false;
  std::unique_ptr<Store> store_;
};

inline std::string scheme_name(const testing::TestParamInfo<std::string>& info) {
  return info.param;
}

}  // namespace hookonce
