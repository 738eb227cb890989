// What Slack's vectors cannot show: answers, retry headers, header names.
#include <gtest/gtest.h>

#include "provider/registry.h"
#include "test/support/asserts.h"

namespace hookonce {
namespace {

class SlackTest : public ::testing::Test {
 protected:
  SlackTest() {
    BindSettings settings;
    settings.secrets = {"first", "second"};
    settings.tolerance = std::chrono::minutes(5);
    bound_ = std::move(find_provider("slack")->bind(settings)).value();
  }
  static HttpRequest request(std::string content_type, std::string body) {
    HttpRequest request;
    request.headers.add("Content-Type", std::move(content_type));
    request.body = std::move(body);
    return request;
  }
  std::unique_ptr<const BoundProvider> bound_;
};

TEST_F(SlackTest, ChallengeIsAnsweredAsJsonWhateverItHolds) {
  auto answer =
      bound_->handshake(request("application/json", R"({"type":"url_verification","challenge":"a\"b\\\u0001"})"));
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->status, 200);
  EXPECT_EQ(answer->body, R"({"challenge":"a\"b\\\u0001"})");
}

TEST_F(SlackTest, EventThatOnlyMentionsAHandshakeIsNone) {
  EXPECT_FALSE(bound_->handshake(
      request("application/json", R"({"type":"event_callback","event_id":"Ev1","x":"url_verification"})")));
  EXPECT_FALSE(bound_->handshake(request("application/json", R"({"type":"url_verification"})")));
}

TEST_F(SlackTest, OnlyFormsAreAnsweredEmpty) {
  EXPECT_TRUE(bound_->empty_answer(request("application/x-www-form-urlencoded", "command=%2Fx")));
  EXPECT_TRUE(bound_->empty_answer(request("Application/X-WWW-Form-Urlencoded; charset=utf-8", "command=%2Fx")));
  EXPECT_FALSE(bound_->empty_answer(request("application/json", "{}")));
}

TEST_F(SlackTest, ALateAnswerIsEmptyForAllKindsOfRequests) {
  for (const char* type : {"application/json", "application/x-www-form-urlencoded"}) {
    const auto answer = bound_->late_answer(request(type, "{}"));
    ASSERT_TRUE(answer.has_value());
    EXPECT_EQ(answer->status, 200);
    EXPECT_TRUE(answer->body.empty() && answer->headers.items().empty());
  }
}

TEST_F(SlackTest, ALateReplyGoesWhereTheRequestSaysAndOnlyToSlack) {
  const auto url_of = [this](const std::string& body, const char* type = "application/x-www-form-urlencoded") {
    const HttpRequest form = request(type, body);
    return bound_->response_url(form.headers, form.body);
  };
  const std::string hook = "https%3A%2F%2Fhooks.slack.com%2F";
  EXPECT_EQ(url_of("command=%2Fx&response_url=" + hook + "commands%2F1"), "https://hooks.slack.com/commands/1");
  EXPECT_EQ(url_of("response_url=https%3A%2F%2Fhooks.slack-gov.com%2F1"), "https://hooks.slack-gov.com/1");
  EXPECT_EQ(url_of("payload=%7B%22response_url%22%3A%22" + hook + "a%22%7D"), "https://hooks.slack.com/a");
  EXPECT_EQ(url_of("payload=%7B%22response_urls%22%3A%5B%7B%22response_url%22%3A%22" + hook + "v%22%7D%5D%7D"),
            "https://hooks.slack.com/v");
  EXPECT_EQ(url_of("command=%2Fx"), std::nullopt);
  EXPECT_EQ(url_of(R"({"response_url":"https://hooks.slack.com/1"})", "application/json"), std::nullopt);
  for (const char* other :
       {"http://hooks.slack.com/1", "https://hooks.slack.com", "https://hooks.slack.com.evil.test/",
        "https://hooks.slack.com@evil.test/", "https://hooks.slack.com:8443/", "https://HOOKS.slack.com/",
        "https://evil.test/https://hooks.slack.com/", " https://hooks.slack.com/",
        "https://hooks.slack.com%5C@evil.test/", "https://hooks.slack.com/%0D%0AX:+1", "https://hooks.slack.com/%20",
        "//hooks.slack.com/"}) {
    EXPECT_EQ(url_of(std::string("response_url=") + other), std::nullopt) << other;
  }
}

TEST_F(SlackTest, SslCheckInsideAnotherFieldIsNoHandshake) {
  EXPECT_TRUE(bound_->unsigned_handshake(request("application/x-www-form-urlencoded", "token=x&ssl_check=1")));
  EXPECT_FALSE(
      bound_->unsigned_handshake(request("application/x-www-form-urlencoded", "text=ssl_check=1&command=%2Fx")));
  EXPECT_FALSE(bound_->unsigned_handshake(request("application/x-www-form-urlencoded", "ssl_check=0")));
  EXPECT_FALSE(bound_->unsigned_handshake(request("application/json", "ssl_check=1")));
}

TEST_F(SlackTest, RetryHeadersAreShownAndForgedOnesAreNot) {
  HttpRequest event = request("application/json", R"({"type":"event_callback","event_id":"Ev1"})");
  EXPECT_FALSE(bound_->identify(event).retry);
  event.headers.add("x-slack-retry-num", "2");
  event.headers.add("x-slack-retry-reason", "http_timeout");
  EXPECT_EQ(bound_->identify(event).retry, (RetryHint{2, "http_timeout"}));
  for (const char* forged : {"-1", "two", "99999999999999999", ""}) {
    event.headers.set("x-slack-retry-num", forged);
    EXPECT_FALSE(bound_->identify(event).retry) << forged;
  }
}

TEST_F(SlackTest, IsResignedByTheFirstSecretUnderTheNamesThatArrived) {
  const Time now = Time(std::chrono::seconds(1790007200));
  HttpRequest event = request("application/json", "{}");
  event.headers.add("x-SLACK-signature", "v0=old");
  event.headers.add("x-slack-request-timestamp", "1");
  auto fresh = bound_->resign(event.headers, event.body, now);
  ASSERT_TRUE(fresh.has_value());
  ASSERT_EQ(fresh->items().size(), 2u);
  EXPECT_EQ(fresh->items()[0], (Header{"x-slack-request-timestamp", "1790007200"}));
  EXPECT_EQ(fresh->items()[1].name, "x-SLACK-signature");
  for (const Header& header : fresh->items()) event.headers.set(header.name, header.value);
  const Verification verification = bound_->verify(event, now);
  EXPECT_EQ(verification.reason, Reason::kOk);
  EXPECT_EQ(verification.secret, 0);
  EXPECT_FALSE(bound_->resign({}, "{}", now)) << "nothing arrived that could be replaced";
}

TEST_F(SlackTest, ButtonsOfOneViewArePressesOfTheirOwn) {
  const auto key = [this](const std::string& type, const std::string& trigger) {
    return bound_
        ->identify(request("application/x-www-form-urlencoded",
                           "payload=%7B%22type%22%3A%22" + type + "%22%2C%22trigger_id%22%3A%22" + trigger +
                               "%22%2C%22view%22%3A%7B%22id%22%3A%22V1%22%2C%22hash%22%3A%22h%22%7D%7D"))
        .key;
  };
  EXPECT_NE(key("block_actions", "1"), key("block_actions", "2"));
  EXPECT_EQ(key("view_submission", "1"), key("view_submission", "2"));
}

}  // namespace
}  // namespace hookonce
