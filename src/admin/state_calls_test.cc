// Health, readiness, metrics, configuration without secrets, counts and depths.
#include "admin/state_calls.h"

#include <gtest/gtest.h>

#include "admin/routes.h"
#include "core/destination_counters.h"
#include "core/source_counters.h"
#include "test/support/admin_fixture.h"

namespace hookonce {
namespace {

class AdminState : public AdminFixture {
 protected:
  HttpResponse get_with_token(const std::string& target) {
    HttpRequest head = request("GET", target);
    head.headers.add("Authorization", "Bearer admin token");
    return call(std::move(head));
  }
};

TEST_F(AdminState, HealthIs200WhateverTheStore) {
  store_.fall_ill("the disk is gone");
  draining_ = true;
  EXPECT_EQ(get("/healthz").status, 200);
}

TEST_F(AdminState, ReadyNamesWhatIsWeaker) {
  EXPECT_EQ(get("/readyz").body, R"({"status":"ready","weaknesses":["it forgets everything"]})");
}

TEST_F(AdminState, NotReadyNamesWhyWhereNoTokenIsConfigured) {
  store_.fall_ill("the disk is gone");
  const HttpResponse answer = get("/readyz");
  EXPECT_EQ(answer.status, 503);
  EXPECT_EQ(code_of(answer), "store_unavailable");
  EXPECT_EQ(message_of(answer), "the disk is gone");
}

TEST_F(AdminState, NotReadyWhileDraining) {
  draining_ = true;
  const HttpResponse answer = get("/readyz");
  EXPECT_EQ(answer.status, 503);
  EXPECT_EQ(code_of(answer), "draining");
}

TEST_F(AdminState, StrangersLearnOnlyWhetherItIsReady) {
  require_token();
  EXPECT_EQ(get("/readyz").body, R"({"status":"ready"})");
  store_.fall_ill("the disk is gone");
  const HttpResponse bare = get("/readyz");
  EXPECT_EQ(bare.status, 503);
  EXPECT_EQ(code_of(bare), "not_ready");
  EXPECT_EQ(bare.body.find("disk"), std::string::npos);
  const HttpResponse told = get_with_token("/readyz");
  EXPECT_EQ(told.status, 503);
  EXPECT_EQ(message_of(told), "the disk is gone");
}

TEST_F(AdminState, MetricsArePrometheusText) {
  source_counters("metrics_test").accepted.add(3);
  const HttpResponse answer = get("/metrics?whatever=1");
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(header_of(answer, "Content-Type"), "text/plain; version=0.0.4; charset=utf-8");
  EXPECT_NE(answer.body.find("hookonce_accepted_total{source=\"metrics_test\"} 3"), std::string::npos);
}

// Goal: a store that hangs hides nothing of the process. Method: the worker never comes to run anything.
TEST_F(AdminState, WhatAsksNoStoreIsAnsweredThoughCallsOfTheStoreHang) {
  TestLoop hanging;
  AdminApi::Options options;
  options.measure = [] { ADD_FAILURE() << "nobody may wait for this"; };
  options.worker = &hanging;
  AdminApi api(store_, live_, history_, clock_, std::move(options));
  api.configure(std::make_shared<const Config>(shop_config()));
  const auto ask = [&](const std::string& target) {
    auto channel = std::make_shared<RecordingChannel>(loop_);
    api.on_request(request("GET", target), Responder(channel));
    return channel;
  };
  for (const char* target :
       {"/healthz", "/readyz", "/", "/api/v1/sources", "/api/v1/history", "/api/v1/openapi.json"}) {
    const auto channel = ask(target);
    ASSERT_TRUE(channel->answer()) << target;
    EXPECT_EQ(channel->answer()->status, 200) << target;
  }
  EXPECT_FALSE(ask("/api/v1/stats")->answer());
  const auto scraped = ask("/metrics");
  EXPECT_FALSE(scraped->answer());
  EXPECT_EQ(scraped->deadline(), clock_.now() + std::chrono::seconds(1));
  scraped->pass_deadline();
  EXPECT_NE(scraped->answer()->body.find("hookonce_"), std::string::npos) << "what was measured last";
}

// While PostgreSQL hung, clients that gave up and asked again took all connections, and /healthz was 503.
TEST_F(AdminState, OnlySoManyCallsWaitForAStoreThatHangs) {
  TestLoop hanging;
  AdminApi::Options options;
  options.worker = &hanging;
  AdminApi api(store_, live_, history_, clock_, std::move(options));
  api.configure(std::make_shared<const Config>(shop_config()));
  const auto ask = [&](const std::string& target) {
    auto channel = std::make_shared<RecordingChannel>(loop_);
    api.on_request(request("GET", target), Responder(channel));
    return channel;
  };
  std::vector<std::shared_ptr<RecordingChannel>> waiting;
  for (int i = 0; i < 64; ++i) waiting.push_back(ask("/api/v1/stats"));
  for (const auto& channel : waiting) EXPECT_FALSE(channel->answer());
  const auto one_more = ask("/api/v1/stats");
  ASSERT_TRUE(one_more->answer());
  EXPECT_EQ(one_more->answer()->status, 503);
  EXPECT_EQ(code_of(*one_more->answer()), "overloaded");
  EXPECT_EQ(header_of(*one_more->answer(), "Retry-After"), "1");
  for (const char* target : {"/healthz", "/readyz", "/metrics"})
    EXPECT_EQ(ask(target)->answer()->status, 200) << target;
  hanging.run_posted();
  for (const auto& channel : waiting) EXPECT_EQ(channel->answer()->status, 200);
  const auto later = ask("/api/v1/stats");
  EXPECT_FALSE(later->answer()) << "there is room again";
  hanging.run_posted();
  EXPECT_EQ(later->answer()->status, 200);
}

TEST_F(AdminState, WhatTheWorkerRanIsAnswered) {
  TestLoop worker;
  int measured = 0;
  AdminApi::Options options;
  options.measure = [&] { ++measured; };
  options.worker = &worker;
  AdminApi api(store_, live_, history_, clock_, std::move(options));
  api.configure(std::make_shared<const Config>(shop_config()));
  for (const char* target : {"/api/v1/stats", "/api/v1/events", "/metrics"}) {
    auto channel = std::make_shared<RecordingChannel>(loop_);
    api.on_request(request("GET", target), Responder(channel));
    worker.run_posted();
    ASSERT_TRUE(channel->answer()) << target;
    EXPECT_EQ(channel->answer()->status, 200) << target;
  }
  EXPECT_EQ(measured, 1);
}

TEST_F(AdminState, SourcesAreShownWithTheirCountsAndWithoutSecrets) {
  SourceCounters& counters = source_counters("shop");
  const auto accepted = counters.accepted.value();
  counters.accepted.add();
  counters.accepted_rate.add(clock_.now());
  counters.duplicate(Cause::kConcurrentTwin).add(2);
  counters.duplicate(Cause::kManualResend).add();
  counters.refuse(Refusal::kSignatureMismatch, clock_.now());
  const HttpResponse answer = get("/api/v1/sources");
  EXPECT_EQ(answer.body.find("the shop secret"), std::string::npos);
  const json::value items = object_of(answer).at("items");
  ASSERT_EQ(items.as_array().size(), 1u);
  const json::object& shop = items.as_array().at(0).as_object();
  EXPECT_EQ(shop.at("name"), "shop");
  EXPECT_EQ(shop.at("provider"), "token");
  EXPECT_EQ(shop.at("path"), "/in/shop");
  EXPECT_EQ(shop.at("secrets"), 1);
  EXPECT_EQ(shop.at("ack_deadline"), "2s");
  EXPECT_EQ(shop.at("dedup_window"), "30d");
  EXPECT_EQ(shop.at("missing_key"), "accept");
  EXPECT_EQ(to_json(shop.at("destinations")),
            R"([{"name":"backend","types":[],"when":[]},{"name":"billing","types":["order.*"],"when":[]}])");
  EXPECT_EQ(json_int(shop.at("counts"), "accepted"), static_cast<std::int64_t>(accepted + 1));
  EXPECT_EQ(json_int(shop.at("counts"), "duplicates"), 3);
  EXPECT_EQ(to_json(shop.at("counts").at("causes")),
            R"({"provider_retry":0,"concurrent_twin":2,"manual_resend":1,"replayed_request":0,)"
            R"("same_id_other_body":0,"semantic_twin":0})");
  EXPECT_GE(json_int(shop.at("counts"), "accepted_last_minute"), 1);
  EXPECT_GE(json_int(shop.at("counts"), "rejected"), 1);
}

TEST_F(AdminState, ASourceShowsTheUrlToPaste) {
  const auto url = [this] { return to_json(got("/api/v1/sources").at("items").at(0).at("url")); };
  EXPECT_EQ(url(), "null") << "nothing listens yet";
  api_.set_ingest_address("127.0.0.1:8080");
  EXPECT_EQ(url(), R"("http://127.0.0.1:8080/in/shop")");
  Config config = shop_config();
  config.server.tls_cert = "cert.pem";
  configure(config);
  EXPECT_EQ(url(), R"("https://127.0.0.1:8080/in/shop")");
  config.server.public_url = "https://hooks.example.com/";
  configure(config);
  EXPECT_EQ(url(), R"("https://hooks.example.com/in/shop")");
}

TEST_F(AdminState, ASourceShowsItsAlarm) {
  Config config = shop_config();
  config.sources.at("shop").name = "alarmed";
  configure(config);
  SourceCounters& counters = source_counters("alarmed");
  const auto shown = [&] { return object_of(get("/api/v1/sources")).at("items").as_array().at(0).at("alarm"); };
  EXPECT_TRUE(shown().is_null());
  for (int i = 0; i < 20; ++i) counters.refuse(Refusal::kSignatureMismatch, clock_.now());
  ASSERT_EQ(counters.judge_alarm(clock_.now()), AlarmChange::kBegan);
  EXPECT_EQ(to_json(shown()),
            R"({"since":")" + to_rfc3339(clock_.now()) + R"(","rejected_last_minute":20,"code":"signature_mismatch"})");
}

TEST_F(AdminState, ASynchronousSourceShowsWhatItsSendersGetWithoutTheProxysPassword) {
  Config config = shop_config();
  SourceConfig& shop = config.sources.at("shop");
  shop.mode = SourceMode::kSync;
  shop.late_answer = LateAnswerConfig{"text/plain", "wait"};
  shop.late_reply = LateReplyConfig{"", "http://user:s3cret@proxy:3128"};
  configure(config);
  const json::value items = object_of(get("/api/v1/sources")).at("items");
  const json::object& shown = items.as_array().at(0).as_object();
  EXPECT_EQ(shown.at("mode"), "sync");
  EXPECT_EQ(to_json(shown.at("late_answer")), R"({"content_type":"text/plain","body":"wait"})");
  EXPECT_EQ(to_json(shown.at("late_reply")),
            R"({"to":"response_url","ca_file":null,"proxy":"http://[masked]@proxy:3128"})");
}

TEST_F(AdminState, DestinationsAreShownWithWhatWaitsAndWithoutSecrets) {
  put(NewEventBuilder().to({"backend", "gone"}).build());
  put(NewEventBuilder().to({"backend"}).build());
  const HttpResponse answer = get("/api/v1/destinations");
  EXPECT_EQ(answer.body.find("secret\""), std::string::npos);
  EXPECT_EQ(answer.body.find("s3cret"), std::string::npos);
  const json::value items = object_of(answer).at("items");
  ASSERT_EQ(items.as_array().size(), 4u);
  const json::object& backend = items.as_array().at(0).as_object();
  EXPECT_EQ(backend.at("name"), "backend");
  EXPECT_EQ(backend.at("waiting"), 2);
  EXPECT_EQ(backend.at("url"), "http://127.0.0.1:9000/backend?[masked]");
  EXPECT_EQ(backend.at("lease"), "30s");
  EXPECT_EQ(backend.at("retry").at("attempts"), 20);
  EXPECT_EQ(to_json(items.as_array().at(3)), R"({"name":"gone","orphaned":true,"waiting":1,"paused":false})");
}

TEST_F(AdminState, DestinationsCountTheirAttempts) {
  DestinationCounters& counters = destination_counters("backend");
  const auto before = counters.delivered.value();
  counters.delivered.add();
  counters.delivered_rate.add(clock_.now());
  counters.failed.add(2);
  const json::value items = got("/api/v1/destinations").at("items");
  const json::object& backend = items.as_array().at(0).as_object();
  EXPECT_EQ(json_int(json::value(backend), "delivered"), static_cast<std::int64_t>(before + 1));
  EXPECT_GE(json_int(json::value(backend), "failed"), 2);
  EXPECT_GE(json_int(json::value(backend), "delivered_last_minute"), 1);
  EXPECT_GE(json_int(got("/api/v1/stats").at("deliveries"), "delivered"), static_cast<std::int64_t>(before + 1));
}

TEST_F(AdminState, ADestinationsBreakerIsShownAsItStands) {
  const auto breaker = [this] {
    return got("/api/v1/destinations").at("items").as_array().at(2).as_object().at("breaker").as_object();
  };
  DestinationCounters& counters = destination_counters("spare");
  EXPECT_EQ(breaker().at("state"), "closed");
  EXPECT_TRUE(breaker().at("open_until").is_null());
  const Time until = clock_.now() + std::chrono::seconds(5);
  counters.set_breaker(until);
  EXPECT_EQ(breaker().at("state"), "open");
  EXPECT_EQ(breaker().at("open_until"), json::value(to_rfc3339(until)));
  EXPECT_EQ(breaker().at("opened"), 1);
  clock_.advance(std::chrono::seconds(5));
  EXPECT_EQ(breaker().at("state"), "half_open");
  counters.set_breaker(std::nullopt);
  EXPECT_EQ(breaker().at("state"), "closed");
  EXPECT_EQ(breaker().at("open_max"), "30s");
}

TEST_F(AdminState, AProxysPasswordIsNotShown) {
  Config config = shop_config();
  config.destinations.at("spare").proxy = "http://user:s3cret@proxy.internal:3128";
  configure(std::move(config));
  const HttpResponse answer = get("/api/v1/destinations");
  EXPECT_EQ(answer.body.find("s3cret"), std::string::npos);
  EXPECT_NE(answer.body.find("proxy.internal:3128"), std::string::npos);
}

TEST_F(AdminState, StatsTellDepthsAndOrphans) {
  put(NewEventBuilder().to({"backend", "gone"}).build());
  ASSERT_EQ(claim("backend").size(), 1u);
  put(NewEventBuilder().to({"billing"}).build());
  settle(death(claim("billing").at(0)));
  const json::object stats = got("/api/v1/stats");
  EXPECT_EQ(stats.at("events"), 2);
  const json::object& deliveries = stats.at("deliveries").as_object();
  EXPECT_EQ(deliveries.at("pending"), 1);
  EXPECT_EQ(deliveries.at("in_flight"), 1);
  EXPECT_EQ(deliveries.at("dead"), 1);
  EXPECT_EQ(deliveries.at("orphaned"), 1);
  EXPECT_EQ(deliveries.at("oldest_pending_at"), json::value(to_rfc3339(clock_.now())));
  EXPECT_EQ(stats.at("destinations").at("backend").at("waiting"), 1);
  EXPECT_EQ(stats.at("store").at("ready"), true);
  EXPECT_EQ(stats.at("draining"), false);
}

TEST_F(AdminState, AReloadIsSeenByTheNextCall) {
  Config config = shop_config();
  config.destinations.erase("spare");
  configure(std::move(config));
  EXPECT_EQ(got("/api/v1/destinations").at("items").as_array().size(), 2u);
}

}  // namespace
}  // namespace hookonce
