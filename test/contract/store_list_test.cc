// What every store backend finds again, in which order, and what it counts.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "test/contract/store_fixture.h"

namespace hookonce {
namespace {

using std::chrono::seconds;

class StoreList : public StoreFixture {
 protected:
  // In the order of acceptance.
  std::vector<EventId> accept_many(int events, const std::vector<std::string>& to) {
    constexpr int kBatch = 500;
    std::vector<EventId> ids;
    for (int done = 0; done < events; done += kBatch) {
      std::vector<NewEvent> batch;
      for (int i = done; i < std::min(events, done + kBatch); ++i) batch.push_back(NewEventBuilder().to(to).build());
      const auto committed = store_->commit(batch, {}, now_);
      EXPECT_OK(committed);
      if (!committed.ok()) return ids;
      for (const AcceptFacts& facts : committed->accepts) ids.push_back(facts.id);
    }
    return ids;
  }
  // All pages, empty ones on the way too.
  std::vector<EventId> walk(const EventFilter& filter, int limit) {
    std::vector<EventId> ids;
    std::optional<std::string> cursor;
    do {
      const auto page = store_->list(filter, limit, cursor);
      EXPECT_OK(page);
      if (!page.ok()) return ids;
      EXPECT_EQ(page->searched_until.has_value(), page->next.has_value());
      for (const EventSummary& item : page->items) ids.push_back(item.id);
      cursor = page->next;
    } while (cursor);
    return ids;
  }
};
INSTANTIATE_TEST_SUITE_P(Backends, StoreList, testing::ValuesIn(store_schemes()), scheme_name);

TEST_P(StoreList, ListsAreNewestFirstAndPageWithoutGapsUnderInserts) {
  std::vector<EventId> ids;
  for (int i = 0; i < 10; ++i) ids.push_back(accept(NewEventBuilder().build()).id);  // all of one instant
  std::reverse(ids.begin(), ids.end());
  std::vector<EventId> seen;
  std::optional<std::string> cursor;
  do {
    const auto page = store_->list({}, 3, cursor);
    ASSERT_OK(page);
    for (const EventSummary& item : page.value().items) seen.push_back(item.id);
    cursor = page.value().next;
    accept(NewEventBuilder().build());
  } while (cursor);
  EXPECT_EQ(seen, ids);
}

TEST_P(StoreList, TheLastPageHasNoCursor) {
  for (int i = 0; i < 4; ++i) accept(NewEventBuilder().build());
  const auto first = store_->list({}, 2, std::nullopt);
  ASSERT_TRUE(first.value().next.has_value());
  EXPECT_FALSE(store_->list({}, 2, first.value().next).value().next.has_value());
}

TEST_P(StoreList, APageThatIsNotTheLastSaysHowFarItLooked) {
  std::vector<Time> received;
  for (int i = 0; i < 4; ++i) {
    received.push_back(now_);
    accept(NewEventBuilder().build());
    pass(seconds(1));
  }
  const auto first = store_->list({}, 3, std::nullopt);
  ASSERT_OK(first);
  EXPECT_EQ(first->searched_until, received[1]);
  const auto last = store_->list({}, 3, first->next);
  ASSERT_OK(last);
  EXPECT_EQ(last->items.size(), 1u);
  EXPECT_EQ(last->searched_until, std::nullopt);
}

TEST_P(StoreList, PendingEventsBehindManyNewerOnesAreAllFoundOnce) {
  std::vector<EventId> pending = accept_many(300, {"backend"});
  accept_many(9000, {});
  std::reverse(pending.begin(), pending.end());
  EXPECT_EQ(walk({.state = EventState::kPending}, 250), pending);
  EXPECT_EQ(walk({.type = "order.paid", .state = EventState::kPending}, 250), pending);
}

TEST_P(StoreList, ARareTypeAmongManyIsFoundByGoingOn) {
  const EventId rare = accept(NewEventBuilder().type("rare").build()).id;
  pass(seconds(1));
  const Time later = now_;
  accept_many(7000, {});
  EXPECT_EQ(walk({.type = "rare"}, 50), std::vector<EventId>{rare});
  EXPECT_EQ(walk({.source = "shop", .until = later}, 50), std::vector<EventId>{rare});
  EXPECT_EQ(walk({.type = "rare", .since = later}, 50), std::vector<EventId>{});
}

TEST_P(StoreList, AForeignCursorIsInvalid) {
  for (const char* text : {"x", "-1", "", "1 "}) EXPECT_EQ(store_->list({}, 1, text).code(), Code::kInvalid) << text;
}

TEST_P(StoreList, FiltersNarrowByFieldsAndTime) {
  const EventId a = accept(NewEventBuilder().key("k1").build()).id;
  pass(seconds(1));
  const EventId b = accept(NewEventBuilder().source("other").type("t2").key("k2").build()).id;
  EXPECT_EQ(list({.source = "other"}), std::vector<EventId>{b});
  EXPECT_EQ(list({.type = "order.paid"}), std::vector<EventId>{a});
  EXPECT_EQ(list({.type = "order"}), std::vector<EventId>{});
  EXPECT_EQ(list({.source = "nobody"}), std::vector<EventId>{});
  EXPECT_EQ(list({.since = now_}), std::vector<EventId>{b});
  EXPECT_EQ(list({.until = now_}), std::vector<EventId>{a});
  EXPECT_EQ(list({.source = "shop", .type = "t2"}), std::vector<EventId>{});
}

TEST_P(StoreList, StatesFilterTheList) {
  const EventId done = accept(NewEventBuilder().build()).id;
  settle(success(lease()));
  const EventId dead = accept(NewEventBuilder().build()).id;
  settle(death(lease()));
  const EventId mixed = accept(NewEventBuilder().to({"a", "b"}).build()).id;
  settle(death(lease("a")));
  const EventId nowhere = accept(NewEventBuilder().to({}).build()).id;
  EXPECT_EQ(list({.state = EventState::kPending}), std::vector<EventId>{mixed});
  EXPECT_EQ(list({.state = EventState::kDead}), std::vector<EventId>{dead});
  EXPECT_EQ(list({.state = EventState::kDelivered}), (std::vector<EventId>{nowhere, done}));
}

TEST_P(StoreList, AKeyFindsEveryEventThatIsShownWithIt) {
  std::vector<EventId> ids;
  for (int i = 0; i < 3; ++i) {  // the window ends in between, so each is an event of its own
    ids.push_back(accept(NewEventBuilder().key("k").window(seconds(1)).build()).id);
    pass(seconds(1));
  }
  ids.push_back(accept(NewEventBuilder().source("other").key("k").build()).id);
  accept(NewEventBuilder().key("K").build());
  std::reverse(ids.begin(), ids.end());
  EXPECT_EQ(list({.key = "k"}), ids);
  EXPECT_EQ(list({.source = "other", .key = "k"}), std::vector<EventId>{ids[0]});
  EXPECT_EQ(list({.key = "none"}), std::vector<EventId>{});
  EXPECT_EQ(walk({.key = "k"}, 1), ids);
}

TEST_P(StoreList, AKeyOfTwoSourcesPagesThroughBoth) {
  std::vector<EventId> ids;
  for (int i = 0; i < 3; ++i) {
    for (const char* source : {"shop", "other"}) {
      ids.insert(ids.begin(), accept(NewEventBuilder().source(source).key("k").window(seconds(1)).build()).id);
    }
    pass(seconds(1));
  }
  EXPECT_EQ(walk({.key = "k"}, 1), ids);
}

// A duplicate brings the batch a key that newer events have held.
TEST_P(StoreList, ABatchThatGotAKeyLaterIsOnItsPageToo) {
  const auto taken = [this] { return accept(NewEventBuilder().key("k").window(seconds(1)).build()).id; };
  const EventId oldest = taken();
  pass(seconds(1));
  const EventId batch = accept(NewEventBuilder().item("item").build()).id;
  const EventId newest = taken();
  pass(seconds(1));
  EXPECT_EQ(accept(NewEventBuilder().key("item").also("a").build()).id, batch);
  EXPECT_EQ(accept(NewEventBuilder().key("k").also("a").build()).id, batch);
  EXPECT_EQ(walk({.key = "k"}, 1), (std::vector<EventId>{newest, batch, oldest}));
}

TEST_P(StoreList, TheQueryIsDataAndIgnoresLetterCase) {
  const EventId a = accept(NewEventBuilder().key("evt_100%").build()).id;
  const EventId b = accept(NewEventBuilder().key("evt_1000").build()).id;
  EXPECT_EQ(list({.query = "100%"}), std::vector<EventId>{a});
  EXPECT_EQ(list({.query = "t_1_0"}), std::vector<EventId>{});
  EXPECT_EQ(list({.query = "' OR 1=1 --"}), std::vector<EventId>{});
  EXPECT_EQ(list({.query = "ORDER.paid"}), (std::vector<EventId>{b, a}));
  EXPECT_EQ(list({.query = a.text().substr(20)}), std::vector<EventId>{a});
}

TEST_P(StoreList, TheQueryLooksIntoBodiesWhereTheBackendCan) {
  const EventId a = accept(NewEventBuilder().body("Hello World").build()).id;
  const EventId b = accept(NewEventBuilder().body(std::string("nul\0Needle", 10)).build()).id;
  const bool found = searches_bodies(GetParam());
  EXPECT_EQ(list({.query = "hello w"}), found ? std::vector<EventId>{a} : std::vector<EventId>{});
  EXPECT_EQ(list({.query = "needle"}), found ? std::vector<EventId>{b} : std::vector<EventId>{});
}

// Bytes that a database writes as escapes, and text that looks like one.
TEST_P(StoreList, TheQueryMeetsBytesAndNeverTheirEscapes) {
  if (!searches_bodies(GetParam())) return;
  const EventId bytes = accept(NewEventBuilder().body(std::string("\0\xc3\xa9|", 4)).build()).id;
  const EventId text = accept(NewEventBuilder().body("\\303\\\\000 \\x41").build()).id;
  EXPECT_EQ(list({.query = std::string("\0\xc3", 2)}), std::vector<EventId>{bytes});
  EXPECT_EQ(list({.query = "\xa9|"}), std::vector<EventId>{bytes});
  EXPECT_EQ(list({.query = "303\\"}), std::vector<EventId>{text});
  EXPECT_EQ(list({.query = "\\303"}), std::vector<EventId>{text});
  EXPECT_EQ(list({.query = "\\000"}), std::vector<EventId>{text});
  EXPECT_EQ(list({.query = "03\\251"}), std::vector<EventId>{});
  EXPECT_EQ(list({.query = "\\X41"}), std::vector<EventId>{text});
}

TEST_P(StoreList, StatsCountDeliveriesByState) {
  accept(NewEventBuilder().to({"a", "b"}).build());
  pass(seconds(5));
  accept(NewEventBuilder().to({"a"}).build());
  lease("a");
  settle(death(lease("b")));
  const auto stats = store_->stats(now_);
  ASSERT_OK(stats);
  EXPECT_EQ(stats.value().events, 2);
  EXPECT_EQ(stats.value().pending, 1);
  EXPECT_EQ(stats.value().in_flight, 1);
  EXPECT_EQ(stats.value().dead, 1);
  EXPECT_EQ(stats.value().oldest_pending, now_);
  EXPECT_EQ(stats.value().pending_by_destination, (std::vector<std::pair<std::string, std::int64_t>>{{"a", 2}}));
}

}  // namespace
}  // namespace hookonce
