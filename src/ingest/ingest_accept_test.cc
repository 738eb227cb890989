// What becomes an event, and what is one already: rows one to four of the table of answers, over the real committer.
#include <gtest/gtest.h>

#include "base/bytes.h"
#include "base/crypto.h"
#include "core/dedup.h"
#include "core/source_counters.h"
#include "test/support/event_builder.h"
#include "test/support/ingest_fixture.h"

namespace hookonce {
namespace {

const std::string kStripeSecret = "whsec_test_stripe";
const std::string kStripeOther = "whsec_test_stripe_listen";
const std::string kSlackSecret = "8f742231b10e8888abcd99yyyzzz85a5";
const std::string kGithubSecret = "test github secret";
const std::string kWebhookSecret = "whsec_" + to_base64("a signing key for tests only");

class IngestAccept : public IngestFixture {
 protected:
  SourceConfig stripe() { return source_of("stripe", "stripe", {kStripeSecret, kStripeOther}); }
  HttpRequest stripe_event(const std::string& id, const std::string& secret = kStripeSecret) {
    return signed_by("stripe", "stripe", secret, {.id = id});
  }
  // Makes the event's deliveries end as `next` says.
  void end_deliveries(Next next) {
    auto claimed =
        store_.claim({{{"backend", 100, std::chrono::seconds(30), 20, std::chrono::hours(72)}}}, clock_.now());
    ASSERT_OK(claimed);
    ASSERT_FALSE(claimed->leases.empty());
    for (const Lease& lease : claimed->leases) {
      const Settlement ended = next == Next::kDead ? death(lease) : success(lease);
      ASSERT_OK(store_.commit({}, std::span(&ended, 1), clock_.now()));
    }
  }
};

TEST_F(IngestAccept, AFirstArrivalIsAcceptedAndStored) {
  use(stripe());
  HttpRequest request = stripe_event("evt_1");
  const std::string body = request.body;
  const Headers headers = request.headers;
  const HttpResponse answer = send(std::move(request));

  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(header_of(answer, "Hookonce-Status"), "accepted");
  const EventDetail stored = only_event();
  EXPECT_EQ(header_of(answer, "Hookonce-Event"), stored.summary.id.text());
  EXPECT_EQ(answer.body, R"({"status":"accepted","id":")" + stored.summary.id.text() + R"("})");
  EXPECT_EQ(stored.summary.source, "stripe");
  EXPECT_EQ(stored.summary.type, "invoice.paid");
  EXPECT_EQ(stored.summary.key, "evt_1");
  EXPECT_EQ(stored.body, body);
  EXPECT_EQ(stored.headers, headers);
  ASSERT_EQ(stored.arrivals.size(), 1u);
  EXPECT_EQ(stored.arrivals[0].arrival.remote, "203.0.113.7");
  EXPECT_EQ(stored.arrivals[0].arrival.secret, 0);
  EXPECT_EQ(stored.arrivals[0].arrival.provider_time, clock_.wall());
  EXPECT_EQ(stored.arrivals[0].arrival.body_hash, body_hash(body));
  ASSERT_EQ(stored.deliveries.size(), 1u);
  EXPECT_EQ(stored.deliveries[0].destination, "backend");
}

TEST_F(IngestAccept, ADuplicateIsAnsweredWithTheFirstsId) {
  use(stripe());
  const std::string id = header_of(send(stripe_event("evt_1")), "Hookonce-Event");
  clock_.advance(std::chrono::minutes(61));
  const HttpResponse answer = send(stripe_event("evt_1", kStripeOther));
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(header_of(answer, "Hookonce-Status"), "duplicate");
  EXPECT_EQ(header_of(answer, "Hookonce-Event"), id);
  EXPECT_EQ(answer.body, R"({"status":"duplicate","id":")" + id + R"("})");
  const EventDetail stored = only_event();
  EXPECT_EQ(stored.summary.duplicates, 1);
  ASSERT_EQ(stored.arrivals.size(), 2u);
  EXPECT_EQ(stored.arrivals[1].arrival.secret, 1);
  EXPECT_EQ(stored.arrivals[1].arrival.at, clock_.now());
}

TEST_F(IngestAccept, ADuplicateThatArrivesMeanwhileWaitsForTheFirstsCommit) {
  use(stripe());
  store_.close_gate();
  auto first = begin(stripe_event("evt_1"));
  store_.await_commit();
  auto twin = begin(stripe_event("evt_1"));
  loop_.run_posted();
  EXPECT_FALSE(first->answer());
  EXPECT_FALSE(twin->answer());
  store_.open_gate();
  const HttpResponse accepted = await(first);
  const HttpResponse duplicate = await(twin);
  EXPECT_EQ(header_of(accepted, "Hookonce-Status"), "accepted");
  EXPECT_EQ(header_of(duplicate, "Hookonce-Status"), "duplicate");
  EXPECT_EQ(header_of(accepted, "Hookonce-Event"), header_of(duplicate, "Hookonce-Event"));
}

TEST_F(IngestAccept, ManyCopiesAtOnceAreOneEvent) {
  use(stripe());
  std::vector<std::shared_ptr<RecordingChannel>> copies;
  for (int i = 0; i < 64; ++i) copies.push_back(begin(stripe_event("evt_1")));
  int accepted = 0;
  for (const auto& copy : copies) {
    const HttpResponse answer = await(copy);
    EXPECT_EQ(answer.status, 200);
    accepted += header_of(answer, "Hookonce-Status") == "accepted";
  }
  EXPECT_EQ(accepted, 1);
  EXPECT_EQ(only_event().summary.duplicates, 63);
}

TEST_F(IngestAccept, ADuplicateOfADeadEventSendsItAgainOnce) {
  use(stripe());
  const std::string id = header_of(send(stripe_event("evt_1")), "Hookonce-Event");
  end_deliveries(Next::kDead);
  const HttpResponse rearmed = send(stripe_event("evt_1"));
  EXPECT_EQ(rearmed.status, 200);
  EXPECT_EQ(header_of(rearmed, "Hookonce-Status"), "rearmed");
  EXPECT_EQ(header_of(rearmed, "Hookonce-Event"), id);
  EXPECT_EQ(rearmed.body, R"({"status":"rearmed","id":")" + id + R"("})");
  EXPECT_EQ(only_event().summary.state, EventState::kPending);
  EXPECT_EQ(header_of(send(stripe_event("evt_1")), "Hookonce-Status"), "duplicate");
}

TEST_F(IngestAccept, OfConcurrentDuplicatesOneRearms) {
  use(stripe());
  send(stripe_event("evt_1"));
  end_deliveries(Next::kDead);
  std::vector<std::shared_ptr<RecordingChannel>> copies;
  for (int i = 0; i < 8; ++i) copies.push_back(begin(stripe_event("evt_1")));
  int rearmed = 0;
  for (const auto& copy : copies) rearmed += header_of(await(copy), "Hookonce-Status") == "rearmed";
  EXPECT_EQ(rearmed, 1);
}

TEST_F(IngestAccept, ADeliveredEventIsNeverRearmed) {
  use(stripe());
  send(stripe_event("evt_1"));
  end_deliveries(Next::kDelivered);
  EXPECT_EQ(header_of(send(stripe_event("evt_1")), "Hookonce-Status"), "duplicate");
  EXPECT_EQ(only_event().summary.state, EventState::kDelivered);
}

TEST_F(IngestAccept, WithoutRearmADeadEventStaysDead) {
  SourceConfig source = stripe();
  source.rearm = false;
  use(source);
  send(stripe_event("evt_1"));
  end_deliveries(Next::kDead);
  EXPECT_EQ(header_of(send(stripe_event("evt_1")), "Hookonce-Status"), "duplicate");
  EXPECT_EQ(only_event().summary.state, EventState::kDead);
}

TEST_F(IngestAccept, TheWindowRunsFromTheFirstArrivalWhateverComesMeanwhile) {
  SourceConfig source = stripe();
  source.dedup_window = std::chrono::hours(1);
  use(source);
  const std::string first = header_of(send(stripe_event("evt_1")), "Hookonce-Event");
  clock_.advance(std::chrono::minutes(59));
  EXPECT_EQ(header_of(send(stripe_event("evt_1")), "Hookonce-Status"), "duplicate");
  clock_.advance(std::chrono::minutes(2));
  const HttpResponse answer = send(stripe_event("evt_1"));
  EXPECT_EQ(header_of(answer, "Hookonce-Status"), "accepted");
  EXPECT_NE(header_of(answer, "Hookonce-Event"), first);
}

TEST_F(IngestAccept, TheSourceIsTheNameSpaceOfItsKeys) {
  SourceConfig other = stripe();
  other.name = "other";
  other.path = "/in/other";
  use(config_of({stripe(), other}));
  EXPECT_EQ(header_of(send(stripe_event("evt_1")), "Hookonce-Status"), "accepted");
  EXPECT_EQ(header_of(send(signed_by("stripe", "other", kStripeSecret, {.id = "evt_1"})), "Hookonce-Status"),
            "accepted");
}

TEST_F(IngestAccept, EveryProviderWithASignatureAcceptsItsSampleOnce) {
  SourceConfig hmac = source_of("hmac", "hmac", {"hmac secret"});
  hmac.hmac = HmacScheme{};
  hmac.hmac->header = "X-Signature";
  hmac.dedup_key = {FieldSpec::parse("json:/id").value()};
  use(config_of({stripe(), source_of("slack", "slack", {kSlackSecret}), source_of("github", "github", {kGithubSecret}),
                 source_of("standard_webhooks", "standard_webhooks", {kWebhookSecret}), hmac}));
  const std::pair<std::string, std::string> cases[] = {{"stripe", kStripeSecret},
                                                       {"slack", kSlackSecret},
                                                       {"github", kGithubSecret},
                                                       {"standard_webhooks", kWebhookSecret},
                                                       {"hmac", "hmac secret"}};
  for (const auto& [name, secret] : cases) {
    SampleRequest sample;
    sample.id = find_provider(name)->sample_id("seed");
    sample.signature_header = name == "hmac" ? "X-Signature" : "";
    EXPECT_EQ(header_of(send(signed_by(name, name, secret, sample)), "Hookonce-Status"), "accepted") << name;
    clock_.advance(std::chrono::minutes(1));
    sample.retry = true;
    EXPECT_EQ(header_of(send(signed_by(name, name, secret, sample)), "Hookonce-Status"), "duplicate") << name;
  }
  EXPECT_EQ(events().size(), std::size(cases));
}

TEST_F(IngestAccept, ATokenSourceTakesTheTokenAndANoneSourceEverything) {
  SourceConfig token = source_of("token", "token", {"the token"});
  token.token = TokenScheme{"X-Token", ""};
  token.dedup_key = {FieldSpec::parse("json:/id").value()};
  SourceConfig basic = source_of("basic", "token", {"password"});
  basic.token = TokenScheme{"", "user"};
  SourceConfig none = source_of("none", "none", {});
  none.dedup_key = {FieldSpec::parse("header:X-Id").value(), FieldSpec::parse("query:part").value()};
  use(config_of({token, basic, none}));

  EXPECT_EQ(header_of(send(post("/in/token", {{"X-Token", "the token"}}, R"({"id":7})")), "Hookonce-Status"),
            "accepted");
  EXPECT_EQ(header_of(send(post("/in/token", {{"X-Token", "the token"}}, R"({"id":"7"})")), "Hookonce-Status"),
            "duplicate");
  const std::string credentials = "Basic " + to_base64("user:password");
  EXPECT_EQ(header_of(send(post("/in/basic", {{"Authorization", credentials}}, "x")), "Hookonce-Status"), "accepted");
  HttpRequest composite = post("/in/none", {{"X-Id", "a"}}, "");
  composite.query = "part=1";
  EXPECT_EQ(header_of(send(std::move(composite)), "Hookonce-Status"), "accepted");
  composite = post("/in/none", {{"X-Id", "a"}}, "other bytes");
  composite.query = "part=1";
  EXPECT_EQ(header_of(send(std::move(composite)), "Hookonce-Status"), "duplicate");
  composite = post("/in/none", {{"X-Id", "a"}}, "");
  composite.query = "part=2";
  EXPECT_EQ(header_of(send(std::move(composite)), "Hookonce-Status"), "accepted");
}

TEST_F(IngestAccept, ARetryWhoseFirstAttemptNeverCameIsTheFirst) {
  use(source_of("slack", "slack", {kSlackSecret}));
  SampleRequest sample;
  sample.id = "Ev1";
  sample.retry = true;
  sample.retry_number = 2;
  EXPECT_EQ(header_of(send(signed_by("slack", "slack", kSlackSecret, sample)), "Hookonce-Status"), "accepted");
  const EventDetail stored = only_event();
  ASSERT_TRUE(stored.arrivals.at(0).arrival.retry);
  EXPECT_EQ(stored.arrivals[0].arrival.retry->number, 2);
}

TEST_F(IngestAccept, ARefusedRequestBurnsNoKey) {
  use(stripe());
  EXPECT_EQ(send(stripe_event("evt_1", "whsec_forged")).status, 401);
  HttpRequest changed = stripe_event("evt_1");
  changed.body += " ";
  EXPECT_EQ(send(std::move(changed)).status, 401);
  EXPECT_TRUE(events().empty());
  EXPECT_EQ(header_of(send(stripe_event("evt_1")), "Hookonce-Status"), "accepted");
}

TEST_F(IngestAccept, UnderAcceptAnEventWithoutIdIsADuplicateOfNothing) {
  SourceConfig source = stripe();
  source.dedup_also = {FieldSpec::parse("json:/object").value()};
  use(source);
  for (int i = 0; i < 2; ++i) {
    HttpRequest request = signed_by("stripe", "stripe", kStripeSecret, {.body = R"({"object":"event","type":"t"})"});
    EXPECT_EQ(header_of(send(std::move(request)), "Hookonce-Status"), "accepted");
  }
  for (const EventSummary& event : events()) EXPECT_EQ(event.key, std::nullopt);
  EXPECT_EQ(events().size(), 2u);
}

TEST_F(IngestAccept, UnderHashTheBodyIsTheKey) {
  SourceConfig source = stripe();
  source.missing_key = MissingKey::kHash;
  use(source);
  const std::string body = R"({"type":"t"})";
  EXPECT_EQ(header_of(send(signed_by("stripe", "stripe", kStripeSecret, {.body = body})), "Hookonce-Status"),
            "accepted");
  EXPECT_EQ(header_of(send(signed_by("stripe", "stripe", kStripeSecret, {.body = body})), "Hookonce-Status"),
            "duplicate");
  EXPECT_EQ(only_event().summary.key, "sha256:" + sha256_hex(body));
  EXPECT_EQ(header_of(send(signed_by("stripe", "stripe", kStripeSecret, {.body = body + " "})), "Hookonce-Status"),
            "accepted");
}

TEST_F(IngestAccept, AFurtherKeyMakesADuplicateToo) {
  SourceConfig source = stripe();
  source.dedup_also = {FieldSpec::parse("json:/object_id").value()};
  use(source);
  const auto event = [&](const std::string& body) {
    return signed_by("stripe", "stripe", kStripeSecret, {.body = body});
  };
  const std::string id = header_of(send(event(R"({"id":"evt_1","object_id":"in_1"})")), "Hookonce-Event");
  const HttpResponse answer = send(event(R"({"id":"evt_2","object_id":"in_1"})"));
  EXPECT_EQ(header_of(answer, "Hookonce-Status"), "duplicate");
  EXPECT_EQ(header_of(answer, "Hookonce-Event"), id);
  // The key that only the duplicate had leads to the same event from now on.
  EXPECT_EQ(header_of(send(event(R"({"id":"evt_2","object_id":"in_2"})")), "Hookonce-Event"), id);
  // A further key's value is not an id: the spaces are apart.
  EXPECT_EQ(header_of(send(event(R"({"id":"in_1","object_id":"in_9"})")), "Hookonce-Status"), "accepted");
}

TEST_F(IngestAccept, ADestinationGetsTheTypesThatItWants) {
  SourceConfig source = stripe();
  source.destinations = {{"invoices", {"invoice.*"}}, {"all", {}}, {"refunds", {"charge.refunded", "refund.*"}}};
  use(source);
  const auto destinations_of = [&](const std::string& type) {
    const HttpResponse answer = send(signed_by("stripe", "stripe", kStripeSecret, {.type = type, .id = "evt_" + type}));
    std::vector<std::string> names;
    for (const Delivery& delivery : event(header_of(answer, "Hookonce-Event")).deliveries) {
      names.push_back(delivery.destination);
    }
    return names;
  };
  EXPECT_EQ(destinations_of("invoice.paid"), (std::vector<std::string>{"all", "invoices"}));
  EXPECT_EQ(destinations_of("charge.refunded"), (std::vector<std::string>{"all", "refunds"}));
  EXPECT_EQ(destinations_of("customer.created"), (std::vector<std::string>{"all"}));
}

TEST_F(IngestAccept, ConditionsAreAskedOfTheBodyAndTheHeadersThatArrived) {
  SourceConfig source = stripe();
  const Condition paid{*FieldSpec::parse("json:/type"), Condition::Test::kGlob, {}, {"*.paid"}};
  const Condition signed_at_all{*FieldSpec::parse("header:Stripe-Signature"), Condition::Test::kExists, {}, {}};
  const Condition tagged{*FieldSpec::parse("header:X-Tag"), Condition::Test::kExists, {}, {}};
  source.destinations = {{"paid", {}, {paid, signed_at_all}}, {"tagged", {}, {tagged}}};
  use(source);
  SourceCounters& counters = source_counters("stripe");
  const auto unwanted = counters.unwanted.value();
  const auto stored = [&](const std::string& type) {
    const HttpResponse answer = send(signed_by("stripe", "stripe", kStripeSecret, {.type = type, .id = "evt_" + type}));
    EXPECT_EQ(answer.status, 200);
    return event(header_of(answer, "Hookonce-Event"));
  };
  const EventDetail wanted = stored("invoice.paid");
  ASSERT_EQ(wanted.deliveries.size(), 1u);
  EXPECT_EQ(wanted.deliveries[0].destination, "paid");
  EXPECT_EQ(counters.unwanted.value(), unwanted);
  const EventDetail other = stored("invoice.void");
  EXPECT_TRUE(other.deliveries.empty());
  EXPECT_EQ(other.summary.state, EventState::kDelivered) << "kept, and nothing is left to do";
  EXPECT_EQ(counters.unwanted.value(), unwanted + 1);
}

TEST_F(IngestAccept, TheClientIsWhomTheTrustedProxyNames) {
  Config config = config_of({stripe()});
  config.server.trusted_proxies = {"10.0.0.0/8"};
  use(std::move(config));
  HttpRequest request = stripe_event("evt_1");
  request.remote = "10.1.1.1";
  request.headers.add("X-Forwarded-For", "6.6.6.6, 198.51.100.9");
  const HttpResponse answer = send(std::move(request));
  EXPECT_EQ(event(header_of(answer, "Hookonce-Event")).arrivals.at(0).arrival.remote, "198.51.100.9");
}

TEST_F(IngestAccept, ForwardedHeadersAreTrustedOnlyFromTrustedProxies) {
  Config config = config_of({stripe()});
  config.server.trusted_proxies = {"10.0.0.0/8"};
  use(std::move(config));
  for (const auto& [remote, trusted] : {std::pair{"10.1.1.1", true}, std::pair{"203.0.113.7", false}}) {
    HttpRequest request = stripe_event(std::string("evt_") + remote);
    request.remote = remote;
    send(std::move(request));
    auto claimed = store_.claim({{{"backend", 1, std::chrono::seconds(30), 20, std::chrono::hours(72)}}}, clock_.now());
    ASSERT_OK(claimed);
    ASSERT_EQ(claimed->leases.size(), 1u);
    EXPECT_EQ(claimed->leases[0].forwarded_trusted, trusted) << remote;
  }
}

TEST_F(IngestAccept, WhatPeopleSeeAtTheProviderIsAnsweredEmpty) {
  use(source_of("slack", "slack", {kSlackSecret}));
  const std::string body = "command=%2Ftodo&text=&trigger_id=1.2.abc&team_id=T1&channel_id=C1";
  const std::string stamp =
      std::to_string(std::chrono::duration_cast<std::chrono::seconds>(clock_.wall().time_since_epoch()).count());
  const HmacKey key = HmacKey::make(HmacKey::Algorithm::kSha256, kSlackSecret);
  const HttpResponse answer = send(post("/in/slack",
                                        {{"Content-Type", "application/x-www-form-urlencoded"},
                                         {"X-Slack-Request-Timestamp", stamp},
                                         {"X-Slack-Signature", "v0=" + to_hex(key.sign({"v0:", stamp, ":", body}))}},
                                        body));
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.body, "");
  EXPECT_FALSE(answer.headers.has("Content-Type"));
  EXPECT_EQ(header_of(answer, "Hookonce-Status"), "accepted");
  EXPECT_EQ(header_of(answer, "Hookonce-Event"), only_event().summary.id.text());
}

TEST_F(IngestAccept, ABodysShareOfTheLimitIsHeldUntilTheAcceptIsDone) {
  use(stripe());
  Budget budget(1000);
  HttpRequest request = stripe_event("evt_1");
  ASSERT_TRUE(request.charge.grow(budget, 600));
  store_.close_gate();
  auto channel = begin(std::move(request));
  store_.await_commit();
  EXPECT_EQ(budget.used(), 600u);
  store_.open_gate();
  await(channel);
  EXPECT_EQ(budget.used(), 0u);
}

TEST_F(IngestAccept, TheObserverSeesEachFact) {
  use(stripe());
  send(stripe_event("evt_1"));
  send(stripe_event("evt_1"));
  send(stripe_event("evt_1", "whsec_forged"));
  ASSERT_EQ(seen_.size(), 3u);
  EXPECT_EQ(seen_[0].what, "accepted");
  EXPECT_EQ(seen_[1].what, "duplicate");
  EXPECT_EQ(seen_[2].what, "signature_mismatch");
}

TEST_F(IngestAccept, ConcludesWhyADuplicateCame) {
  use(stripe());
  HttpRequest first = stripe_event("evt_1");
  HttpRequest captured = post(first.path, first.headers, first.body);
  send(std::move(first));
  send(stripe_event("evt_1", kStripeOther));
  clock_.advance(std::chrono::seconds(3));
  captured.head_at = clock_.now();
  send(std::move(captured));
  send(stripe_event("evt_1"));
  clock_.advance(std::chrono::hours(1));
  send(stripe_event("evt_1"));
  EXPECT_EQ(causes_, (std::vector<Cause>{Cause::kFirst, Cause::kConcurrentTwin, Cause::kReplayedRequest,
                                         Cause::kProviderRetry, Cause::kManualResend}));
  const EventDetail stored = only_event();
  const SourceConfig source = stripe();
  const std::vector<Conclusion> shown = conclude(stored.arrivals, &source);
  ASSERT_EQ(shown.size(), causes_.size());
  for (std::size_t i = 0; i < shown.size(); ++i) EXPECT_EQ(shown[i].cause, causes_[i]) << i;
}

TEST_F(IngestAccept, CountsByVerdictAndCode) {
  SourceConfig source = stripe();
  source.name = "counted";
  source.path = "/in/counted";
  use(source);
  SourceCounters& counters = source_counters("counted");
  HttpRequest first = signed_by("stripe", "counted", kStripeSecret, {.id = "evt_1"});
  const std::size_t bytes = first.body.size();
  send(std::move(first));
  send(signed_by("stripe", "counted", kStripeSecret, {.id = "evt_1"}));
  send(signed_by("stripe", "counted", "whsec_forged", {.id = "evt_1"}));
  send(post("/in/counted", {}, "{}"));
  EXPECT_EQ(counters.accepted.value(), 1u);
  EXPECT_EQ(counters.duplicates(), 1u);
  EXPECT_EQ(counters.duplicate(Cause::kConcurrentTwin).value(), 1u);
  EXPECT_EQ(counters.refused(Refusal::kSignatureMismatch), 1u);
  EXPECT_EQ(counters.refused(Refusal::kSignatureMissing), 1u);
  EXPECT_EQ(counters.rejected(), 2u);
  EXPECT_EQ(counters.body_bytes.value(), 2 * bytes);
  EXPECT_EQ(counters.answer_seconds.count(), 2u);
  EXPECT_EQ(counters.accepted_rate.last_minute(clock_.now()), 1u);
}

}  // namespace
}  // namespace hookonce
