#include "cli/sink.h"

#include <gmock/gmock.h>

#include "base/bytes.h"
#include "provider/registry.h"
#include "test/support/asserts.h"
#include "test/support/manual_clock.h"
#include "test/support/recording_channel.h"

namespace hookonce {
namespace {

using testing::HasSubstr;

class SinkTest : public testing::Test {
 protected:
  std::shared_ptr<RecordingChannel> call(Sink& sink, HttpRequest request) {
    auto channel = std::make_shared<RecordingChannel>(loop_);
    EXPECT_FALSE(sink.on_head(request).refuse.has_value());
    sink.on_request(std::move(request), Responder(channel));
    return channel;
  }
  int post(Sink& sink, std::string body, Headers headers = {}) {
    HttpRequest request;
    request.method = "POST";
    request.path = "/hook";
    request.headers = std::move(headers);
    request.body = std::move(body);
    return call(sink, std::move(request))->answer().value().status;
  }
  json::value get(Sink& sink, std::string path) {
    HttpRequest request;
    request.method = "GET";
    request.path = std::move(path);
    return parse_json(call(sink, std::move(request))->answer().value().body).value();
  }
  TestLoop loop_;
  ManualClock clock_;
  int wakes_ = 0;
};

TEST_F(SinkTest, CountsEffectsByTheEventId) {
  Sink sink({}, clock_, [this] { ++wakes_; });
  EXPECT_EQ(post(sink, R"({"id":"evt_1","event_id":"Ev1"})"), 200);
  EXPECT_EQ(post(sink, R"({"id":"evt_2"})"), 200);
  EXPECT_EQ(post(sink, R"({"id":"evt_2"})", {{"Webhook-Id", "w"}}), 200);
  EXPECT_EQ(post(sink, R"({"id":"evt_3"})", {{"X-GitHub-Delivery", "guid"}}), 200);
  EXPECT_EQ(post(sink, "not json", {{"Webhook-Id", "w"}}), 200);
  EXPECT_EQ(post(sink, "{}"), 200);
  EXPECT_EQ(to_json(get(sink, "/effects")), R"({"Ev1":1,"evt_2":2,"guid":1,"w":1})");
  EXPECT_EQ(wakes_, 6);
  EXPECT_THAT(sink.take_lines(), HasSubstr("AGAIN"));
  EXPECT_EQ(sink.take_lines(), "");
}

TEST_F(SinkTest, OnlySuccessIsAnEffectAndTheFirstOnesOfEachIdFail) {
  SinkOptions options;
  options.fail_first = 2;
  options.status = 202;
  Sink sink(std::move(options), clock_, [] {});
  EXPECT_EQ(post(sink, R"({"id":"a"})"), 500);
  EXPECT_EQ(post(sink, R"({"id":"b"})"), 500);
  EXPECT_EQ(post(sink, R"({"id":"a"})"), 500);
  EXPECT_EQ(post(sink, R"({"id":"a"})"), 202);
  EXPECT_EQ(post(sink, R"({"id":"a"})"), 202);
  EXPECT_EQ(to_json(get(sink, "/effects")), R"({"a":2})");
}

TEST_F(SinkTest, AnotherStatusIsNoEffect) {
  SinkOptions options;
  options.status = 503;
  Sink sink(std::move(options), clock_, [] {});
  EXPECT_EQ(post(sink, R"({"id":"a"})"), 503);
  EXPECT_EQ(to_json(get(sink, "/effects")), "{}");
}

TEST_F(SinkTest, ShowsTheRawRequestsInOrder) {
  Sink sink({}, clock_, [] {});
  const std::string body("\0\xff", 2);
  HttpRequest request;
  request.method = "PUT";
  request.path = "/a";
  request.query = "b=1";
  request.headers = {{"X-Twice", "1"}, {"X-Twice", ""}};
  request.body = body;
  call(sink, std::move(request));
  post(sink, "{}");
  const json::value list = get(sink, "/requests");
  ASSERT_EQ(list.get_array().size(), 2u);
  EXPECT_EQ(to_json(list.get_array()[0]),
            R"({"method":"PUT","path":"/a?b=1","headers":[["X-Twice","1"],["X-Twice",""]],"body_base64":")" +
                to_base64(body) + R"(","status":200,"received_at":")" + to_rfc3339(clock_.wall()) + R"("})");
}

TEST_F(SinkTest, ForgedRequestIsRefusedAndCountsNothing) {
  SinkOptions options;
  options.provider = find_provider("stripe");
  BindSettings settings;
  settings.secrets = {"whsec_test"};
  settings.tolerance = std::chrono::minutes(5);
  options.verifier = options.provider->bind(settings).value();
  const Provider* stripe = options.provider;
  Sink sink(std::move(options), clock_, [] {});
  SampleRequest sample;
  sample.id = "evt_1";
  const SampleMessage forged = stripe->sample(sample, "whsec_other", clock_.wall()).value();
  const SampleMessage genuine = stripe->sample(sample, "whsec_test", clock_.wall()).value();
  EXPECT_EQ(post(sink, forged.body, forged.headers), 401);
  EXPECT_THAT(sink.take_lines(), HasSubstr("signature_mismatch"));
  EXPECT_EQ(post(sink, genuine.body, genuine.headers), 200);
  EXPECT_EQ(to_json(get(sink, "/effects")), R"({"evt_1":1})");
}

TEST_F(SinkTest, DelayedAnswerIsTheDeadlinesAndIsLetGoLater) {
  SinkOptions options;
  options.delay = std::chrono::seconds(3);
  options.status = 204;
  Sink sink(std::move(options), clock_, [] {});
  HttpRequest request;
  request.method = "POST";
  request.body = R"({"id":"a"})";
  auto first = call(sink, std::move(request));
  EXPECT_FALSE(first->answer().has_value());
  EXPECT_EQ(first->deadline(), clock_.now() + std::chrono::seconds(3));
  first->pass_deadline();
  EXPECT_EQ(first->answer()->status, 204);
  EXPECT_EQ(to_json(get(sink, "/effects")), R"({"a":1})") << "the work is done before the answer leaves";

  clock_.advance(std::chrono::minutes(1));
  HttpRequest second;
  second.method = "POST";
  call(sink, std::move(second));
  EXPECT_EQ(first.use_count(), 1) << "an answered request must not be kept";
  sink.end();
}

TEST_F(SinkTest, UnprintedLinesAreBounded) {
  Sink sink({}, clock_, [] {});
  for (std::size_t i = 0; i < kSinkLinesMax + 5; ++i) post(sink, "");
  EXPECT_THAT(sink.take_lines(), HasSubstr("(5 more, printed too slowly)"));
}

}  // namespace
}  // namespace hookonce
