// When an event cannot be stored in time, and how the gateway starts, reloads and ends: the last rows of the table of
// answers.
#include <gtest/gtest.h>

#include "core/source_counters.h"
#include "test/support/ingest_fixture.h"

namespace hookonce {
namespace {

const std::string kSecret = "whsec_test_stripe";

class IngestUnavailable : public IngestFixture {
 protected:
  using IngestFixture::IngestFixture;
  void SetUp() override { use(source_of("stripe", "stripe", {kSecret})); }
  HttpRequest stripe_event(const std::string& id) { return signed_by("stripe", "stripe", kSecret, {.id = id}); }

  void expect_503(const HttpResponse& answer, const std::string& code) {
    EXPECT_EQ(answer.status, 503);
    EXPECT_EQ(error_code(answer), code);
    EXPECT_EQ(header_of(answer, "Retry-After"), "5");
    EXPECT_FALSE(answer.headers.has("Hookonce-Event"));
    EXPECT_FALSE(answer.headers.has("x-slack-no-retry"));
  }
};

TEST_F(IngestUnavailable, AStoreThatIsAwayIs503) {
  store_.fall_ill("no space left");
  const HttpResponse answer = send(stripe_event("evt_1"));
  expect_503(answer, "store_unavailable");
  EXPECT_EQ(answer.body.find("space"), std::string::npos) << "the reason is the operator's";
  ASSERT_FALSE(seen_.empty());
  EXPECT_EQ(seen_.back().what, "store_unavailable");
}

TEST_F(IngestUnavailable, ACommitThatMayHaveTakenEffectIs503) {
  store_.script_commit(unknown_outcome("COMMIT failed"));
  expect_503(send(stripe_event("evt_1")), "store_unavailable");
}

TEST_F(IngestUnavailable, AnEventThatCannotBeStoredIs503) {
  store_.script_commit(internal("no such column"));
  expect_503(send(stripe_event("evt_1")), "store_unavailable");
}

TEST_F(IngestUnavailable, TheNextTryAfterA503IsAccepted) {
  store_.script_commit(internal("for once"));
  expect_503(send(stripe_event("evt_1")), "store_unavailable");
  EXPECT_EQ(header_of(send(stripe_event("evt_1")), "Hookonce-Status"), "accepted");
}

TEST_F(IngestUnavailable, TheDeadlineCountsFromTheHeadAndIsTheProviders) {
  store_.close_gate();
  HttpRequest request = stripe_event("evt_1");
  request.head_at -= std::chrono::milliseconds(700);  // the body took its time
  const auto channel = begin(std::move(request));
  ASSERT_TRUE(channel->deadline());
  EXPECT_EQ(*channel->deadline(), clock_.now() - std::chrono::milliseconds(700) + std::chrono::seconds(2));
  store_.open_gate();
  await(channel);
}

TEST_F(IngestUnavailable, ACommitThatComesTooLateIsAnswered503AndTheRetryIsADuplicate) {
  store_.close_gate();
  auto channel = begin(stripe_event("evt_1"));
  store_.await_commit();
  clock_.advance(std::chrono::seconds(3));
  channel->pass_deadline();
  expect_503(*channel->answer(), "store_unavailable");
  store_.open_gate();
  ASSERT_TRUE(loop_.run_until([&] { return channel->responds() == 1; }));
  expect_503(*channel->answer(), "store_unavailable");

  const HttpResponse retry = send(stripe_event("evt_1"));
  EXPECT_EQ(header_of(retry, "Hookonce-Status"), "duplicate");
  EXPECT_EQ(header_of(retry, "Hookonce-Event"), only_event().summary.id.text());
}

TEST_F(IngestUnavailable, AnEventWhoseDeadlinePassedInTheQueueIsNotStored) {
  store_.close_gate();
  auto first = begin(stripe_event("evt_1"));
  store_.await_commit();
  auto second = begin(stripe_event("evt_2"));
  clock_.advance(std::chrono::seconds(3));
  store_.open_gate();
  expect_503(await(second), "store_unavailable");
  EXPECT_EQ(only_event().summary.key, "evt_1");
}

TEST_F(IngestUnavailable, AProviderThatHangsUpChangesNothing) {
  store_.close_gate();
  auto channel = begin(stripe_event("evt_1"));
  store_.await_commit();
  channel->respond({});  // the server's channel ignores every answer from here on
  store_.open_gate();
  ASSERT_TRUE(loop_.run_until([&] { return channel->responds() == 2; }));
  EXPECT_EQ(only_event().summary.key, "evt_1");
  EXPECT_EQ(header_of(send(stripe_event("evt_1")), "Hookonce-Status"), "duplicate");
}

class IngestOverload : public IngestUnavailable {
 protected:
  IngestOverload() : IngestUnavailable(options()) {}
  static Committer::Options options() {
    Committer::Options options;
    options.queue_max = 1;
    return options;
  }
};

TEST_F(IngestOverload, AFullQueueIs503Overloaded) {
  store_.close_gate();
  auto committing = begin(stripe_event("evt_1"));
  store_.await_commit();
  auto waiting = begin(stripe_event("evt_2"));
  expect_503(send(stripe_event("evt_3")), "overloaded");
  store_.open_gate();
  EXPECT_EQ(await(committing).status, 200);
  EXPECT_EQ(await(waiting).status, 200);
  EXPECT_EQ(events().size(), 2u);
}

TEST_F(IngestUnavailable, WhileDrainingNewRequestsAre503AndTheConnectionEnds) {
  ingest_.drain();
  const HttpResponse answer = send(stripe_event("evt_1"));
  expect_503(answer, "draining");
  EXPECT_TRUE(answer.close);
  EXPECT_TRUE(events().empty());
}

TEST_F(IngestUnavailable, ARequestThatCameBeforeTheDrainIsServedToItsEnd) {
  HttpRequest request = stripe_event("evt_1");
  EXPECT_FALSE(ingest_.on_head(request).refuse);
  ingest_.drain();
  auto channel = std::make_shared<RecordingChannel>(loop_);
  ingest_.on_request(std::move(request), Responder(channel));
  EXPECT_EQ(header_of(await(channel), "Hookonce-Status"), "accepted");
}

class IngestHealth : public IngestUnavailable {
 protected:
  HttpResponse get(const std::string& path, const std::string& method = "GET") {
    HttpRequest request = post(path, {}, "");
    request.method = method;
    return send(std::move(request));
  }
};

TEST_F(IngestHealth, IsAnsweredOnTheIngestListenerToo) {
  for (const char* method : {"GET", "HEAD"}) {
    EXPECT_EQ(get("/healthz", method).status, 200);
    EXPECT_EQ(get("/readyz", method).status, 200);
  }
  EXPECT_EQ(get("/healthz", "POST").status, 405);
  EXPECT_EQ(header_of(get("/readyz", "POST"), "Allow"), "GET, HEAD");
}

TEST_F(IngestHealth, IsNotReadyWhileTheStoreIsAwayAndDoesNotSayWhy) {
  store_.fall_ill("no space left");
  const HttpResponse answer = get("/readyz");
  EXPECT_EQ(answer.status, 503);
  EXPECT_EQ(answer.body.find("space"), std::string::npos);
  EXPECT_EQ(get("/healthz").status, 200);
  store_.heal();
  EXPECT_EQ(get("/readyz").status, 200);
}

TEST_F(IngestHealth, IsNotReadyWhileDraining) {
  ingest_.drain();
  EXPECT_EQ(get("/readyz").status, 503);
  EXPECT_EQ(get("/healthz").status, 200);
}

TEST_F(IngestUnavailable, AReloadSwapsTheSourcesAndKeepsTheKeys) {
  send(stripe_event("evt_1"));
  SourceConfig moved = source_of("stripe", "stripe", {"whsec_new", kSecret});
  moved.path = "/moved";
  use(moved);
  EXPECT_EQ(send(stripe_event("evt_1")).status, 404);
  HttpRequest request = signed_by("stripe", "stripe", "whsec_new", {.id = "evt_1"});
  request.path = "/moved";
  EXPECT_EQ(header_of(send(std::move(request)), "Hookonce-Status"), "duplicate");
}

TEST_F(IngestUnavailable, ARefusedReloadChangesNothing) {
  SourceConfig first = source_of("a", "stripe", {kSecret});
  SourceConfig second = source_of("b", "stripe", {kSecret});
  second.path = first.path + "/";
  const Status twice = ingest_.configure(std::make_shared<const Config>(config_of({first, second})));
  EXPECT_EQ(twice.code(), Code::kInvalid);
  EXPECT_NE(twice.message().find("\"a\""), std::string::npos) << twice.message();
  EXPECT_NE(twice.message().find("\"b\""), std::string::npos) << twice.message();

  SourceConfig unknown = source_of("c", "stripe", {kSecret});
  unknown.provider = "nobody";
  EXPECT_FALSE(ingest_.configure(std::make_shared<const Config>(config_of({unknown}))).ok());

  Config proxies = config_of({first});
  proxies.server.trusted_proxies = {"somewhere"};
  EXPECT_FALSE(ingest_.configure(std::make_shared<const Config>(std::move(proxies))).ok());
  EXPECT_EQ(send(stripe_event("evt_1")).status, 200);
}

TEST_F(IngestUnavailable, AReloadDuringACommitDoesNotDisturbIt) {
  store_.close_gate();
  auto channel = begin(stripe_event("evt_1"));
  store_.await_commit();
  use(source_of("other", "none", {}));
  store_.open_gate();
  EXPECT_EQ(header_of(await(channel), "Hookonce-Status"), "accepted");
}

TEST(IngestUnconfigured, KnowsNoSource) {
  ManualClock clock;
  ScriptedStore store;
  Committer committer(store, clock, {});
  Ingest ingest(store, committer, clock);
  HttpRequest head;
  head.method = "POST";
  head.path = "/in/x";
  ASSERT_TRUE(ingest.on_head(head).refuse);
  EXPECT_EQ(ingest.on_head(head).refuse->status, 404);
}

}  // namespace
}  // namespace hookonce
