// Attempts over HTTP from the lease to the bytes on a real socket, and from the answer to the outcome.
#include "dispatch/http_sender.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <set>

#include "base/bytes.h"
#include "base/sync.h"
#include "dispatch/pool.h"
#include "store/memory_store.h"
#include "test/support/asserts.h"
#include "test/support/destination_builder.h"
#include "test/support/event_builder.h"
#include "test/support/manual_clock.h"
#include "test/support/raw_server.h"
#include "test/support/signal.h"

namespace hookonce {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class HttpSenderTest : public ::testing::Test {
 protected:
  HttpSenderTest() {
    auto sender = make_http_sender(clock_);
    HK_CHECK(sender.ok());
    sender_ = std::move(sender).value();
    lease_.event = EventId::make(clock_.now());
    lease_.destination = "backend";
    lease_.source = "shop";
    lease_.attempt = 1;
    lease_.received_at = clock_.now();
    lease_.headers = std::make_shared<const Headers>();
    lease_.body = std::make_shared<const std::string>("{}");
  }

  AttemptResult attempt(DestinationConfig destination, std::vector<SourceConfig> sources = {}) {
    Signal ended;
    AttemptResult result;
    sender_->send(lease_, config_of({std::move(destination)}, std::move(sources)), [&](AttemptResult r) {
      result = std::move(r);
      ended.set();
    });
    ended.wait();
    return result;
  }
  AttemptResult answered_with(const std::string& answer) {
    RawServer server([&](RawServer::Connection& c) {
      if (c.read_request()) c.write(answer);
    });
    return attempt(to(server));
  }
  static DestinationConfig to(const RawServer& server) {
    DestinationConfig destination = destination_config();
    destination.url = server.url("/in");
    return destination;
  }

  ManualClock clock_;
  std::unique_ptr<Sender> sender_;
  Lease lease_;
};

TEST_F(HttpSenderTest, TheDestinationReceivesTheArrivalByteForByteAndNothingUnnamed) {
  RawServer server(answer_ok);
  std::string body(2u << 20, '\0');
  for (std::size_t i = 0; i < body.size(); ++i) body[i] = static_cast<char>(i * 131 + i / 251);
  body += std::string("\0\xff\xfe\xed\xa0\x80", 6);
  lease_.body = std::make_shared<const std::string>(body);
  lease_.headers = std::make_shared<const Headers>(Headers{{"Content-Type", "application/json"},
                                                           {"X-Empty", ""},
                                                           {"X-Twice", "1"},
                                                           {"Y", "\xe9"},
                                                           {"X-Twice", "2"},
                                                           {"Host", "public"}});
  const AttemptResult result = attempt(to(server));
  EXPECT_EQ(result.outcome, Outcome::kSuccess) << result.error;
  EXPECT_EQ(result.started_at, clock_.now());
  const auto requests = server.requests();
  ASSERT_EQ(requests.size(), 1u);
  EXPECT_TRUE(requests[0].body == body);
  const std::string id = lease_.event.text();
  EXPECT_THAT(requests[0].lines(),
              ElementsAre("Host: 127.0.0.1:" + std::to_string(server.port()), "Content-Type: application/json",
                          "X-Empty:", "X-Twice: 1", "Y: \xe9", "X-Twice: 2", "Idempotency-Key: " + id,
                          "Webhook-Id: " + id, "Hookonce-Source: shop", "Hookonce-Event: " + id, "Hookonce-Attempt: 1",
                          "Hookonce-Received-At: " + to_rfc3339(lease_.received_at),
                          "Content-Length: " + std::to_string(body.size())));
}

TEST_F(HttpSenderTest, OnlyA2xxIsSuccess) {
  for (const int status : {200, 201, 202, 204, 299}) {
    const AttemptResult result =
        answered_with("HTTP/1.1 " + std::to_string(status) + " X\r\nContent-Length: 0\r\n\r\n");
    EXPECT_EQ(result.outcome, Outcome::kSuccess) << status;
    EXPECT_EQ(result.status, status);
    EXPECT_EQ(result.error, "");
  }
  for (const int status : {300, 301, 302, 307, 400, 401, 404, 410, 429, 500, 503, 599}) {
    const AttemptResult result =
        answered_with("HTTP/1.1 " + std::to_string(status) + " X\r\nContent-Length: 0\r\nLocation: /x\r\n\r\n");
    EXPECT_EQ(result.outcome, Outcome::kFailed) << status;
    EXPECT_EQ(result.status, status);
    EXPECT_THAT(result.error, HasSubstr(std::to_string(status)));
  }
}

TEST_F(HttpSenderTest, RetryAfterCountsOn429And503Alone) {
  const auto asked = [&](int status, const std::string& value) {
    return answered_with("HTTP/1.1 " + std::to_string(status) + " X\r\nContent-Length: 0\r\nRetry-After: " + value +
                         "\r\n\r\n")
        .retry_after;
  };
  EXPECT_EQ(asked(429, "7"), std::chrono::seconds(7));
  EXPECT_EQ(asked(503, "120"), std::chrono::seconds(120));
  EXPECT_EQ(asked(500, "7"), std::nullopt);
  EXPECT_EQ(asked(429, "soon"), std::nullopt);
}

TEST_F(HttpSenderTest, KeepsTheBeginningOfTheAnswerOnly) {
  const AttemptResult result = answered_with("HTTP/1.1 500 X\r\n\r\n" + std::string(kResponseKept, 'a') + "b");
  EXPECT_EQ(result.response, std::string(kResponseKept, 'a'));
}

TEST_F(HttpSenderTest, NoAnswerIsAFailureThatSaysWhy) {
  const AttemptResult result = answered_with("");
  EXPECT_EQ(result.outcome, Outcome::kFailed);
  EXPECT_EQ(result.status, 0);
  EXPECT_THAT(result.error, HasSubstr("closed before an answer"));
}

TEST_F(HttpSenderTest, StopReleasesAndLaterSendsAreReleasedToo) {
  RawServer server([](RawServer::Connection& c) {
    c.read_request();
    c.await_close();
  });
  Signal ended;
  AttemptResult result;
  sender_->send(lease_, config_of({to(server)}), [&](AttemptResult r) {
    result = std::move(r);
    ended.set();
  });
  server.await_requests(1);
  sender_->stop();
  ended.wait();
  EXPECT_EQ(result.outcome, Outcome::kReleased);
  EXPECT_EQ(attempt(to(server)).outcome, Outcome::kReleased);
  EXPECT_EQ(server.requests().size(), 1u);
}

TEST_F(HttpSenderTest, EachSnapshotSignsWithItsOwnSecrets) {
  RawServer server(answer_ok);
  DestinationConfig destination = to(server);
  for (const char* seed : {"a", "b"}) {
    destination.secrets = {"whsec_" + to_base64(std::string(24, seed[0]))};
    EXPECT_EQ(attempt(destination).outcome, Outcome::kSuccess);
  }
  destination.secrets.clear();
  EXPECT_EQ(attempt(destination).outcome, Outcome::kSuccess);
  std::vector<std::string> signatures;
  for (const auto& request : server.requests()) {
    for (const std::string& line : request.lines()) {
      if (line.rfind("Webhook-Signature: ", 0) == 0) signatures.push_back(line);
    }
  }
  ASSERT_EQ(signatures.size(), 2u);
  EXPECT_NE(signatures[0], signatures[1]);
}

// The whole delivering half, from the store to the socket and back.
TEST_F(HttpSenderTest, ThePoolDeliversOverHttpAndRetriesOnceTheBackendIsWell) {
  std::atomic<int> number{0};
  RawServer server([&](RawServer::Connection& c) {
    while (c.read_request()) {
      const bool ill = number++ < 2;
      c.write(ill ? "HTTP/1.1 500 Ill\r\nContent-Length: 0\r\n\r\n" : "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    }
  });
  const auto store = make_memory_store();
  std::unique_ptr<DeliveryPool> pool;
  Committer::Options options;
  options.deliveries_pending = [&] { pool->nudge(); };
  Committer committer(*store, system_clock(), options);
  pool = std::make_unique<DeliveryPool>(*store, committer, *sender_, system_clock(), DeliveryPool::Options{});
  committer.start();
  DestinationConfig destination = to(server);
  destination.retry.first = std::chrono::milliseconds(1);
  pool->start(config_of({destination}));
  NewEvent event = NewEventBuilder().body("payload").build();
  const EventId id = event.id;
  committer.submit(std::move(event), system_clock().now() + std::chrono::hours(1), nullptr,
                   [](Result<AcceptFacts> facts) { EXPECT_OK(facts); });
  server.await_requests(3);
  pool->stop(std::chrono::hours(1));
  committer.stop();
  const auto detail = store->get(id);
  ASSERT_OK(detail);
  const Delivery& delivery = (*detail)->deliveries.at(0);
  EXPECT_EQ(delivery.state, DeliveryState::kDelivered);
  ASSERT_EQ(delivery.attempts.size(), 3u);
  EXPECT_EQ(delivery.attempts[0].status, 500);
  EXPECT_EQ(delivery.attempts[2].outcome, Outcome::kSuccess);
  std::set<std::string> keys;
  for (const auto& request : server.requests()) {
    EXPECT_EQ(request.body, "payload");
    for (const std::string& line : request.lines()) {
      if (line.rfind("Idempotency-Key: ", 0) == 0) keys.insert(line);
    }
  }
  EXPECT_EQ(keys.size(), 1u) << "the same key on every attempt";
}

}  // namespace
}  // namespace hookonce
