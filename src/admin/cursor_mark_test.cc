#include "admin/cursor_mark.h"

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "test/support/admin_fixture.h"

namespace hookonce {
namespace {

TEST(CursorMark, GivesTheStoresCursorBack) {
  for (const ListKind kind : {ListKind::kEvents, ListKind::kDeliveries, ListKind::kRejected, ListKind::kReplays}) {
    const CursorMark mark(kind, {"shop", ""});
    for (const char* cursor : {"7", "7-back%2dend", "-", "x y"}) {
      const auto read = CursorMark(kind, {"shop", ""}).remove_from(mark.add_to(cursor));
      ASSERT_OK(read);
      EXPECT_EQ(*read, cursor);
    }
  }
}

TEST(CursorMark, NamesTheListThatACursorIsOf) {
  const std::string cursor = CursorMark(ListKind::kEvents, {}).add_to("7");
  const auto read = CursorMark(ListKind::kDeliveries, {}).remove_from(cursor);
  ASSERT_EQ(read.code(), Code::kInvalid);
  EXPECT_EQ(read.status().message(),
            "`cursor` is of the list of events, not of the list of deliveries; begin without one");
}

TEST(CursorMark, IsOfItsFiltersAlone) {
  const std::string cursor = CursorMark(ListKind::kEvents, {"shop", ""}).add_to("7");
  for (const std::vector<std::string>& filters :
       {std::vector<std::string>{"", "shop"}, {"shop"}, {"shop2", ""}, {"", ""}}) {
    const auto read = CursorMark(ListKind::kEvents, filters).remove_from(cursor);
    ASSERT_EQ(read.code(), Code::kInvalid);
    EXPECT_NE(read.status().message().find("other filters"), std::string::npos);
  }
}

TEST(CursorMark, WhatWeNeverGaveIsNoneOfOurs) {
  const CursorMark mark(ListKind::kEvents, {});
  const std::string good = mark.add_to("7");
  for (const std::string& cursor :
       {std::string(), std::string("7"), std::string("e"), std::string("e12345678"), std::string("e1234567-7"),
        std::string("x12345678-7"), std::string("e1234567g-7"), good.substr(1), std::string(200, '-')}) {
    const auto read = mark.remove_from(cursor);
    ASSERT_EQ(read.code(), Code::kInvalid) << cursor;
    EXPECT_NE(read.status().message().find("none of ours"), std::string::npos) << cursor;
  }
}

class AdminCursors : public AdminFixture {
 protected:
  std::string next_of(const std::string& list) {
    const json::object page = got("/api/v1/" + list);
    return percent_encode(std::string(page.at("next_cursor").as_string()));
  }
  void expect_refused(const std::string& call, const std::string& word) {
    const HttpResponse answer = get("/api/v1/" + call);
    EXPECT_EQ(answer.status, 400) << call;
    EXPECT_EQ(code_of(answer), "invalid_parameter") << call;
    EXPECT_NE(message_of(answer).find(word), std::string::npos) << message_of(answer);
  }
};

TEST_F(AdminCursors, ACursorOfAnotherListOrOfOtherFiltersIsRefusedByName) {
  for (int i = 0; i < 3; ++i) put(NewEventBuilder().build());
  const std::string events = next_of("events?limit=1");
  const std::string deliveries = next_of("deliveries?limit=1");
  expect_refused("deliveries?cursor=" + events, "of the list of events");
  expect_refused("events?cursor=" + deliveries, "of the list of deliveries");
  expect_refused("rejected?cursor=" + events, "of the list of events");
  expect_refused("events?source=shop&cursor=" + events, "other filters");
  expect_refused("events?cursor=" + next_of("events?state=pending&limit=1"), "other filters");
  expect_refused("deliveries?state=pending&cursor=" + deliveries, "other filters");
  const HttpResponse replay = post("/api/v1/replays", R"({"dead":true,"cursor":")" + events + R"("})");
  EXPECT_EQ(replay.status, 422);
  EXPECT_NE(message_of(replay).find("of the list of events"), std::string::npos) << message_of(replay);
}

// An age is another moment with each page, and a limit may be any.
TEST_F(AdminCursors, TheSameFiltersGoOnAlsoWithAnotherLimitAndTime) {
  for (int i = 0; i < 3; ++i) put(NewEventBuilder().build());
  const std::string cursor = next_of("events?limit=1&since=1h&type=&source=shop");
  clock_.advance(std::chrono::seconds(7));
  const json::object page = got("/api/v1/events?limit=5&source=shop&since=1h&cursor=" + cursor);
  EXPECT_EQ(page.at("items").as_array().size(), 2u);
}

}  // namespace
}  // namespace hookonce
