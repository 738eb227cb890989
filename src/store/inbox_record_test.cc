#include "store/inbox_record.h"

#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <vector>

#include "test/support/event_builder.h"

namespace hookonce {
namespace {

constexpr KeyHash kKey{1, 2, 3};

InboxRecord whole_record() {
  InboxRecord record;
  record.position = 7;
  record.id = EventId::make(kTestStart, {});
  record.source = "shop";
  record.received_at = kTestStart;
  record.keys_until = kTestStart + std::chrono::hours(1);
  record.keys = {{kKey, true}};
  RecordedContent& content = record.content.emplace();
  content.type = "order.paid";
  content.key = "k";
  content.headers = Headers{{"A", "1"}};
  content.body = "body";
  content.arrivals.emplace_back();
  RecordedDelivery& delivery = content.deliveries.emplace_back();
  delivery.destination = "backend";
  delivery.record = new_delivery(kTestStart);
  delivery.record.attempt = 1;
  delivery.attempts.emplace_back().number = 1;
  return record;
}

using Change = std::function<void(InboxRecord&)>;

TEST(InboxRecord, EveryFieldThatMeansSomethingChangesTheBytes) {
  const std::vector<Change> changes = {
      [](InboxRecord& r) { r.id = EventId::make(kTestStart, {1}); },
      [](InboxRecord& r) { r.source = "other"; },
      [](InboxRecord& r) { r.received_at += Duration(1); },
      [](InboxRecord& r) { r.keys_until += Duration(1); },
      [](InboxRecord& r) { r.body_hash[0] = 1; },
      [](InboxRecord& r) { r.keys[0].held = false; },
      [](InboxRecord& r) { r.keys[0].key[0] = 9; },
      [](InboxRecord& r) {
        r.keys.push_back({KeyHash{9}, false});
      },
      [](InboxRecord& r) { r.content.reset(); },
      [](InboxRecord& r) { r.content->type = "other"; },
      [](InboxRecord& r) { r.content->key = ""; },
      [](InboxRecord& r) { r.content->key.reset(); },
      [](InboxRecord& r) { r.content->ordering_key = ""; },
      [](InboxRecord& r) { r.content->forwarded_trusted = true; },
      [](InboxRecord& r) {
        r.content->headers = Headers{{"A", "2"}};
      },
      [](InboxRecord& r) { r.content->new_items = "1"; },
      [](InboxRecord& r) { r.content->body = "Body"; },
      [](InboxRecord& r) { r.content->duplicates = 1; },
      [](InboxRecord& r) {
        r.content->reply = Reply{200, "a", "b"};
      },
      [](InboxRecord& r) {
        r.content->reply = Reply{201, "a", "b"};
      },
      [](InboxRecord& r) {
        r.content->reply = Reply{200, "ab", ""};
      },
      [](InboxRecord& r) {
        r.content->reply = Reply{200, "", "ab"};
      },
      [](InboxRecord& r) { r.content->arrivals.emplace_back(); },
      [](InboxRecord& r) { r.content->arrivals[0].same_body = false; },
      [](InboxRecord& r) { r.content->arrivals[0].verdict = Verdict::kRearmed; },
      [](InboxRecord& r) { r.content->arrivals[0].arrival.at += Duration(1); },
      [](InboxRecord& r) { r.content->arrivals[0].arrival.remote = "203.0.113.9"; },
      [](InboxRecord& r) {
        r.content->arrivals[0].arrival.retry = RetryHint{0, ""};
      },
      [](InboxRecord& r) { r.content->arrivals[0].arrival.provider_time = Time(); },
      [](InboxRecord& r) { r.content->arrivals[0].arrival.secret = 1; },
      [](InboxRecord& r) { r.content->arrivals[0].arrival.body_hash[3] = 1; },
      [](InboxRecord& r) { r.content->arrivals[0].arrival.signature_hash[3] = 1; },
      [](InboxRecord& r) { r.content->arrivals[0].same_key = false; },
      [](InboxRecord& r) { r.content->deliveries.clear(); },
      [](InboxRecord& r) { r.content->deliveries[0].destination = "other"; },
      [](InboxRecord& r) { r.content->deliveries[0].in_line = true; },
      [](InboxRecord& r) { r.content->deliveries[0].record.state = DeliveryState::kDead; },
      [](InboxRecord& r) { r.content->deliveries[0].record.due_at = kHeld; },
      [](InboxRecord& r) { r.content->deliveries[0].record.attempt = 2; },
      [](InboxRecord& r) { r.content->deliveries[0].record.counted = 1; },
      [](InboxRecord& r) { r.content->deliveries[0].record.armed_at += Duration(1); },
      [](InboxRecord& r) { r.content->deliveries[0].record.claimed_at += Duration(1); },
      [](InboxRecord& r) { r.content->deliveries[0].record.unsettled = true; },
      [](InboxRecord& r) { r.content->deliveries[0].record.delivered_at = Time(); },
      [](InboxRecord& r) { r.content->deliveries[0].record.replay = true; },
      [](InboxRecord& r) { r.content->deliveries[0].record.new_key = 1; },
      [](InboxRecord& r) { r.content->deliveries[0].record.new_keys = 1; },
      [](InboxRecord& r) { r.content->deliveries[0].attempts.clear(); },
      [](InboxRecord& r) { r.content->deliveries[0].attempts[0].number = 2; },
      [](InboxRecord& r) { r.content->deliveries[0].attempts[0].started_at += Duration(1); },
      [](InboxRecord& r) { r.content->deliveries[0].attempts[0].duration = Duration(0); },
      [](InboxRecord& r) { r.content->deliveries[0].attempts[0].outcome = Outcome::kSuccess; },
      [](InboxRecord& r) { r.content->deliveries[0].attempts[0].status = 200; },
      [](InboxRecord& r) { r.content->deliveries[0].attempts[0].error = "e"; },
      [](InboxRecord& r) { r.content->deliveries[0].attempts[0].response = "e"; },
  };
  std::set<std::string> seen{encode_record(whole_record())};
  for (std::size_t i = 0; i < changes.size(); ++i) {
    InboxRecord record = whole_record();
    changes[i](record);
    EXPECT_TRUE(seen.insert(encode_record(record)).second) << "change " << i;
  }
}

TEST(InboxRecord, WhatABackendMayKeepAnyhowIsNotInTheBytes) {
  const std::vector<Change> changes = {
      [](InboxRecord& r) { r.position = 1; },
      [](InboxRecord& r) { r.content->deliveries[0].record.ended_at += Duration(1); },  // pending
  };
  for (const Change& change : changes) {
    InboxRecord record = whole_record();
    change(record);
    EXPECT_EQ(encode_record(record), encode_record(whole_record()));
  }
  InboxRecord ended = whole_record();
  ended.content->deliveries[0].record.state = DeliveryState::kDead;
  InboxRecord same = ended;
  same.content->deliveries[0].record.due_at += Duration(1);
  EXPECT_EQ(encode_record(same), encode_record(ended));
  InboxRecord free = whole_record();
  free.keys[0].held = false;
  same = free;
  same.keys_until += Duration(1);
  EXPECT_EQ(encode_record(same), encode_record(free));
}

TEST(InboxDigest, CountsAndTellsTheOrderApart) {
  const InboxRecord first = whole_record();
  InboxRecord second = whole_record();
  second.id = EventId::make(kTestStart, {2});
  InboxDigest digest, other_order, same;
  digest.add(first);
  digest.add(second);
  other_order.add(second);
  other_order.add(first);
  same.add(first);
  EXPECT_FALSE(digest == same);
  same.add(second);
  EXPECT_EQ(digest.counts(), other_order.counts());
  EXPECT_NE(digest.hash(), other_order.hash());
  EXPECT_EQ(digest.hash(), same.hash());
  EXPECT_EQ(digest.hash().size(), 64u);

  InboxRecord pruned = whole_record();
  pruned.content.reset();
  digest.add(pruned);
  EXPECT_EQ(digest.counts(), (InboxCounts{2, 1, 3, 2, 2, 2}));
  EXPECT_EQ(digest.records(), 3);
}

}  // namespace
}  // namespace hookonce
