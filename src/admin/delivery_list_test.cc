// The list of deliveries, and replays in parts.
#include <gtest/gtest.h>

#include "test/support/admin_fixture.h"

namespace hookonce {
namespace {

using AdminDeliveries = AdminFixture;

TEST_F(AdminDeliveries, ARowSaysWhatItsDeliveryAndItsEventAre) {
  const EventId id = put(NewEventBuilder().key("evt_1").to({"backend", "gone"}).build());
  settle(failure(claim("backend").at(0), std::chrono::seconds(5)));
  const json::object page = got("/api/v1/deliveries");
  EXPECT_TRUE(page.at("next_cursor").is_null());
  EXPECT_TRUE(page.at("searched_until").is_null());
  EXPECT_EQ(got("/api/v1/deliveries?limit=1").at("searched_until"), json::value(to_rfc3339(clock_.now())));
  ASSERT_EQ(page.at("items").as_array().size(), 2u);
  const std::string now = to_rfc3339(clock_.now());
  EXPECT_EQ(to_json(page.at("items").as_array().at(0)),
            R"({"event":")" + id.text() +
                R"(","source":"shop","type":"order.paid","key":"evt_1","destination":"backend","state":"pending",)" +
                R"("orphaned":false,"attempts":1,"last_status":500,"last_error":"it did not work","received_at":")" +
                now + R"(","next_attempt_at":")" + to_rfc3339(clock_.now() + std::chrono::seconds(5)) +
                R"(","held":null,"behind":null,"delivered_at":null})");
  const json::object& gone = page.at("items").as_array().at(1).as_object();
  EXPECT_EQ(gone.at("orphaned"), true);
  EXPECT_EQ(gone.at("attempts"), 0);
  EXPECT_TRUE(gone.at("last_status").is_null());
  EXPECT_TRUE(gone.at("last_error").is_null());
}

TEST_F(AdminDeliveries, OneThatIsHeldSaysBySomeLineOrPause) {
  const auto ordered = [] { return NewEventBuilder().ordering_key("k").ordered({"backend"}).build(); };
  const EventId first = put(ordered());
  const EventId second = put(ordered());
  EXPECT_OK(store_.set_paused("billing", true));
  const EventId third = put(NewEventBuilder().to({"billing"}).build());
  const auto held = [this](const EventId& id) {
    const json::object event = got("/api/v1/events/" + id.text());
    const json::object& delivery = event.at("deliveries").as_array().at(0).as_object();
    const std::string text = to_json(delivery.at("held")) + " " + to_json(delivery.at("behind"));
    const json::object page = got("/api/v1/deliveries");
    for (const json::value& row : page.at("items").as_array()) {
      const json::object& listed = row.as_object();
      if (listed.at("event").as_string() != id.text()) continue;
      EXPECT_EQ(to_json(listed.at("held")) + " " + to_json(listed.at("behind")), text);
    }
    return text;
  };
  EXPECT_EQ(held(first), "null null");
  EXPECT_EQ(held(second), R"("line" ")" + first.text() + R"(")");
  EXPECT_EQ(held(third), R"("paused" null)");
}

TEST_F(AdminDeliveries, FiltersAndPagesGoTogether) {
  for (int i = 0; i < 5; ++i) put(NewEventBuilder().to({"backend", "billing"}).build());
  settle(death(claim("billing").at(0)));
  EXPECT_EQ(got("/api/v1/deliveries?state=dead").at("items").as_array().size(), 1u);
  EXPECT_EQ(got("/api/v1/deliveries?state=in_flight").at("items").as_array().size(), 4u);
  EXPECT_EQ(got("/api/v1/deliveries?source=other").at("items").as_array().size(), 0u);
  std::size_t rows = 0;
  std::string cursor;
  for (int pages = 0; pages < 10; ++pages) {
    const json::object page = got("/api/v1/deliveries?destination=backend&limit=2&cursor=" + cursor);
    rows += page.at("items").as_array().size();
    if (page.at("next_cursor").is_null()) break;
    cursor = std::string(page.at("next_cursor").as_string());
  }
  EXPECT_EQ(rows, 5u);
}

TEST_F(AdminDeliveries, WhatCannotBeReadIs400AndNamesIt) {
  for (const auto& [query, word] : std::vector<std::pair<std::string, std::string>>{{"cursor=x", "cursor"},
                                                                                    {"cursor=5-%25zz", "cursor"},
                                                                                    {"cursor=-backend", "cursor"},
                                                                                    {"state=sent", "in_flight"},
                                                                                    {"limit=501", "limit"},
                                                                                    {"stat=dead", "state"}}) {
    const HttpResponse answer = get("/api/v1/deliveries?" + query);
    EXPECT_EQ(answer.status, 400) << query;
    EXPECT_EQ(code_of(answer), "invalid_parameter");
    EXPECT_NE(message_of(answer).find(word), std::string::npos) << message_of(answer);
  }
}

TEST_F(AdminDeliveries, AReplayInPartsTakesEachEventOnce) {
  for (int i = 0; i < 5; ++i) {
    put(NewEventBuilder().build());
    settle(death(claim("backend").at(0)));
  }
  EXPECT_EQ(post("/api/v1/replays", R"({"dead":true,"dry_run":true,"limit":500})").body,
            R"({"matched":5,"next_cursor":null})");
  json::object part = object_of(post("/api/v1/replays", R"({"dead":true,"limit":2})"));
  EXPECT_EQ(part.at("matched"), 2);
  EXPECT_EQ(got("/api/v1/stats").at("deliveries").at("dead"), 3) << "a caller may stop here";
  std::int64_t matched = 2;
  while (part.at("next_cursor").is_string()) {
    part = object_of(
        post("/api/v1/replays", R"({"dead":true,"limit":2,"cursor":)" + to_json(part.at("next_cursor")) + "}"));
    matched += part.at("matched").as_int64();
  }
  EXPECT_EQ(matched, 5);
  EXPECT_EQ(got("/api/v1/stats").at("deliveries").at("dead"), 0);
}

TEST_F(AdminDeliveries, APartNeedsALimitInRangeAndACursorOfOurs) {
  for (const char* body : {R"({"dead":true,"limit":0})", R"({"dead":true,"limit":501})", R"({"dead":true,"limit":"5"})",
                           R"({"dead":true,"cursor":"x"})", R"({"dead":true,"cursor":5})"}) {
    const HttpResponse answer = post("/api/v1/replays", body);
    EXPECT_EQ(answer.status, 422) << body;
    EXPECT_EQ(code_of(answer), "invalid_field") << body;
  }
}

}  // namespace
}  // namespace hookonce
