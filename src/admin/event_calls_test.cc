// List, show and replay through the whole API, over the memory store.
#include "admin/event_calls.h"

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "test/support/admin_fixture.h"

namespace hookonce {
namespace {

class AdminEvents : public AdminFixture {
 protected:
  std::vector<std::string> listed(const std::string& target) {
    std::vector<std::string> keys;
    const json::object page = got(target);
    for (const json::value& item : page.at("items").as_array())
      keys.push_back(json_string(item, "key").value_or("null"));
    return keys;
  }
  json::object shown(const EventId& id, const std::string& query = "") {
    return got("/api/v1/events/" + id.text() + query);
  }
};

using Keys = std::vector<std::string>;

TEST_F(AdminEvents, AListItemHasTheAgreedShape) {
  const EventId id = put(NewEventBuilder().key("evt_1").body("{\"a\":1}").build());
  EXPECT_EQ(to_json(got("/api/v1/events")),
            R"({"items":[{"id":")" + id.text() +
                R"(","source":"shop","type":"order.paid","key":"evt_1","received_at":")" + to_rfc3339(clock_.now()) +
                R"(","state":"pending","duplicates":0,"size":7}],"next_cursor":null,"searched_until":null})");
}

TEST_F(AdminEvents, ASearchSaysWhetherItLookedIntoBodies) {
  EXPECT_EQ(got("/api/v1/events?q=x").at("bodies_searched"), json::value(true));
  EXPECT_FALSE(got("/api/v1/events").contains("bodies_searched"));
}

TEST_F(AdminEvents, AnEventThatNoDestinationWantedSaysSo) {
  const json::object event = shown(put(NewEventBuilder().to({}).build()));
  EXPECT_EQ(event.at("state"), "delivered");
  EXPECT_TRUE(event.at("deliveries").as_array().empty());
  EXPECT_NE(json_string(event, "reason")->find("no destination"), std::string::npos);
  EXPECT_FALSE(shown(put(NewEventBuilder().build())).contains("reason"));
}

TEST_F(AdminEvents, AListItemWithoutTypeAndKeyHasNulls) {
  put(NewEventBuilder().type("").build());
  const json::object page = got("/api/v1/events");
  const json::object& item = page.at("items").as_array().at(0).as_object();
  EXPECT_TRUE(item.at("key").is_null());
  EXPECT_TRUE(item.at("type").is_null());
}

TEST_F(AdminEvents, TheListIsNewestFirstInPagesThatInsertsDoNotDisturb) {
  for (int i = 0; i < 5; ++i) put(NewEventBuilder().key("evt_" + std::to_string(i)).build());
  json::object page = got("/api/v1/events?limit=2");
  Keys keys;
  for (int pages = 0; pages < 10; ++pages) {
    for (const json::value& item : page.at("items").as_array()) keys.push_back(*json_string(item, "key"));
    if (page.at("next_cursor").is_null()) break;
    put(NewEventBuilder().key("later_" + std::to_string(pages)).build());
    const std::string cursor = percent_encode(std::string(page.at("next_cursor").as_string()));
    page = got("/api/v1/events?limit=2&cursor=" + cursor);
  }
  EXPECT_EQ(keys, (Keys{"evt_4", "evt_3", "evt_2", "evt_1", "evt_0"}));
}

TEST_F(AdminEvents, TheListIsFiltered) {
  put(NewEventBuilder().key("evt_1").type("order.paid").body("apples").build());
  clock_.advance(std::chrono::hours(2));
  put(NewEventBuilder().key("evt_2").type("order.sent").source("other").body("100% pears").build());
  EXPECT_EQ(listed("/api/v1/events?source=shop"), Keys{"evt_1"});
  EXPECT_EQ(listed("/api/v1/events?type=order.sent"), Keys{"evt_2"});
  EXPECT_EQ(listed("/api/v1/events?key=evt_1"), Keys{"evt_1"});
  EXPECT_EQ(listed("/api/v1/events?q=PEARS"), Keys{"evt_2"});
  EXPECT_EQ(listed("/api/v1/events?q=%25"), Keys{"evt_2"}) << "a wildcard is data";
  EXPECT_EQ(listed("/api/v1/events?since=1h"), Keys{"evt_2"});
  EXPECT_EQ(listed("/api/v1/events?until=1h"), Keys{"evt_1"});
  EXPECT_EQ(listed("/api/v1/events?state=dead"), Keys{});
  EXPECT_EQ(listed("/api/v1/events?state=pending&limit=1"), Keys{"evt_2"});
}

TEST_F(AdminEvents, AWrongParameterIs400) {
  for (const char* target :
       {"/api/v1/events?limit=501", "/api/v1/events?limit=0", "/api/v1/events?sorce=shop",
        "/api/v1/events?cursor=%00nonsense", "/api/v1/events?state=lost", "/api/v1/stats?x=1",
        "/api/v1/sources?limit=1", "/api/v1/events/0199a1b2-0000-7000-8000-000000000001?reveal=2"}) {
    const HttpResponse answer = get(target);
    EXPECT_EQ(answer.status, 400) << target;
    EXPECT_EQ(code_of(answer), "invalid_parameter") << target;
  }
}

TEST_F(AdminEvents, AnUnknownEventIs404) {
  for (const char* id : {"0199a1b2-0000-7000-8000-000000000001", "evt_1", "x"}) {
    EXPECT_EQ(get(std::string("/api/v1/events/") + id).status, 404) << id;
    EXPECT_EQ(code_of(post(std::string("/api/v1/events/") + id + "/replay")), "no_such_event") << id;
    EXPECT_EQ(post(std::string("/api/v1/events/") + id + "/replay", R"({"destination":"backend"})").status, 404) << id;
  }
}

TEST_F(AdminEvents, ABatchIsShownWithTheItemsThatWereNew) {
  put(NewEventBuilder().item("1").build());
  const EventId id = put(NewEventBuilder().item("1").item("2").item("3").build());
  const json::object event = got("/api/v1/events/" + id.text());
  EXPECT_EQ(json::serialize(event.at("new_items")), "[1,2]");
  EXPECT_TRUE(event.at("key").is_null());
}

TEST_F(AdminEvents, AnEventIsShownWithArrivalsDeliveriesAndAttempts) {
  Arrival first;
  first.at = clock_.now();
  first.remote = "203.0.113.7";
  first.provider_time = clock_.now() - std::chrono::seconds(1);
  first.signature_hash = KeyHash{1};
  const EventId id = put(NewEventBuilder()
                             .key("evt_1")
                             .body("{\"paid\":true}")
                             .headers({{"Content-Type", "application/json"}, {"X-Empty", ""}})
                             .arrival(first)
                             .build());
  clock_.advance(std::chrono::milliseconds(5));
  Arrival second = first;
  second.at = clock_.now();
  second.secret = 1;
  second.signature_hash = KeyHash{2};
  second.retry = RetryHint{1, "http_timeout"};
  put(NewEventBuilder().key("evt_1").body("{\"paid\":true}").arrival(second).build());
  settle(success(claim("backend").at(0)));

  const std::string start = to_rfc3339(first.at);
  const std::string later = to_rfc3339(second.at);
  const std::string expected =
      R"({"id":")" + id.text() + R"(","source":"shop","type":"order.paid","key":"evt_1","received_at":")" + start +
      R"(","state":"delivered","duplicates":1,"size":13,"ordering_key":null,"new_items":null,)"
      R"("headers":[["Content-Type","application/json"],["X-Empty",""]],"body":"{\"paid\":true}",)"
      R"("arrivals":[{"at":")" +
      start +
      R"(","verdict":"accepted","cause":"first","reason":"the first that was stored","certain":true,)"
      R"("remote":"203.0.113.7","retry":null,"provider_time":")" +
      to_rfc3339(*first.provider_time) +
      R"(","secret":0,"same_key":true,"same_body":true,"same_signature":true,"since_first_ms":0},{"at":")" + later +
      R"(","verdict":"duplicate","cause":"provider_retry","reason":"its headers call it a retry: the answer to an )"
      R"(earlier try did not reach the provider in time","certain":true,"remote":"203.0.113.7",)"
      R"("retry":{"number":1,"reason":"http_timeout"},"provider_time":")" +
      to_rfc3339(*first.provider_time) +
      R"(","secret":1,"same_key":true,"same_body":true,"same_signature":false,"since_first_ms":5}],)"
      R"("deliveries":[{"destination":"backend","state":"delivered","orphaned":false,"next_attempt_at":null,"held":null,"behind":null,)"
      R"("delivered_at":")" +
      later + R"(","replayed":false,"attempts":[{"number":1,"started_at":")" + later +
      R"(","duration_ms":12,"outcome":"success","status":200,"error":null,"response":"ok"}]}]})";
  EXPECT_EQ(to_json(shown(id)), expected);
}

TEST_F(AdminEvents, APendingDeliverySaysWhenItIsTriedNext) {
  const EventId id = put(NewEventBuilder().build());
  settle(failure(claim("backend").at(0), std::chrono::seconds(30)));
  const json::object event = shown(id);
  const json::object& delivery = event.at("deliveries").as_array().at(0).as_object();
  EXPECT_EQ(delivery.at("state"), "pending");
  EXPECT_EQ(delivery.at("next_attempt_at"), json::value(to_rfc3339(clock_.now() + std::chrono::seconds(30))));
  EXPECT_TRUE(delivery.at("delivered_at").is_null());
  const json::object& attempt = delivery.at("attempts").as_array().at(0).as_object();
  EXPECT_EQ(attempt.at("outcome"), "failed");
  EXPECT_EQ(attempt.at("error"), "it did not work");
}

TEST_F(AdminEvents, AnAttemptInFlightHasNoOutcomeYet) {
  const EventId id = put(NewEventBuilder().build());
  ASSERT_EQ(claim("backend").size(), 1u);
  const json::object event = shown(id);
  const json::object& delivery = event.at("deliveries").as_array().at(0).as_object();
  EXPECT_EQ(delivery.at("state"), "in_flight");
  EXPECT_TRUE(delivery.at("next_attempt_at").is_null());
  const json::object& attempt = delivery.at("attempts").as_array().at(0).as_object();
  for (const char* name : {"outcome", "duration_ms", "status", "error", "response"}) {
    EXPECT_TRUE(attempt.at(name).is_null()) << name;
  }
}

TEST_F(AdminEvents, ADestinationThatTheConfigurationDoesNotKnowIsOrphaned) {
  const EventId id = put(NewEventBuilder().to({"backend", "gone"}).build());
  const json::object event = shown(id);
  for (const json::value& delivery : event.at("deliveries").as_array()) {
    EXPECT_EQ(delivery.at("orphaned").as_bool(), delivery.at("destination") == "gone");
  }
}

TEST_F(AdminEvents, ABodyThatIsNotUtf8IsShownAsBase64) {
  const std::string bytes("\xff\x00\x01", 3);
  const json::object event = shown(put(NewEventBuilder().body(bytes).build()));
  EXPECT_FALSE(event.contains("body"));
  EXPECT_EQ(from_base64(std::string(event.at("body_base64").as_string())), bytes);
  const json::object text = shown(put(NewEventBuilder().body("d\xc3\xa9j\xc3\xa0 \x01").build()));
  EXPECT_FALSE(text.contains("body_base64"));
  EXPECT_EQ(text.at("body"), "d\xc3\xa9j\xc3\xa0 \x01");
}

TEST_F(AdminEvents, BytesThatAreNotUtf8NeverBreakTheAnswer) {
  const EventId id = put(NewEventBuilder().key("k\xff").type("t\xff").headers({{"X-Odd", "v\xff"}}).build());
  EXPECT_TRUE(parse_json(get("/api/v1/events").body).ok());
  EXPECT_TRUE(parse_json(get("/api/v1/events/" + id.text()).body).ok());
  EXPECT_EQ(get("/api/v1/events?q=%ff").status, 200);
}

TEST_F(AdminEvents, SecretsAreMaskedUnlessRevealed) {
  const EventId id = put(NewEventBuilder()
                             .headers({{"Authorization", "Basic c2VjcmV0"},
                                       {"Cookie", "c00kie"},
                                       {"X-Gitlab-Token", "t0ken"},
                                       {"X-Shop-Pass", "shop pass"},
                                       {"X-Signature", "visible"}})
                             .build());
  const std::string masked = get("/api/v1/events/" + id.text()).body;
  for (const char* secret : {"c2VjcmV0", "c00kie", "t0ken", "shop pass"}) {
    EXPECT_EQ(masked.find(secret), std::string::npos) << secret;
  }
  EXPECT_NE(masked.find("visible"), std::string::npos);
  const std::string revealed = get("/api/v1/events/" + id.text() + "?reveal=true").body;
  for (const char* secret : {"c2VjcmV0", "c00kie", "t0ken", "shop pass"}) {
    EXPECT_NE(revealed.find(secret), std::string::npos) << secret;
  }
}

TEST_F(AdminEvents, WhatASourceRedactsIsNeverShownAndStaysAsItCame) {
  Config config = shop_config();
  config.sources.at("shop").redact = {*FieldSpec::parse("json:/card/number"), *FieldSpec::parse("header:x-customer"),
                                      *FieldSpec::parse("header:Authorization")};
  configure(std::move(config));
  const std::string body = R"({"card":{"number":"4242", "brand":"visa"}})";
  const EventId id = put(NewEventBuilder()
                             .headers({{"X-Customer", "ada"}, {"Authorization", "Basic x"}, {"X-Gitlab-Token", "t0"}})
                             .body(body)
                             .build());
  for (const char* query : {"", "?reveal=true"}) {
    const json::object event = shown(id, query);
    EXPECT_EQ(event.at("body"), R"({"card":{"number":"[redacted]", "brand":"visa"}})");
    EXPECT_FALSE(event.contains("body_hidden"));
    EXPECT_EQ(event.at("size"), body.size());
    EXPECT_EQ(to_json(event.at("headers")),
              std::string(R"([["X-Customer","[redacted]"],["Authorization","[redacted]"],["X-Gitlab-Token",")") +
                  (*query == '\0' ? "[masked]" : "t0") + R"("]])");
  }
  const auto leases = claim("backend");
  ASSERT_EQ(leases.size(), 1u);
  EXPECT_EQ(*leases[0].body, body) << "the destination gets what arrived";
}

TEST_F(AdminEvents, ABodyInWhichNothingCanBeFoundIsNotShown) {
  Config config = shop_config();
  config.sources.at("shop").redact = {*FieldSpec::parse("json:/card/number")};
  configure(std::move(config));
  const json::object event = shown(put(NewEventBuilder().body(R"({"card":{"number":"4242)").build()), "?reveal=true");
  EXPECT_TRUE(event.at("body").is_null());
  EXPECT_EQ(event.at("body_hidden"), "`redact` hides parts of it, and it is not JSON");
  EXPECT_FALSE(event.contains("body_base64"));
  const json::object bytes = shown(put(NewEventBuilder().body("\xff\xfe").build()));
  EXPECT_TRUE(bytes.at("body").is_null());
  EXPECT_FALSE(bytes.contains("body_base64"));
  EXPECT_EQ(shown(put(NewEventBuilder().body("").build())).at("body"), "");
  const json::object other = shown(put(NewEventBuilder().source("other").body("{").build()));
  EXPECT_EQ(other.at("body"), "{") << "another source hides nothing";
}

TEST_F(AdminEvents, AReplayPutsTheDeliveriesBackAndNudges) {
  const EventId id = put(NewEventBuilder().to({"backend", "billing"}).build());
  settle(success(claim("backend").at(0)));
  ASSERT_EQ(claim("billing").size(), 1u);
  const HttpResponse answer = post("/api/v1/events/" + id.text() + "/replay");
  EXPECT_EQ(answer.status, 202);
  EXPECT_EQ(answer.body, R"({"deliveries":[{"event":")" + id.text() +
                             R"(","destination":"backend","state":"pending","replayed":true},{"event":")" + id.text() +
                             R"(","destination":"billing","state":"in_flight","replayed":false}]})");
  EXPECT_EQ(nudges_, 1);
  const auto leases = claim("backend");
  ASSERT_EQ(leases.size(), 1u);
  EXPECT_TRUE(leases[0].replay);
  EXPECT_EQ(leases[0].new_key, 0);
  EXPECT_EQ(leases[0].attempt, 2);
}

TEST_F(AdminEvents, AReplayMakesAPendingDeliveryDueNow) {
  const EventId id = put(NewEventBuilder().build());
  settle(failure(claim("backend").at(0), std::chrono::hours(1)));
  EXPECT_TRUE(claim("backend").empty());
  const HttpResponse answer = post("/api/v1/events/" + id.text() + "/replay", "{}");
  EXPECT_EQ(answer.status, 202);
  EXPECT_NE(answer.body.find(R"("replayed":true)"), std::string::npos);
  EXPECT_EQ(claim("backend").size(), 1u);
}

TEST_F(AdminEvents, AReplayWithANewKeyAndADestination) {
  const EventId id = put(NewEventBuilder().to({"backend"}).build());
  const HttpResponse answer =
      post("/api/v1/events/" + id.text() + "/replay", R"({"destination":"billing","new_key":true})");
  EXPECT_EQ(answer.status, 202) << answer.body;
  const auto leases = claim("billing");
  ASSERT_EQ(leases.size(), 1u) << "the source has the destination, so a delivery is made";
  EXPECT_EQ(leases[0].new_key, 1);
}

TEST_F(AdminEvents, AReplayToADestinationThatIsNotTheSourcesIs422) {
  const EventId id = put(NewEventBuilder().build());
  for (const char* destination : {"spare", "nowhere"}) {
    const HttpResponse answer =
        post("/api/v1/events/" + id.text() + "/replay", R"({"destination":")" + std::string(destination) + R"("})");
    EXPECT_EQ(answer.status, 422) << destination;
    EXPECT_NE(message_of(answer).find(destination), std::string::npos);
  }
  EXPECT_EQ(nudges_, 0);
}

TEST_F(AdminEvents, AnEventOfARemovedSourceIsReplayedWhereItHasADelivery) {
  const EventId id = put(NewEventBuilder().source("removed").to({"backend"}).build());
  EXPECT_EQ(post("/api/v1/events/" + id.text() + "/replay", R"({"destination":"backend"})").status, 202);
  EXPECT_EQ(post("/api/v1/events/" + id.text() + "/replay", R"({"destination":"billing"})").status, 422);
}

TEST_F(AdminEvents, ABodyThatIsWrongIs400Or422) {
  const std::string target = "/api/v1/events/" + put(NewEventBuilder().build()).text() + "/replay";
  for (const std::string& path : {target, std::string("/api/v1/replays")}) {
    EXPECT_EQ(post(path, "{").status, 400) << path;
    EXPECT_EQ(code_of(post(path, "{")), "malformed");
    for (const char* body : {"[]", R"({"new_key":"yes"})", R"({"destination":7})", R"({"unknown":1})"}) {
      EXPECT_EQ(post(path, body).status, 422) << path << body;
      EXPECT_EQ(code_of(post(path, body)), "invalid_field");
    }
  }
  EXPECT_EQ(post("/api/v1/replays", R"({"destination":"nowhere"})").status, 422);
  EXPECT_EQ(post("/api/v1/replays", R"({"state":"lost"})").status, 422);
}

TEST_F(AdminEvents, AReplayThatMayHaveTakenEffectNudges) {
  const EventId id = put(NewEventBuilder().build());
  store_.lose_replay_answers();
  EXPECT_EQ(post("/api/v1/events/" + id.text() + "/replay").status, 503);
  EXPECT_EQ(nudges_, 1);
  EXPECT_EQ(post("/api/v1/replays", R"({"source":"shop"})").status, 503);
  EXPECT_EQ(nudges_, 2);
  EXPECT_EQ(post("/api/v1/replays", R"({"source":"shop","dry_run":true})").status, 503);
  EXPECT_EQ(nudges_, 2) << "a dry run changes nothing";
}

TEST_F(AdminEvents, ReplaysTakeAllPartsOfWhatMatches) {
  const int many = 2 * kListMax + 3;
  for (int i = 0; i < many; ++i) put(NewEventBuilder().key("evt_" + std::to_string(i)).build());
  put(NewEventBuilder().source("other").build());
  EXPECT_EQ(post("/api/v1/replays", R"({"source":"shop","dry_run":true})").body,
            R"({"matched":)" + std::to_string(many) + "}");
  EXPECT_EQ(nudges_, 0);
  const HttpResponse answer = post("/api/v1/replays", R"({"source":"shop"})");
  EXPECT_EQ(answer.status, 202);
  EXPECT_EQ(answer.body, R"({"matched":)" + std::to_string(many) + "}");
  EXPECT_EQ(nudges_, 3) << "once for each part, whose deliveries need not wait for the next";
}

// The whole replay was one task of the only worker: pausing what it floods, and stopping, waited for its end.
TEST_F(AdminEvents, OtherCallsComeBetweenThePartsOfAReplayAndADrainEndsIt) {
  for (int i = 0; i < 2 * kListMax + 3; ++i) put(NewEventBuilder().key("evt_" + std::to_string(i)).build());
  TestLoop worker;
  AdminApi::Options options;
  options.draining = [this] { return draining_; };
  options.worker = &worker;
  AdminApi api(store_, live_, history_, clock_, std::move(options));
  api.configure(std::make_shared<const Config>(shop_config()));
  const auto ask = [&](const char* target, const char* body) {
    auto channel = std::make_shared<RecordingChannel>(loop_);
    api.on_request(request("POST", target, body), Responder(channel));
    return channel;
  };
  const auto whole = ask("/api/v1/replays", R"({"source":"shop"})");
  worker.run_posted();
  const auto pause = ask("/api/v1/destinations/backend/pause", "");
  worker.run_posted();
  ASSERT_TRUE(pause->answer());
  EXPECT_EQ(pause->answer()->status, 200);
  EXPECT_FALSE(whole->answer());
  worker.run_posted();
  ASSERT_TRUE(whole->answer());
  EXPECT_EQ(whole->answer()->body, R"({"matched":)" + std::to_string(2 * kListMax + 3) + "}");

  const auto stopped = ask("/api/v1/replays", R"({"source":"shop"})");
  worker.run_posted();
  draining_ = true;
  worker.run_posted();
  ASSERT_TRUE(stopped->answer());
  EXPECT_EQ(stopped->answer()->status, 503);
  EXPECT_NE(message_of(*stopped->answer()).find(std::to_string(kListMax) + " deliveries were taken, then"),
            std::string::npos)
      << message_of(*stopped->answer());
}

TEST_F(AdminEvents, ReplaysOfDeadOnesTakeDeadOnes) {
  put(NewEventBuilder().key("alive").build());
  settle(success(claim("backend").at(0)));
  const EventId dead = put(NewEventBuilder().key("dead").build());
  settle(death(claim("backend").at(0)));
  EXPECT_EQ(post("/api/v1/replays", R"({"dead":true,"dry_run":true})").body, R"({"matched":1})");
  EXPECT_TRUE(claim("backend").empty()) << "a dry run changes nothing";
  EXPECT_EQ(post("/api/v1/replays", R"({"dead":true})").body, R"({"matched":1})");
  const auto leases = claim("backend");
  ASSERT_EQ(leases.size(), 1u);
  EXPECT_EQ(leases[0].event, dead);
}

TEST_F(AdminEvents, ReplaysToADestinationTouchNoOther) {
  put(NewEventBuilder().to({"backend", "billing"}).build());
  settle(success(claim("backend").at(0)));
  settle(success(claim("billing").at(0)));
  EXPECT_EQ(post("/api/v1/replays", R"({"destination":"billing"})").body, R"({"matched":1})");
  EXPECT_TRUE(claim("backend").empty());
  EXPECT_EQ(claim("billing").size(), 1u);
}

TEST_F(AdminEvents, ReplaysWithoutAnyFilterAreRefusedButCounted) {
  put(NewEventBuilder().build());
  EXPECT_EQ(post("/api/v1/replays", "{}").status, 422);
  EXPECT_EQ(post("/api/v1/replays").status, 422);
  EXPECT_EQ(post("/api/v1/replays", R"({"new_key":true})").status, 422);
  EXPECT_EQ(post("/api/v1/replays", R"({"dry_run":true})").body, R"({"matched":1})");
}

TEST_F(AdminEvents, AStoreThatIsAwayIs503) {
  const EventId id = put(NewEventBuilder().build());
  store_.fall_ill("the disk is gone");
  for (const std::string& target : {std::string("/api/v1/events"), "/api/v1/events/" + id.text(),
                                    std::string("/api/v1/stats"), std::string("/api/v1/destinations")}) {
    const HttpResponse answer = get(target);
    EXPECT_EQ(answer.status, 503) << target;
    EXPECT_EQ(code_of(answer), "store_unavailable");
    EXPECT_EQ(header_of(answer, "Retry-After"), "5");
  }
  EXPECT_EQ(post("/api/v1/events/" + id.text() + "/replay").status, 503);
  EXPECT_EQ(post("/api/v1/replays", R"({"dead":true})").status, 503);
  EXPECT_EQ(get("/api/v1/sources").status, 200) << "the configuration needs no store";
}

}  // namespace
}  // namespace hookonce
