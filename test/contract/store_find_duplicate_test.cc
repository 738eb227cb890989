// What a duplicate is told when its own record cannot be written: the same as commit() would say, without writing.
#include <gtest/gtest.h>

#include "test/contract/store_fixture.h"

namespace hookonce {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

class StoreFindDuplicate : public StoreFixture {
 protected:
  std::optional<AcceptFacts> find(const NewEvent& event) {
    const auto found = store_->find_duplicate(event, now_);
    EXPECT_TRUE(found.ok()) << found.status().message();
    return found.ok() ? *found : std::nullopt;
  }
};
INSTANTIATE_TEST_SUITE_P(Backends, StoreFindDuplicate, testing::ValuesIn(store_schemes()), scheme_name);

TEST_P(StoreFindDuplicate, NamesTheEventThatHoldsTheKeyAndChangesNothing) {
  EXPECT_FALSE(find(NewEventBuilder().key("evt_1").build()));
  const AcceptFacts first = accept(NewEventBuilder().key("evt_1").build());
  pass(seconds(5));
  for (int i = 0; i < 3; ++i) {
    const auto facts = find(NewEventBuilder().key("evt_1").build());
    ASSERT_TRUE(facts);
    EXPECT_EQ(facts->verdict, Verdict::kDuplicate);
    EXPECT_EQ(facts->id, first.id);
    EXPECT_EQ(facts->first_at, first.first_at);
    EXPECT_TRUE(facts->same_body);
  }
  EXPECT_FALSE(find(NewEventBuilder().key("evt_1").body("other").build())->same_body);
  EXPECT_EQ(get(first.id).summary.duplicates, 0);
}

TEST_P(StoreFindDuplicate, AnotherSourceAnotherKeyNoKeyAndAnExpiredKeyAreNone) {
  accept(NewEventBuilder().key("evt_1").window(hours(1)).build());
  EXPECT_FALSE(find(NewEventBuilder().key("evt_2").build()));
  EXPECT_FALSE(find(NewEventBuilder().key("evt_1").source("other").build()));
  EXPECT_FALSE(find(NewEventBuilder().build()));
  pass(hours(1) - seconds(1));
  EXPECT_TRUE(find(NewEventBuilder().key("evt_1").build()));
  pass(seconds(1));
  EXPECT_FALSE(find(NewEventBuilder().key("evt_1").build()));
}

TEST_P(StoreFindDuplicate, TheOldestHolderCountsAndOneNewKeyOfEachMakesAnEvent) {
  const AcceptFacts first = accept(NewEventBuilder().key("evt_1").build());
  accept(NewEventBuilder().key("evt_2").build());
  NewEvent both = NewEventBuilder().key("evt_2").key("evt_1").build();
  EXPECT_EQ(find(both)->id, first.id);
  both = NewEventBuilder().key("evt_1").key("evt_3").rule(KeyRule::kEach).build();
  EXPECT_FALSE(find(both));
}

TEST_P(StoreFindDuplicate, OneThatWouldRearmADeadDeliveryIsNotAnsweredUnrecorded) {
  const AcceptFacts first = accept(NewEventBuilder().key("evt_1").build());
  AttemptResult refused;
  refused.status = 410;
  settle(decide(lease(), refused, RetryPolicy(), 0.5));
  EXPECT_FALSE(find(NewEventBuilder().key("evt_1").build()));
  EXPECT_EQ(find(NewEventBuilder().key("evt_1").rearm(false).build())->id, first.id);
}

}  // namespace
}  // namespace hookonce
