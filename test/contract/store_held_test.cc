// What every store backend says of why a delivery waits.
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "test/contract/store_fixture.h"

namespace hookonce {
namespace {

using std::chrono::seconds;

class StoreHeld : public StoreFixture {
 protected:
  EventId accept_ordered(const std::string& ordering_key = "k", const std::string& source = "shop") {
    return accept(NewEventBuilder().source(source).ordering_key(ordering_key).ordered({"backend"}).build()).id;
  }
  // Of the event's first delivery, which its detail and the list have to tell alike.
  std::optional<Hold> held(const EventId& id) {
    const EventDetail detail = get(id);
    const auto page = store_->deliveries({}, kListMax, std::nullopt);
    EXPECT_OK(page);
    for (const DeliverySummary& row : page->items) {
      if (row.event != id || row.destination != detail.deliveries.at(0).destination) continue;
      EXPECT_EQ(row.held, detail.deliveries.at(0).held) << id.text();
    }
    return detail.deliveries.at(0).held;
  }
  void set_paused(const std::string& destination, bool paused) { ASSERT_OK(store_->set_paused(destination, paused)); }
  void replay_one(const EventId& id) {
    ReplayRequest request;
    request.ids = {id};
    replay(request);
  }
};
INSTANTIATE_TEST_SUITE_P(Backends, StoreHeld, testing::ValuesIn(store_schemes()), scheme_name);

std::optional<Hold> behind(const EventId& id) {
  return Hold{HeldBy::kLine, id};
}

TEST_P(StoreHeld, OneThatMayBeClaimedIsHeldByNothing) {
  const EventId id = accept(NewEventBuilder().build()).id;
  EXPECT_EQ(held(id), std::nullopt);
  settle(failure(lease(), seconds(60)));
  EXPECT_EQ(held(id), std::nullopt) << "it waits for its time alone";
}

TEST_P(StoreHeld, InALineAllWaitBehindItsHead) {
  const EventId first = accept_ordered();
  const EventId second = accept_ordered();
  const EventId third = accept_ordered();
  const EventId other_key = accept_ordered("l");
  const EventId other_source = accept_ordered("k", "other");
  EXPECT_EQ(held(first), std::nullopt);
  EXPECT_EQ(held(second), behind(first));
  EXPECT_EQ(held(third), behind(first));
  EXPECT_EQ(held(other_key), std::nullopt);
  EXPECT_EQ(held(other_source), std::nullopt);
  settle(success(lease()));
  EXPECT_EQ(held(first), std::nullopt);
  EXPECT_EQ(held(second), std::nullopt);
  EXPECT_EQ(held(third), behind(second));
}

TEST_P(StoreHeld, ADeadHeadIsNamedUntilItIsSentAgain) {
  const EventId first = accept_ordered();
  const EventId second = accept_ordered();
  settle(death(lease()));
  EXPECT_EQ(held(first), std::nullopt) << "a dead one waits for nobody";
  EXPECT_EQ(held(second), behind(first));
  replay_one(first);
  EXPECT_EQ(held(second), behind(first));
  settle(success(lease()));
  EXPECT_EQ(held(second), std::nullopt);
}

TEST_P(StoreHeld, OneThatWasReplayedRunsOutsideItsLine) {
  accept_ordered();
  const EventId second = accept_ordered();
  replay_one(second);
  EXPECT_EQ(held(second), std::nullopt);
}

TEST_P(StoreHeld, ALineThatIsGivenUpHoldsNobody) {
  accept_ordered();
  const EventId second = accept_ordered();
  ASSERT_OK(store_->apply_line_rule({"backend", false, false}, now_));
  EXPECT_EQ(held(second), std::nullopt);
}

TEST_P(StoreHeld, APauseHoldsWhatIsPending) {
  const EventId running = accept(NewEventBuilder().build()).id;
  const Lease first = lease();
  const EventId waiting = accept(NewEventBuilder().build()).id;
  const EventId elsewhere = accept(NewEventBuilder().to({"other"}).build()).id;
  set_paused("backend", true);
  EXPECT_EQ(held(running), std::nullopt) << "in flight";
  EXPECT_EQ(held(waiting), (Hold{HeldBy::kPaused, std::nullopt}));
  EXPECT_EQ(held(elsewhere), std::nullopt);
  settle(success(first));
  EXPECT_EQ(held(running), std::nullopt) << "delivered";
  set_paused("backend", false);
  EXPECT_EQ(held(waiting), std::nullopt);
}

// Whoever resumes the destination is told what comes next, and whoever replays the head first gains nothing.
TEST_P(StoreHeld, APauseGoesBeforeALineAndTheHeadIsNamedAllTheSame) {
  const EventId first = accept_ordered();
  const EventId second = accept_ordered();
  set_paused("backend", true);
  EXPECT_EQ(held(first), (Hold{HeldBy::kPaused, std::nullopt}));
  EXPECT_EQ(held(second), (Hold{HeldBy::kPaused, first}));
  set_paused("backend", false);
  EXPECT_EQ(held(second), behind(first));
}

TEST_P(StoreHeld, OrderingKeysOfAnyBytesAndLengthHaveAHead) {
  for (const std::string& key : {std::string("a:b"), std::string("\0\xff", 2), std::string(), std::string(5000, 'k')}) {
    const EventId first = accept_ordered(key);
    const EventId second = accept_ordered(key);
    EXPECT_EQ(held(second), behind(first)) << key.size();
  }
}

TEST_P(StoreHeld, OfSeveralDestinationsEachHasItsOwn) {
  const auto event = [] { return NewEventBuilder().ordering_key("k").to({"a", "b", "c"}).ordered({"a", "b"}).build(); };
  const EventId first = accept(event()).id;
  const EventId second = accept(event()).id;
  settle(success(lease("a")));
  set_paused("c", true);
  const EventDetail detail = get(second);
  EXPECT_EQ(detail.deliveries.at(0).held, std::nullopt);
  EXPECT_EQ(detail.deliveries.at(1).held, behind(first));
  EXPECT_EQ(detail.deliveries.at(2).held, (Hold{HeldBy::kPaused, std::nullopt}));
}

}  // namespace
}  // namespace hookonce
