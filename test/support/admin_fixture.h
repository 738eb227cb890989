// The admin API over a memory store; requests are handed in as a server would.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "admin/api.h"
#include "base/json.h"
#include "test/support/asserts.h"
#include "test/support/event_builder.h"
#include "test/support/manual_clock.h"
#include "test/support/recording_channel.h"
#include "test/support/scripted_store.h"

namespace hookonce {

class AdminFixture : public testing::Test {
 protected:
  AdminFixture() { configure(shop_config()); }

  // Source "shop" to "backend" and "billing"; "spare" is configured and nobody's destination.
  static Config shop_config() {
    Config config;
    SourceConfig shop;
    shop.name = "shop";
    shop.provider = "token";
    shop.path = "/in/shop";
    shop.secrets = {"the shop secret"};
    shop.token = TokenScheme{"X-Shop-Pass", ""};
    shop.destinations = {{"backend", {}}, {"billing", {"order.*"}}};
    shop.ack_deadline = std::chrono::seconds(2);
    shop.max_body = 4 * kMiB;
    config.sources.emplace("shop", shop);
    for (const char* name : {"backend", "billing", "spare"}) {
      DestinationConfig destination;
      destination.name = name;
      destination.url = std::string("http://127.0.0.1:9000/") + name + "?access=s3cret";
      destination.secrets = {"the destination secret"};
      destination.lease = destination.timeout + kLeaseMargin;
      config.destinations.emplace(name, destination);
    }
    return config;
  }
  void configure(Config config) { api_.configure(std::make_shared<const Config>(std::move(config))); }
  void require_token() {
    Config config = shop_config();
    config.server.admin_token = "admin token";
    configure(std::move(config));
  }

  static HttpRequest request(std::string method, const std::string& target, std::string body = "") {
    HttpRequest request;
    request.method = std::move(method);
    const auto question = target.find('?');
    request.path = target.substr(0, question);
    if (question != std::string::npos) request.query = target.substr(question + 1);
    request.headers.add("Host", "127.0.0.1:8081");
    if (!body.empty()) request.headers.add("Content-Type", "application/json");
    request.body = std::move(body);
    request.remote = "127.0.0.1";
    return request;
  }
  HttpResponse call(HttpRequest request) {
    auto channel = std::make_shared<RecordingChannel>(loop_);
    HeadDecision decision = api_.on_head(request);
    if (decision.refuse) return std::move(*decision.refuse);
    api_.on_request(std::move(request), Responder(channel));
    channel->pass_deadline();
    return channel->answer().value_or(HttpResponse());
  }
  HttpResponse get(const std::string& target) { return call(request("GET", target)); }
  HttpResponse post(const std::string& target, std::string body = "") {
    return call(request("POST", target, std::move(body)));
  }
  static json::object object_of(const HttpResponse& response) {
    auto value = parse_json(response.body);
    EXPECT_TRUE(value.ok() && value->is_object()) << response.body;
    return value.ok() && value->is_object() ? value->get_object() : json::object();
  }
  json::object got(const std::string& target) {
    const HttpResponse response = get(target);
    EXPECT_EQ(response.status, 200) << response.body;
    return object_of(response);
  }

  // Stores one event and gives its id.
  EventId put(NewEvent event) {
    const EventId id = event.id;
    const auto events = events_of(std::move(event));
    EXPECT_OK(store_.commit(events, {}, clock_.now()));
    return id;
  }
  // Leases what is due for `destination`.
  std::vector<Lease> claim(const std::string& destination) {
    auto claimed =
        store_.claim({{{destination, 100, std::chrono::seconds(30), 20, std::chrono::hours(72)}}}, clock_.now());
    EXPECT_OK(claimed);
    return std::move(claimed->leases);
  }
  void settle(const Settlement& settlement) { EXPECT_OK(store_.commit({}, std::span(&settlement, 1), clock_.now())); }

  ManualClock clock_;
  ScriptedStore store_;
  TestLoop loop_;
  bool draining_ = false;
  int nudges_ = 0;
  LiveHub live_{clock_};
  History history_{clock_.now(), count_totals()};
  AdminApi api_{store_, live_, history_, clock_,
                AdminApi::Options{[this] { return draining_; }, [this] { ++nudges_; }}};
};

inline std::string code_of(const HttpResponse& response) {
  const auto value = parse_json(response.body);
  if (!value.ok() || !value->is_object() || !value->get_object().contains("error")) return "(no error shape)";
  return json_string(value->get_object().at("error"), "code").value_or("(no code)");
}
inline std::string message_of(const HttpResponse& response) {
  const auto value = parse_json(response.body);
  if (!value.ok() || !value->is_object() || !value->get_object().contains("error")) return "(no error shape)";
  return json_string(value->get_object().at("error"), "message").value_or("(no message)");
}

}  // namespace hookonce
