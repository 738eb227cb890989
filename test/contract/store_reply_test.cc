// How every store backend serves synchronous sources: the first attempt leased with the event, the answer kept.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "test/contract/store_fixture.h"

namespace hookonce {
namespace {

using std::chrono::seconds;

class StoreReply : public StoreFixture {
 protected:
  static NewEventBuilder sync_event(const std::string& key) {
    NewEventBuilder builder;
    builder.key(key).first_lease(kLease);
    return builder;
  }
  static Settlement replied(const Lease& lease, Reply reply) {
    Settlement settlement = success(lease);
    settlement.reply = std::move(reply);
    return settlement;
  }
  std::optional<Reply> reply_of(const EventId& id) {
    const auto reply = store_->reply(id);
    EXPECT_OK(reply);
    return reply.ok() && *reply ? (*reply)->reply : std::nullopt;
  }
  std::optional<EventState> state_of(const EventId& id) {
    const auto reply = store_->reply(id);
    EXPECT_OK(reply);
    return reply.ok() && *reply ? std::optional((*reply)->state) : std::nullopt;
  }
  const Reply kReply{201, "application/json", std::string("{\"a\":\0}", 8)};
};
INSTANTIATE_TEST_SUITE_P(Backends, StoreReply, testing::ValuesIn(store_schemes()), scheme_name);

TEST_P(StoreReply, AFirstArrivalIsLeasedInItsOwnTransaction) {
  const AcceptFacts facts = accept(sync_event("k").forwarded_trusted(true).build());
  ASSERT_NE(facts.lease, nullptr);
  EXPECT_FALSE(facts.new_delivery) << "nothing is left for the dispatcher";
  const Lease& lease = *facts.lease;
  EXPECT_EQ(lease.event, facts.id);
  EXPECT_EQ(lease.destination, "backend");
  EXPECT_EQ(lease.attempt, 1);
  EXPECT_EQ(lease.counted, 1);
  EXPECT_EQ(lease.until, now_ + kLease);
  EXPECT_EQ(lease.source, "shop");
  EXPECT_EQ(lease.type, "order.paid");
  EXPECT_EQ(lease.received_at, now_);
  EXPECT_TRUE(lease.forwarded_trusted);
  EXPECT_EQ(*lease.body, "{\"paid\":true}");
  ASSERT_NE(lease.headers, nullptr);
  EXPECT_EQ(lease.headers->first("Content-Type"), "application/json");
  EXPECT_TRUE(claim().leases.empty());
  EXPECT_EQ(get(facts.id).deliveries.at(0).state, DeliveryState::kInFlight);
}

TEST_P(StoreReply, ALeaseThatRanOutIsAnAttemptAsAnyOther) {
  const AcceptFacts facts = accept(sync_event("k").build());
  pass(kLease);
  const Lease second = lease();
  EXPECT_EQ(second.attempt, 2);
  EXPECT_EQ(get(facts.id).deliveries.at(0).attempts.at(0).outcome, Outcome::kUnknown);
}

TEST_P(StoreReply, ADuplicateGetsTheReply) {
  const AcceptFacts first = accept(sync_event("k").build());
  AcceptFacts early = accept(sync_event("k").build());
  EXPECT_EQ(early.verdict, Verdict::kDuplicate);
  EXPECT_EQ(early.lease, nullptr);
  EXPECT_EQ(early.reply, std::nullopt);
  EXPECT_EQ(reply_of(first.id), std::nullopt);
  EXPECT_TRUE(settle(replied(*first.lease, kReply)).taken);
  EXPECT_EQ(reply_of(first.id), kReply);
  EXPECT_EQ(accept(sync_event("k").build()).reply, kReply);
  EXPECT_EQ(accept(NewEventBuilder().key("k").build()).reply, std::nullopt) << "nobody asked";
}

TEST_P(StoreReply, TheFirstReplyStays) {
  const AcceptFacts first = accept(sync_event("k").build());
  settle(replied(*first.lease, kReply));
  ReplayRequest request;
  request.ids = {first.id};
  replay(request);
  settle(replied(lease(), Reply{200, "text/plain", "later"}));
  EXPECT_EQ(reply_of(first.id), kReply);
}

TEST_P(StoreReply, AnOutcomeThatIsNotTakenLeavesNoReply) {
  const AcceptFacts first = accept(sync_event("k").build());
  pass(kLease);
  const Lease second = lease();
  EXPECT_FALSE(settle(replied(*first.lease, kReply)).taken);
  EXPECT_EQ(reply_of(first.id), std::nullopt);
  settle(replied(second, Reply{200, "", ""}));
  EXPECT_EQ(reply_of(first.id), (Reply{200, "", ""}));
}

TEST_P(StoreReply, ItSaysWhetherAReplyMayStillCome) {
  const AcceptFacts facts = accept(sync_event("k").build());
  EXPECT_EQ(state_of(facts.id), EventState::kPending) << "in flight";
  settle(failure(*facts.lease, seconds(1)));
  EXPECT_EQ(state_of(facts.id), EventState::kPending) << "waits for its next attempt";
  pass(seconds(1));
  settle(death(lease()));
  EXPECT_EQ(state_of(facts.id), EventState::kDead);
  accept(sync_event("k").build());
  EXPECT_EQ(state_of(facts.id), EventState::kPending) << "a duplicate has armed it again";
  settle(success(lease()));
  EXPECT_EQ(state_of(facts.id), EventState::kDelivered);
  EXPECT_EQ(reply_of(facts.id), std::nullopt) << "and no reply was kept";
  const EventId unwanted = accept(NewEventBuilder().key("unwanted").to({}).build()).id;
  EXPECT_EQ(state_of(unwanted), EventState::kDelivered);
  EXPECT_EQ(state_of(accept(NewEventBuilder().key("two").to({"a", "b"}).build()).id), EventState::kPending);
}

TEST_P(StoreReply, AReplyGoesWithItsEvent) {
  const AcceptFacts first = accept(sync_event("k").window(seconds(1)).build());
  settle(replied(*first.lease, Reply{200, "text/plain", std::string(kReplyMax, 'x')}));
  EXPECT_EQ(reply_of(first.id)->body.size(), kReplyMax);
  pass(seconds(100));
  ASSERT_OK(store_->prune({now_, now_}));
  EXPECT_EQ(state_of(first.id), std::nullopt);
  EXPECT_EQ(state_of(EventId::make(now_)), std::nullopt);
}

}  // namespace
}  // namespace hookonce
