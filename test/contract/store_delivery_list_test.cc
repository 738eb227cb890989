// How every store backend lists deliveries.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "test/contract/store_fixture.h"

namespace hookonce {
namespace {

using std::chrono::seconds;

class StoreDeliveryList : public StoreFixture {
 protected:
  DeliveryPage page(const DeliveryFilter& filter = {}, int limit = kListMax,
                    const std::optional<std::string>& cursor = std::nullopt) {
    auto page = store_->deliveries(filter, limit, cursor);
    EXPECT_OK(page);
    return page.ok() ? *std::move(page) : DeliveryPage();
  }
  std::vector<DeliverySummary> rows(const DeliveryFilter& filter = {}) { return page(filter).items; }
  // All pages of that size, as "N destination" where N counts the accepted events from 0.
  std::vector<std::string> walk(const DeliveryFilter& filter, int limit) {
    std::vector<std::string> names;
    std::optional<std::string> cursor;
    do {
      const DeliveryPage part = page(filter, limit, cursor);
      EXPECT_LE(part.items.size(), static_cast<std::size_t>(limit));
      EXPECT_EQ(part.searched_until.has_value(), part.next.has_value());
      for (const DeliverySummary& row : part.items) names.push_back(name_of(row));
      cursor = part.next;
    } while (cursor);
    return names;
  }
  std::string name_of(const DeliverySummary& row) {
    for (std::size_t i = 0; i < accepted_.size(); ++i) {
      if (accepted_[i] == row.event) return std::to_string(i) + " " + row.destination;
    }
    return "unknown";
  }
  void put(std::vector<std::string> to, const std::string& source = "shop") {
    accepted_.push_back(accept(NewEventBuilder().source(source).to(std::move(to)).build()).id);
  }

  std::vector<EventId> accepted_;
};
INSTANTIATE_TEST_SUITE_P(Backends, StoreDeliveryList, testing::ValuesIn(store_schemes()), scheme_name);

using Names = std::vector<std::string>;

TEST_P(StoreDeliveryList, NewestEventsFirstAndTheirDeliveriesByName) {
  put({"b", "a"});
  put({});
  put({"c"});
  EXPECT_EQ(walk({}, 100), (Names{"2 c", "0 a", "0 b"}));
}

TEST_P(StoreDeliveryList, APageThatIsNotTheLastSaysHowFarItLooked) {
  std::vector<Time> received;
  for (int i = 0; i < 3; ++i) {
    received.push_back(now_);
    put({"a", "b"});
    pass(seconds(1));
  }
  const DeliveryPage first = page({}, 3);
  EXPECT_EQ(first.searched_until, received[1]);
  const DeliveryPage last = page({}, 3, first.next);
  EXPECT_EQ(last.items.size(), 3u);
  EXPECT_EQ(last.searched_until, std::nullopt);
}

TEST_P(StoreDeliveryList, PagesSplitAnEventAndNothingIsLostOrTwice) {
  for (int i = 0; i < 4; ++i) put({"c", "a", "b"});
  const Names whole = walk({}, 100);
  ASSERT_EQ(whole.size(), 12u);
  for (int limit : {1, 2, 3, 5, 11, 12}) EXPECT_EQ(walk({}, limit), whole) << limit;
}

TEST_P(StoreDeliveryList, AnEventInTheMiddleOfWhichAStepEndsIsListedWhole) {
  constexpr std::size_t kEvents = 1500;
  std::vector<NewEvent> batch;
  for (std::size_t i = 0; i < kEvents; ++i) batch.push_back(NewEventBuilder().to({"a", "b", "c"}).build());
  ASSERT_OK(store_->commit(batch, {}, now_));
  for (const DeliveryFilter& filter : {DeliveryFilter{}, DeliveryFilter{.destination = "a"},
                                       DeliveryFilter{.state = DeliveryState::kPending, .destination = "c"}}) {
    std::size_t rows = 0;
    std::set<std::pair<std::string, std::string>> seen;
    std::optional<std::string> cursor;
    do {
      const DeliveryPage part = page(filter, kListMax, cursor);
      for (const DeliverySummary& row : part.items) seen.emplace(row.event.text(), row.destination);
      rows += part.items.size();
      cursor = part.next;
    } while (cursor);
    EXPECT_EQ(rows, filter.destination ? kEvents : 3 * kEvents);
    EXPECT_EQ(seen.size(), rows);
  }
}

TEST_P(StoreDeliveryList, ANameWithAnyByteIsAPlaceToGoOnFrom) {
  put({"a-b", "a%2Db", "\xc3\xa4 \"", "z"});
  const Names whole = walk({}, 100);
  EXPECT_EQ(walk({}, 1), whole);
}

TEST_P(StoreDeliveryList, InsertsMoveNoPage) {
  for (int i = 0; i < 3; ++i) put({"a", "b"});
  const DeliveryPage first = page({}, 3);
  ASSERT_TRUE(first.next);
  put({"a", "b"});
  const DeliveryPage second = page({}, 3, first.next);
  ASSERT_EQ(second.items.size(), 3u);
  EXPECT_EQ(name_of(second.items[0]), "1 b");
  EXPECT_EQ(second.next, std::nullopt);
}

TEST_P(StoreDeliveryList, EachFilterSelectsAndTheyGoTogether) {
  put({"a", "b"});
  put({"a"}, "other");
  settle(death(lease("b")));
  Claimed claimed = claim(2, "a");
  ASSERT_EQ(claimed.leases.size(), 2u);
  settle(success(claimed.leases[0]));
  EXPECT_EQ(walk({.source = "other"}, 1), Names{"1 a"});
  EXPECT_EQ(walk({.destination = "a"}, 1), (Names{"1 a", "0 a"}));
  EXPECT_EQ(walk({.state = DeliveryState::kDead}, 1), Names{"0 b"});
  EXPECT_EQ(walk({.state = DeliveryState::kDelivered}, 1), Names{"0 a"});
  EXPECT_EQ(walk({.state = DeliveryState::kInFlight}, 1), Names{"1 a"});
  EXPECT_EQ(walk({.state = DeliveryState::kPending}, 1), Names());
  EXPECT_EQ(walk({.source = "shop", .state = DeliveryState::kDead, .destination = "a"}, 1), Names());
  EXPECT_EQ(walk({.source = "shop", .state = DeliveryState::kDead, .destination = "b"}, 1), Names{"0 b"});
}

TEST_P(StoreDeliveryList, ARowHasItsEventAndItsLastAttempt) {
  const EventId id = accept(NewEventBuilder().key("k").type("").build()).id;
  const DeliverySummary fresh = rows().at(0);
  EXPECT_EQ(fresh.event, id);
  EXPECT_EQ(fresh.source, "shop");
  EXPECT_EQ(fresh.type, "");
  EXPECT_EQ(fresh.key, "k");
  EXPECT_EQ(fresh.received_at, now_);
  EXPECT_EQ(fresh.attempts, 0);
  EXPECT_EQ(fresh.next_attempt_at, now_);
  EXPECT_EQ(fresh.last_status, 0);
  settle(failure(lease(), seconds(7)));
  const DeliverySummary failed = rows().at(0);
  EXPECT_EQ(failed.attempts, 1);
  EXPECT_EQ(failed.last_status, 500);
  EXPECT_EQ(failed.last_error, "it did not work");
  EXPECT_EQ(failed.next_attempt_at, now_ + seconds(7));
  pass(seconds(7));
  const Lease second = lease();
  const DeliverySummary running = rows().at(0);
  EXPECT_EQ(running.state, DeliveryState::kInFlight);
  EXPECT_EQ(running.attempts, 2);
  EXPECT_EQ(running.last_status, 500) << "of the one that has ended";
  EXPECT_EQ(running.next_attempt_at, std::nullopt);
  settle(success(second));
  const DeliverySummary done = rows().at(0);
  EXPECT_EQ(done.last_status, 200);
  EXPECT_EQ(done.last_error, "");
  EXPECT_EQ(done.delivered_at, now_);
}

TEST_P(StoreDeliveryList, AHeldOneIsPendingWithoutATime) {
  for (int i = 0; i < 2; ++i) accept(NewEventBuilder().ordering_key("o").ordered({"backend"}).build());
  const std::vector<DeliverySummary> both = rows({.state = DeliveryState::kPending});
  ASSERT_EQ(both.size(), 2u);
  EXPECT_EQ(both[0].next_attempt_at, std::nullopt);
  EXPECT_EQ(both[1].next_attempt_at, now_);
}

TEST_P(StoreDeliveryList, ACursorThatIsNoneIsRefused) {
  for (const char* cursor : {"x", "-a", "5-%zz", "", "12345678901234567890"}) {
    EXPECT_EQ(store_->deliveries({}, 10, cursor).code(), Code::kInvalid) << cursor;
  }
}

TEST_P(StoreDeliveryList, FarBehindManyOthersTheyAreStillFound) {  // beyond what one step looks at
  constexpr int kBatches = 3;
  // A step of Redis is smaller, and each of its keys is removed with a sync of its own.
  const int in_batch = GetParam() == "redis" ? 400 : 4'200;
  put({"a"});
  for (int batch = 0; batch < kBatches; ++batch) {
    std::vector<NewEvent> events;
    for (int i = 0; i < in_batch; ++i) events.push_back(NewEventBuilder().to({}).build());
    ASSERT_OK(store_->commit(events, {}, now_));
  }
  EXPECT_EQ(walk({.state = DeliveryState::kPending}, 10), Names{"0 a"});
  EXPECT_EQ(walk({.destination = "a"}, 10), Names{"0 a"});
}

TEST_P(StoreDeliveryList, AReplayGoesInPartsOfTheSizeThatIsAskedFor) {
  for (int i = 0; i < 5; ++i) {
    accept(NewEventBuilder().build());
    settle(death(lease()));
  }
  ReplayRequest request;
  request.dead_only = true;
  request.limit = 2;
  std::vector<std::size_t> parts;
  do {
    const Replayed part = replay(request);
    parts.push_back(part.deliveries.size());
    request.cursor = part.next;
  } while (request.cursor && parts.size() < 10);
  EXPECT_EQ(parts, (std::vector<std::size_t>{2, 2, 1}));
  EXPECT_EQ(rows({.state = DeliveryState::kPending}).size(), 5u);
}

}  // namespace
}  // namespace hookonce
