// Rejected requests: handed over whole, and taken again once the secret is right.
#include <gtest/gtest.h>

#include "test/support/ingest_fixture.h"

namespace hookonce {
namespace {

using std::chrono::hours;

const std::string kWrong = "whsec_wrong";
const std::string kRight = "whsec_right";

class IngestRejected : public IngestFixture {
 protected:
  IngestRejected() { use(source_of("stripe", "stripe", {kWrong})); }
  void keep(RejectedRequest request) override { kept_.push_back(std::move(request)); }
  HttpRequest event(const std::string& id) const { return signed_by("stripe", "stripe", kRight, {.id = id}); }

  std::vector<RejectedRequest> kept_;
};

TEST_F(IngestRejected, AreHandedOverWholeWithTheReason) {
  HttpRequest request = event("evt_1");
  request.query = "a=1";
  request.headers.add("X-Empty", "");
  const HttpRequest sent = post(request.path, request.headers, request.body);
  EXPECT_EQ(send(std::move(request)).status, 401);
  ASSERT_EQ(kept_.size(), 1u);
  const RejectedRequest& kept = kept_[0];
  EXPECT_EQ(kept.source, "stripe");
  EXPECT_EQ(kept.code, "signature_mismatch");
  EXPECT_NE(kept.reason.find("stripe"), std::string::npos);
  EXPECT_EQ(kept.first_at, clock_.wall());
  EXPECT_EQ(kept.remote, "203.0.113.7");
  EXPECT_EQ(kept.path, sent.path);
  EXPECT_EQ(kept.query, "a=1");
  EXPECT_EQ(kept.headers, sent.headers);
  EXPECT_EQ(kept.body, sent.body);
}

TEST_F(IngestRejected, OnlyRejectionsAreKept) {
  use(source_of("stripe", "stripe", {kRight}));
  EXPECT_EQ(send(event("evt_1")).status, 200);
  store_.fall_ill("away");
  EXPECT_EQ(send(event("evt_2")).status, 503);
  EXPECT_TRUE(kept_.empty());
}

TEST_F(IngestRejected, AreArrivalsOfTheirMomentOnceTheSecretIsRight) {
  send(event("evt_1"));
  const Time arrived_at = clock_.wall();
  clock_.advance(hours(3));  // far beyond the tolerance of the time stamp
  EXPECT_EQ(ingest_.accept_again(kept_.at(0)).status, 401);
  EXPECT_EQ(kept_.size(), 1u) << "it is not kept once more";

  use(source_of("stripe", "stripe", {kWrong, kRight}));
  const HttpResponse answer = ingest_.accept_again(kept_.at(0));
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.headers.first("Hookonce-Status"), "accepted");
  const EventDetail stored = only_event();
  EXPECT_EQ(stored.summary.key, "evt_1");
  EXPECT_EQ(stored.arrivals.at(0).arrival.at, arrived_at);
  EXPECT_EQ(stored.arrivals.at(0).arrival.secret, 1);
  EXPECT_EQ(ingest_.accept_again(kept_.at(0)).headers.first("Hookonce-Status"), "duplicate");
  EXPECT_EQ(send(event("evt_1")).headers.first("Hookonce-Status"), "duplicate");
}

TEST_F(IngestRejected, WhoeverAcceptsThemIsToldMoreThanTheirSender) {
  HttpRequest changed = event("evt_1");
  changed.body += "\n";
  send(std::move(changed));
  use(source_of("stripe", "stripe", {kRight}));
  const HttpResponse answer = ingest_.accept_again(kept_.at(0));
  EXPECT_EQ(answer.status, 401);
  EXPECT_NE(error_message(answer).find("the body was changed after signing"), std::string::npos);
}

TEST_F(IngestRejected, AStaleTimeStampIsAcceptedWithAToleranceThatCoversItAndNotWithout) {
  use(source_of("stripe", "stripe", {kRight}));
  HttpRequest stale = event("evt_1");
  stale.wall_at += std::chrono::seconds(400);
  send(std::move(stale));
  const HttpResponse refused = ingest_.accept_again(kept_.at(0));
  EXPECT_EQ(error_code(refused), "timestamp_out_of_tolerance");
  EXPECT_NE(error_message(refused).find("raise the source's `tolerance`"), std::string::npos);
  SourceConfig wider = source_of("stripe", "stripe", {kRight});
  wider.tolerance = std::chrono::seconds(400);
  use(wider);
  EXPECT_EQ(ingest_.accept_again(kept_.at(0)).headers.first("Hookonce-Status"), "accepted");
}

TEST_F(IngestRejected, TheEventIsReceivedWhenItIsAcceptedAndItsArrivalIsOfItsMoment) {
  send(event("evt_1"));
  const Time arrived_at = clock_.wall();
  clock_.advance(hours(3));
  use(source_of("stripe", "stripe", {kRight}));
  ingest_.accept_again(kept_.at(0));
  const EventDetail stored = only_event();
  EXPECT_EQ(stored.arrivals.at(0).arrival.at, arrived_at);
  EXPECT_GE(stored.summary.received_at, arrived_at + hours(3)) << "else it would be behind the newest of the list";
}

TEST_F(IngestRejected, WithoutADedupKeyTheyAreOneEventHoweverOftenTheyAreAccepted) {
  SourceConfig source = source_of("plain", "token", {"wrong"});
  source.token = TokenScheme{"X-Pass", ""};
  use(source);
  send(post("/in/plain", {{"X-Pass", "right"}}, "body"));
  source.secrets = {"right"};
  use(source);
  EXPECT_EQ(ingest_.accept_again(kept_.at(0)).headers.first("Hookonce-Status"), "accepted");
  EXPECT_EQ(ingest_.accept_again(kept_.at(0)).headers.first("Hookonce-Status"), "duplicate");
  EXPECT_EQ(only_event().summary.key, std::nullopt);
}

TEST_F(IngestRejected, AreRefusedWhereTheirSourceIsGone) {
  send(event("evt_1"));
  use(source_of("other", "stripe", {kRight}));
  EXPECT_EQ(ingest_.accept_again(kept_.at(0)).status, 404);
  SourceConfig usurper = source_of("other", "stripe", {kRight});
  usurper.path = "/in/stripe";
  use(usurper);
  EXPECT_EQ(ingest_.accept_again(kept_.at(0)).status, 404) << "another source at the same path vouches for nothing";
}

}  // namespace
}  // namespace hookonce
