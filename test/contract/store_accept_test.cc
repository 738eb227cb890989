// What every store backend does with arrivals: which is an event, which a duplicate, and what is kept of both.
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "test/contract/store_fixture.h"

namespace hookonce {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

class StoreAccept : public StoreFixture {};
INSTANTIATE_TEST_SUITE_P(Backends, StoreAccept, testing::ValuesIn(store_schemes()), scheme_name);

TEST_P(StoreAccept, WhatGoesInComesOutByteForByte) {
  NewEventBuilder builder;
  const std::string bytes("\0\xff\xed\xa0\x80{", 6);
  Arrival arrival;
  arrival.at = now_ - milliseconds(3);
  arrival.remote = "2001:db8::1";
  arrival.retry = RetryHint{1, "http_timeout"};
  arrival.provider_time = now_ - seconds(1);
  arrival.secret = 2;
  arrival.signature_hash = body_hash("signature");
  const Headers headers{{"X-Empty", ""}, {"x-twice", "1"}, {"X-Twice", "2"}, {"X-Bytes", bytes}};
  NewEvent event = builder.key("evt_1").type(bytes).body(bytes + "body").headers(headers).ordering_key(bytes).build();
  const KeyHash hash = event.arrival.body_hash;
  arrival.body_hash = hash;
  event.arrival = arrival;
  const EventId id = event.id;
  const AcceptFacts facts = accept(std::move(event));
  EXPECT_EQ(facts.verdict, Verdict::kAccepted);
  EXPECT_EQ(facts.id, id);
  EXPECT_EQ(facts.first_at, now_);
  EXPECT_TRUE(facts.new_delivery);

  const EventDetail detail = get(id);
  EXPECT_EQ(detail.summary.source, "shop");
  EXPECT_EQ(detail.summary.type, bytes);
  EXPECT_EQ(detail.summary.key, "evt_1");
  EXPECT_EQ(detail.summary.size, bytes.size() + 4);
  EXPECT_EQ(detail.summary.received_at, now_);
  EXPECT_EQ(detail.summary.state, EventState::kPending);
  EXPECT_EQ(detail.body, bytes + "body");
  EXPECT_EQ(detail.headers, headers);
  EXPECT_EQ(detail.ordering_key, bytes);
  ASSERT_EQ(detail.arrivals.size(), 1u);
  EXPECT_EQ(detail.arrivals[0].arrival, arrival);
  ASSERT_EQ(detail.deliveries.size(), 1u);
  EXPECT_EQ(detail.deliveries[0].destination, "backend");
  EXPECT_EQ(detail.deliveries[0].next_attempt_at, now_);
}

TEST_P(StoreAccept, AnEmptyBodyAndNoHeadersAreAnEvent) {
  NewEvent event = NewEventBuilder().body("").headers({}).type("").build();
  const EventId id = event.id;
  accept(std::move(event));
  EXPECT_EQ(get(id).body, "");
  EXPECT_TRUE(get(id).headers.items().empty());
  EXPECT_EQ(get(id).summary.key, std::nullopt);
}

TEST_P(StoreAccept, AnUnknownIdIsNoEvent) {
  EXPECT_FALSE(store_->get(EventId::make(now_)).value().has_value());
}

TEST_P(StoreAccept, AnEqualKeyIsADuplicateOfTheFirst) {
  const EventId first = accept(NewEventBuilder().key("k").build()).id;
  pass(seconds(5));
  const AcceptFacts facts = accept(NewEventBuilder().key("k").body("other").build());
  EXPECT_EQ(facts.verdict, Verdict::kDuplicate);
  EXPECT_EQ(facts.id, first);
  EXPECT_EQ(facts.first_at, kTestStart);
  EXPECT_FALSE(facts.same_body);
  EXPECT_FALSE(facts.new_delivery);
  const EventDetail detail = get(first);
  EXPECT_EQ(detail.summary.duplicates, 1);
  ASSERT_EQ(detail.arrivals.size(), 2u);
  EXPECT_EQ(detail.arrivals[1].verdict, Verdict::kDuplicate);
  EXPECT_FALSE(detail.arrivals[1].same_body);
  EXPECT_EQ(list().size(), 1u);
}

TEST_P(StoreAccept, ADuplicateIsToldOfTheFirstArrival) {
  Arrival arrival;
  arrival.at = now_ - milliseconds(3);
  arrival.secret = 2;
  arrival.signature_hash = body_hash("signature");
  const EventId first = accept(NewEventBuilder().key("k").arrival(arrival).build()).id;
  const FirstArrival expected{arrival.at, 2, arrival.signature_hash};
  pass(seconds(5));
  arrival.at = now_;
  arrival.secret = 0;
  arrival.signature_hash = body_hash("another");
  const AcceptFacts facts = accept(NewEventBuilder().key("k").arrival(arrival).build());
  EXPECT_EQ(facts.first, expected);
  EXPECT_TRUE(facts.same_key);
  const EventDetail detail = get(first);
  ASSERT_EQ(detail.arrivals.size(), 2u);
  EXPECT_EQ(detail.arrivals[1].arrival.signature_hash, arrival.signature_hash);
  EXPECT_TRUE(detail.arrivals[1].same_key);

  std::vector<NewEvent> twins;  // Within one batch too.
  for (int i = 0; i < 2; ++i) twins.push_back(NewEventBuilder().key("twin").arrival(arrival).build());
  const auto both = store_->commit(twins, {}, now_);
  ASSERT_OK(both);
  EXPECT_EQ(both.value().accepts[0].first, std::nullopt);
  EXPECT_EQ(both.value().accepts[1].first, (FirstArrival{arrival.at, 0, arrival.signature_hash}));
}

TEST_P(StoreAccept, ADuplicateByAnotherKeyIsToldApart) {
  const EventId first = accept(NewEventBuilder().key("a").also("x").build()).id;
  EXPECT_FALSE(accept(NewEventBuilder().key("b").also("x").build()).same_key);
  // Its own key has joined the event, and is not the event's own for that.
  EXPECT_FALSE(accept(NewEventBuilder().key("b").build()).same_key);
  EXPECT_TRUE(accept(NewEventBuilder().key("a").also("y").build()).same_key);
  const std::vector<StoredArrival> arrivals = get(first).arrivals;
  ASSERT_EQ(arrivals.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(arrivals[i].same_key, i == 0 || i == 3) << i;
}

TEST_P(StoreAccept, KeysOfTwoSourcesAreApart) {
  accept(NewEventBuilder().key("k").build());
  EXPECT_EQ(accept(NewEventBuilder().source("other").key("k").build()).verdict, Verdict::kAccepted);
}

TEST_P(StoreAccept, EventsWithoutAKeyAreNeverDuplicates) {
  for (int i = 0; i < 3; ++i) EXPECT_EQ(accept(NewEventBuilder().build()).verdict, Verdict::kAccepted);
}

TEST_P(StoreAccept, EqualKeysInOneBatchCountInItsOrder) {
  std::vector<NewEvent> events;
  for (int i = 0; i < 5; ++i) events.push_back(NewEventBuilder().key("k").build());
  const EventId first = events[0].id;
  const auto facts = store_->commit(events, {}, now_);
  ASSERT_OK(facts);
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(facts.value().accepts[i].verdict, i == 0 ? Verdict::kAccepted : Verdict::kDuplicate);
    EXPECT_EQ(facts.value().accepts[i].id, first);
  }
}

TEST_P(StoreAccept, ABatchOfManyKindsIsDecidedInItsOrder) {
  std::vector<NewEvent> batch;
  batch.push_back(NewEventBuilder().key("k1").to({"a", "b"}).build());
  batch.push_back(NewEventBuilder().key("k1").also("x").to({"a", "b"}).build());
  batch.push_back(NewEventBuilder().key("k2").also("x").to({"a"}).build());
  batch.push_back(NewEventBuilder().source("other").key("k1").to({}).build());
  batch.push_back(NewEventBuilder().key("k3").to({"a"}).ordered({"a"}).ordering_key("o").build());
  batch.push_back(NewEventBuilder().source("other").key("k1").to({"a"}).build());
  batch.push_back(NewEventBuilder().key("brief").window(Duration::zero()).to({"a"}).build());
  batch.push_back(NewEventBuilder().key("brief").to({"a"}).build());
  batch.push_back(NewEventBuilder().key("brief").to({"a"}).build());
  const auto facts = store_->commit(batch, {}, now_);
  ASSERT_OK(facts);
  // For each the place of the event that it is, or is a duplicate of.
  const std::size_t first[] = {0, 0, 0, 3, 4, 3, 6, 7, 7};
  for (std::size_t i = 0; i < batch.size(); ++i) {
    const AcceptFacts& one = facts.value().accepts[i];
    EXPECT_EQ(one.id, batch[first[i]].id) << i;
    EXPECT_EQ(one.verdict, first[i] == i ? Verdict::kAccepted : Verdict::kDuplicate) << i;
    EXPECT_EQ(one.new_delivery, first[i] == i && !batch[i].destinations.empty()) << i;
  }
  EXPECT_EQ(get(batch[0].id).summary.duplicates, 2);
  EXPECT_EQ(get(batch[0].id).arrivals.size(), 3u);
  EXPECT_EQ(get(batch[3].id).summary.duplicates, 1);
  EXPECT_EQ(get(batch[3].id).summary.state, EventState::kDelivered);
  EXPECT_EQ(get(batch[7].id).summary.duplicates, 1);
  EXPECT_EQ(accept(NewEventBuilder().key("k2").build()).id, batch[0].id) << "a key that joined within the batch";
  EXPECT_EQ(accept(NewEventBuilder().key("brief").build()).id, batch[7].id);
  const Claimed claimed = claim(100, "a");
  ASSERT_EQ(claimed.leases.size(), 4u);
  const std::size_t leased[] = {0, 4, 6, 7};
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(claimed.leases[i].event, batch[leased[i]].id) << i;
}

TEST_P(StoreAccept, ALargeBatchIsWhole) {
  std::vector<NewEvent> batch;
  for (int i = 0; i < 2500; ++i) batch.push_back(NewEventBuilder().key(std::to_string(i)).build());
  const auto facts = store_->commit(batch, {}, now_);
  ASSERT_OK(facts);
  for (const AcceptFacts& one : facts.value().accepts) EXPECT_EQ(one.verdict, Verdict::kAccepted);
  EXPECT_EQ(store_->stats(now_).value().events, 2500);
  const Claimed claimed = claim(2500);
  ASSERT_EQ(claimed.leases.size(), 2500u);
  for (std::size_t i = 0; i < batch.size(); ++i) ASSERT_EQ(claimed.leases[i].event, batch[i].id) << i;
  EXPECT_EQ(accept(NewEventBuilder().key("2499").build()).id, batch[2499].id);
}

TEST_P(StoreAccept, TheWindowRunsFromTheFirstArrivalAndDuplicatesDoNotProlongIt) {
  const EventId first = accept(NewEventBuilder().key("k").window(seconds(10)).build()).id;
  pass(seconds(10) - Duration(1));
  EXPECT_EQ(accept(NewEventBuilder().key("k").window(seconds(10)).build()).id, first);
  pass(Duration(1));
  const AcceptFacts again = accept(NewEventBuilder().key("k").window(seconds(10)).build());
  EXPECT_EQ(again.verdict, Verdict::kAccepted);
  EXPECT_EQ(accept(NewEventBuilder().key("k").build()).id, again.id);
}

TEST_P(StoreAccept, AnExpiredKeyHasExactlyOneNewWinnerInABatch) {
  accept(NewEventBuilder().key("k").window(seconds(1)).build());
  pass(seconds(2));
  std::vector<NewEvent> events;
  for (int i = 0; i < 4; ++i) events.push_back(NewEventBuilder().key("k").build());
  const auto facts = store_->commit(events, {}, now_);
  ASSERT_OK(facts);
  EXPECT_EQ(facts.value().accepts[0].verdict, Verdict::kAccepted);
  for (std::size_t i = 1; i < 4; ++i) EXPECT_EQ(facts.value().accepts[i].id, events[0].id);
}

TEST_P(StoreAccept, AHitOnAnyKeyIsADuplicateAndTheMissingKeysJoinTheOldest) {
  const EventId first = accept(NewEventBuilder().key("a").also("x").build()).id;
  const AcceptFacts hit = accept(NewEventBuilder().key("b").also("x").build());
  EXPECT_EQ(hit.verdict, Verdict::kDuplicate);
  EXPECT_EQ(hit.id, first);
  EXPECT_EQ(accept(NewEventBuilder().key("b").build()).id, first);
}

TEST_P(StoreAccept, AddedKeysEndWithTheWindowOfTheEventTheyJoined) {
  accept(NewEventBuilder().key("a").also("x").window(seconds(10)).build());
  pass(seconds(9));
  accept(NewEventBuilder().key("b").also("x").window(hours(1)).build());
  pass(seconds(1));
  EXPECT_EQ(accept(NewEventBuilder().key("b").build()).verdict, Verdict::kAccepted);
}

TEST_P(StoreAccept, AmongSeveralHitsTheOldestCounts) {
  const EventId oldest = accept(NewEventBuilder().key("a").build()).id;
  accept(NewEventBuilder().also("x").build());
  EXPECT_EQ(accept(NewEventBuilder().also("x").key("a").build()).id, oldest);
}

TEST_P(StoreAccept, EachKeyRuleAcceptsWhileOneKeyIsNew) {
  const EventId first = accept(NewEventBuilder().also("1").also("2").rule(KeyRule::kEach).build()).id;
  const AcceptFacts mixed = accept(NewEventBuilder().also("2").also("3").rule(KeyRule::kEach).build());
  EXPECT_EQ(mixed.verdict, Verdict::kAccepted);
  EXPECT_EQ(accept(NewEventBuilder().also("2").rule(KeyRule::kEach).build()).id, first);
  EXPECT_EQ(accept(NewEventBuilder().also("3").rule(KeyRule::kEach).build()).id, mixed.id);
}

TEST_P(StoreAccept, ABatchNamesTheItemsThatAreNewWithIt) {
  accept(NewEventBuilder().item("1").item("2").item("3").build());
  const EventId mixed =
      accept(NewEventBuilder().item("1").item("4").item("3").item("2").item("5").item("4").build()).id;
  EXPECT_EQ(get(mixed).new_items, "1,4");
  EXPECT_EQ(accept(NewEventBuilder().item("1").item("4").item("5").build()).verdict, Verdict::kDuplicate);
  std::vector<NewEvent> together;
  together.push_back(NewEventBuilder().item("6").item("7").build());
  together.push_back(NewEventBuilder().item("7").item("8").build());
  const auto facts = store_->commit(together, {}, now_);
  ASSERT_OK(facts);
  EXPECT_EQ(get(facts.value().accepts[0].id).new_items, "0,1");
  EXPECT_EQ(get(facts.value().accepts[1].id).new_items, "1");
  EXPECT_EQ(get(accept(NewEventBuilder().key("k").build()).id).new_items, "");
}

TEST_P(StoreAccept, EveryLeaseOfABatchNamesItsNewItems) {
  accept(NewEventBuilder().item("1").build());
  EXPECT_EQ(lease().new_items, "0");
  const AcceptFacts leased = accept(NewEventBuilder().item("1").item("2").first_lease(kLease).build());
  ASSERT_TRUE(leased.lease);
  EXPECT_EQ(leased.lease->new_items, "1");
  settle(failure(*leased.lease, Duration::zero()));
  const Lease again = lease();
  EXPECT_EQ(again.event, leased.id);
  EXPECT_EQ(again.new_items, "1");
  settle(success(again));
  ReplayRequest request;
  request.ids = {leased.id};
  replay(request);
  EXPECT_EQ(lease().new_items, "1");
}

TEST_P(StoreAccept, ABatchOfAsManyItemsAsAreAllowedIsOneEvent) {
  NewEventBuilder first, second;
  std::string odd;
  for (std::size_t i = 0; i < kItemsMax; ++i) {
    const std::string key = "item " + std::to_string(i);
    if (i % 2 == 0) first.item(key);
    if (i % 2 == 1) add_item(odd, i);
    second.item(key);
  }
  accept(first.build());
  EXPECT_EQ(get(accept(second.build()).id).new_items, odd);
}

TEST_P(StoreAccept, ABatchIsFoundByTheKeyOfEachItemThatWasNewWithIt) {
  const EventId first = accept(NewEventBuilder().item("1").item("2").build()).id;
  const EventId second = accept(NewEventBuilder().item("2").item("3").build()).id;
  const EventId single = accept(NewEventBuilder().key("4").build()).id;
  accept(NewEventBuilder().build());
  EventFilter filter;
  const std::vector<std::pair<std::string, std::vector<EventId>>> expected = {
      {"1", {first}}, {"2", {first}}, {"3", {second}}, {"4", {single}}, {"5", {}}, {"", {}}};
  for (const auto& [key, ids] : expected) {
    filter.key = key;
    EXPECT_EQ(list(filter), ids) << key;
  }
}

TEST_P(StoreAccept, AnItemIsNewAgainWhenItsWindowIsOver) {
  accept(NewEventBuilder().item("1").item("2").window(seconds(10)).build());
  pass(seconds(5));
  accept(NewEventBuilder().item("3").window(seconds(100)).build());
  pass(seconds(5));
  EXPECT_EQ(get(accept(NewEventBuilder().item("1").item("2").item("3").build()).id).new_items, "0,1");
}

TEST_P(StoreAccept, AKeyThatOneBodyRepeatsDoesNotMeetItself) {
  EXPECT_EQ(accept(NewEventBuilder().also("1").also("1").build()).verdict, Verdict::kAccepted);
}

TEST_P(StoreAccept, ArrivalsBeyondTheLimitAreCountedOnly) {
  const EventId id = accept(NewEventBuilder().key("k").build()).id;
  std::vector<NewEvent> events;
  for (int i = 0; i < kArrivalsMax + 20; ++i) events.push_back(NewEventBuilder().key("k").build());
  ASSERT_OK(store_->commit(events, {}, now_));
  EXPECT_EQ(get(id).summary.duplicates, kArrivalsMax + 20);
  EXPECT_EQ(get(id).arrivals.size(), static_cast<std::size_t>(kArrivalsMax));
}

TEST_P(StoreAccept, AnEventWithoutDestinationsCountsAsDelivered) {
  const AcceptFacts facts = accept(NewEventBuilder().to({}).build());
  EXPECT_FALSE(facts.new_delivery);
  EXPECT_EQ(get(facts.id).summary.state, EventState::kDelivered);
}

TEST_P(StoreAccept, ABatchThatCannotBeStoredLeavesNothingBehind) {
  NewEvent first = NewEventBuilder().key("a").build();
  const EventId taken = first.id;
  accept(std::move(first));
  std::vector<NewEvent> events;
  events.push_back(NewEventBuilder().source("new").key("b").to({"new"}).build());
  events.push_back(NewEventBuilder().id(taken).key("c").build());
  EXPECT_EQ(store_->commit(events, {}, now_).code(), Code::kInternal);
  EXPECT_OK(store_->health());
  EXPECT_EQ(list(), std::vector<EventId>{taken});
  EXPECT_EQ(accept(NewEventBuilder().source("new").key("b").to({"new"}).build()).verdict, Verdict::kAccepted);
  EXPECT_EQ(claim(10, "new").leases.size(), 1u);
}

}  // namespace
}  // namespace hookonce
