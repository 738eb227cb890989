#include "store/sqlite_keys.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "store/sqlite_schema.h"
#include "test/support/asserts.h"
#include "test/support/event_builder.h"
#include "test/support/temp_folder.h"

namespace hookonce {
namespace {

using std::chrono::seconds;

// Spread over the shards as real keys are.
KeyPlace place_of(int number) {
  KeyPlace place;
  place.source = 1 + number % 2;
  place.key[0] = static_cast<std::uint8_t>(number * 37);
  place.key[1] = static_cast<std::uint8_t>(number);
  return place;
}

// A file of keys, opened anew at will.
struct SqliteKeysTest : testing::Test {
  void SetUp() override { open(); }

  void open(std::size_t hot_max = 8) {
    keys.reset();
    lookup.reset();
    database.reset();
    hot = std::make_unique<SqliteHotKeys>();
    auto opened = Database::open(path, Database::Mode::kCreate, Duration::zero());
    ASSERT_OK(opened);
    database = *std::move(opened);
    ASSERT_OK(prepare_schema(*database, path));
    keys = std::make_unique<SqliteKeys>();
    ASSERT_OK(keys->prepare(*database, *hot, hot_max));
    lookup = std::make_unique<SqliteKeyLookup>();
    ASSERT_OK(lookup->prepare(*database, *hot));
  }

  enum class End { kCommit, kRollback };
  template <typename Work>
  void transaction(Work work, End end = End::kCommit) {
    Transaction transaction(*database);
    ASSERT_OK(transaction.begin(Transaction::Kind::kWrite));
    work();
    ASSERT_OK(keys->move_some());
    if (end == End::kRollback) {
      keys->rolled_back();
      return;
    }
    ASSERT_OK(transaction.commit());
    keys->committed();
  }

  std::optional<std::int64_t> holder_of(const KeyPlace& place) {
    const auto found = lookup->find(place);
    EXPECT_OK(found);
    return found.value() ? std::optional(found.value()->seq) : std::nullopt;
  }

  TempFolder folder;
  std::string path = folder.file("inbox.db");
  std::unique_ptr<Database> database;
  std::unique_ptr<SqliteHotKeys> hot;
  std::unique_ptr<SqliteKeys> keys;
  std::unique_ptr<SqliteKeyLookup> lookup;
};

TEST_F(SqliteKeysTest, WhatARolledBackTransactionTookIsFree) {
  transaction([&] { EXPECT_OK(keys->take(place_of(1), {1, kTestStart}, std::nullopt)); }, End::kRollback);
  EXPECT_EQ(holder_of(place_of(1)), std::nullopt);
  EXPECT_FALSE(keys->find(place_of(1)).value());
}

TEST_F(SqliteKeysTest, ReadersSeeAKeyOnlyOnceItIsDurable) {
  transaction([&] {
    EXPECT_OK(keys->take(place_of(1), {1, kTestStart}, std::nullopt));
    EXPECT_TRUE(keys->find(place_of(1)).value());
    EXPECT_FALSE(lookup->find(place_of(1)).value());
  });
  EXPECT_EQ(holder_of(place_of(1)), 1);
}

TEST_F(SqliteKeysTest, MoreKeysThanMemoryTakesAreMovedIntoTheTable) {
  for (int i = 1; i <= 100; ++i) {
    transaction([&] { EXPECT_OK(keys->take(place_of(i), {i, kTestStart}, std::nullopt)); });
  }
  EXPECT_LT(hot->size(), 24u);
  EXPECT_GT(database->integer("SELECT moved_to FROM dedup_moved").value(), 50);
  for (int i = 1; i <= 100; ++i) EXPECT_EQ(holder_of(place_of(i)), i);
}

TEST_F(SqliteKeysTest, AKeyHandedToAnOldEventIsItsOwnAfterOpeningAgain) {
  // Event 2 held the key until its window was over; a duplicate of event 1 then brings it along.
  transaction([&] {
    EXPECT_OK(keys->take(place_of(1), {1, kTestStart + seconds(9)}, std::nullopt));
    EXPECT_OK(keys->take(place_of(2), {2, kTestStart}, std::nullopt));
  });
  transaction([&] { EXPECT_OK(keys->hand_over(place_of(2), {1, kTestStart + seconds(9)}, 2)); });
  EXPECT_EQ(holder_of(place_of(2)), 1);
  open();
  EXPECT_EQ(holder_of(place_of(2)), 1);
}

TEST_F(SqliteKeysTest, AnExpiredHolderIsFoundAgainWhenTheNewerOneIsReleased) {
  transaction([&] {
    EXPECT_OK(keys->take(place_of(1), {1, kTestStart}, std::nullopt));
    EXPECT_OK(keys->take(place_of(1), {2, kTestStart}, 1));
  });
  transaction([&] { EXPECT_EQ(keys->release(2, place_of(1).source).value(), 1); });
  EXPECT_EQ(holder_of(place_of(1)), 1);
  open();
  EXPECT_EQ(holder_of(place_of(1)), 1);
  transaction([&] { EXPECT_EQ(keys->release(1, place_of(1).source).value(), 1); });
  EXPECT_EQ(holder_of(place_of(1)), std::nullopt);
}

TEST_F(SqliteKeysTest, AnEventMayGetAKeyBackThatItHeldBefore) {
  transaction([&] {
    EXPECT_OK(keys->take(place_of(1), {1, kTestStart}, std::nullopt));
    EXPECT_OK(keys->take(place_of(1), {2, kTestStart}, 1));
  });
  transaction([&] {
    EXPECT_OK(keys->release(2, place_of(1).source));
    EXPECT_OK(keys->hand_over(place_of(1), {1, kTestStart + seconds(9)}, 1));
  });
  EXPECT_EQ(lookup->find(place_of(1)).value()->expires_at, kTestStart + seconds(9));
  transaction([&] { EXPECT_EQ(keys->release(1, place_of(1).source).value(), 1); });
  EXPECT_EQ(holder_of(place_of(1)), std::nullopt);
}

TEST_F(SqliteKeysTest, ARoundComesToItsEndThoughTransactionsAreRolledBack) {
  const int kKeys = 200;
  for (int i = 1; i <= kKeys; ++i) {
    transaction([&] { EXPECT_OK(keys->take(place_of(i), {i, kTestStart}, std::nullopt)); });
    transaction([&] { EXPECT_OK(keys->take(place_of(kKeys + i), {i + 1, kTestStart}, std::nullopt)); }, End::kRollback);
  }
  EXPECT_LT(hot->size(), 24u);
  EXPECT_GT(database->integer("SELECT moved_to FROM dedup_moved").value(), kKeys / 2);
  open();
  for (int i = 1; i <= kKeys; ++i) EXPECT_EQ(holder_of(place_of(i)), i);
}

// Against a map of each key's chain, with commits, rollbacks and openings at random.
TEST_F(SqliteKeysTest, RandomLivesAgreeWithAPlainMap) {
  const unsigned seed = std::random_device()();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  const auto pick = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };

  struct Model {
    std::map<KeyPlace, std::vector<std::int64_t>> chains;  // oldest first; the last one holds the key
    std::map<std::int64_t, std::set<KeyPlace>> events;
  } model;
  constexpr int kPlaces = 60;
  std::int64_t next_seq = 1;
  for (int round = 0; round < 600; ++round) {
    if (pick(25) == 0) open(static_cast<std::size_t>(4 + pick(20)));
    const Model before = model;
    const std::int64_t seq_before = next_seq;
    const bool commits = pick(5) != 0;
    transaction(
        [&] {
          for (int step = 1 + pick(6); step > 0; --step) {
            const KeyPlace place = place_of(pick(kPlaces));
            auto& chain = model.chains[place];
            const std::optional<std::int64_t> older = chain.empty() ? std::nullopt : std::optional(chain.back());
            const int kind = pick(10);
            if (kind < 6) {
              EXPECT_OK(keys->take(place, {next_seq, kTestStart}, older));
              chain.push_back(next_seq);
              model.events[next_seq++].insert(place);
            } else if (kind < 8 && !model.events.empty()) {
              // To an event of the same source that does not have it yet.
              const auto event = std::next(model.events.begin(), pick(static_cast<int>(model.events.size())));
              if (event->second.begin()->source != place.source || event->second.count(place) > 0) continue;
              EXPECT_OK(keys->hand_over(place, {event->first, kTestStart}, older));
              chain.push_back(event->first);
              event->second.insert(place);
            } else if (!model.events.empty()) {
              const auto event = std::next(model.events.begin(), pick(static_cast<int>(model.events.size())));
              EXPECT_OK(keys->release(event->first, event->second.begin()->source));
              for (const KeyPlace& held : event->second) std::erase(model.chains[held], event->first);
              model.events.erase(event);
            }
          }
        },
        commits ? End::kCommit : End::kRollback);
    if (!commits) {
      model = before;
      next_seq = seq_before;
    }
    for (int i = 0; i < kPlaces; ++i) {
      const auto& chain = model.chains[place_of(i)];
      const auto expected = chain.empty() ? std::nullopt : std::optional(chain.back());
      ASSERT_EQ(holder_of(place_of(i)), expected) << "place " << i << " in round " << round;
    }
  }
}

}  // namespace
}  // namespace hookonce
