// Ingest over a memory store and the real committer; requests are handed in as a server would.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "ingest/ingest.h"
#include "test/support/asserts.h"
#include "test/support/manual_clock.h"
#include "test/support/recording_channel.h"
#include "test/support/recording_sync.h"
#include "test/support/scripted_store.h"
#include "test/support/source_builder.h"

namespace hookonce {

class IngestFixture : public testing::Test, protected Ingest::Observer {
 protected:
  explicit IngestFixture(Committer::Options options = {}) : committer_(store_, clock_, std::move(options)) {
    committer_.start();
  }
  ~IngestFixture() override {
    store_.open_gate();
    committer_.stop();
    loop_.run_posted();
  }

  void use(Config config) { ASSERT_OK(ingest_.configure(std::make_shared<const Config>(std::move(config)))); }
  void use(SourceConfig source) {
    std::vector<SourceConfig> sources;
    sources.push_back(std::move(source));
    use(config_of(std::move(sources)));
  }

  HttpRequest post(std::string path, Headers headers, std::string body) const {
    HttpRequest request;
    request.method = "POST";
    request.path = std::move(path);
    request.headers = std::move(headers);
    request.body = std::move(body);
    request.remote = "203.0.113.7";
    request.head_at = clock_.now();
    request.wall_at = clock_.wall();
    return request;
  }
  // As the provider would send it to source `source` now.
  HttpRequest signed_by(std::string_view provider, const std::string& source, const std::string& secret,
                        const SampleRequest& sample) const {
    Result<SampleMessage> message = find_provider(provider)->sample(sample, secret, clock_.wall());
    EXPECT_OK(message);
    return post("/in/" + source, std::move(message->headers), std::move(message->body));
  }

  // Without waiting for the answer.
  std::shared_ptr<RecordingChannel> begin(HttpRequest request) {
    auto channel = std::make_shared<RecordingChannel>(loop_);
    HeadDecision decision = ingest_.on_head(request);
    if (decision.refuse) {
      channel->respond(std::move(*decision.refuse));
    } else {
      EXPECT_LE(request.body.size(), decision.body_limit) << "a server would have answered 413";
      ingest_.on_request(std::move(request), Responder(channel));
    }
    return channel;
  }
  HttpResponse await(const std::shared_ptr<RecordingChannel>& channel) {
    EXPECT_TRUE(loop_.run_until([&] { return channel->answer().has_value(); })) << "no answer";
    return channel->answer().value_or(HttpResponse());
  }
  HttpResponse send(HttpRequest request) { return await(begin(std::move(request))); }

  std::vector<EventSummary> events() {
    auto page = store_.list({}, kListMax, std::nullopt);
    EXPECT_OK(page);
    return page->items;
  }
  EventDetail event(const std::string& id) {
    auto detail = store_.get(EventId::parse(id).value());
    EXPECT_OK(detail);
    return detail->value();
  }
  EventDetail only_event() {
    const auto all = events();
    EXPECT_EQ(all.size(), 1u);
    return event(all.at(0).id.text());
  }

  struct Seen {
    std::string what;  // the verdict, or the refusal's code
    std::string source;
  };
  void arrived(const Ingest::Arrived& arrived) override {
    seen_.push_back({std::string(to_string(arrived.facts.verdict)), arrived.source});
    causes_.push_back(arrived.cause);
  }
  void rejected(const std::string& source, const std::string& code, const std::string&) override {
    seen_.push_back({code, source});
  }

  ManualClock clock_;
  ScriptedStore store_;
  Committer committer_;
  RecordingSync sync_;
  Ingest ingest_{store_, committer_, clock_, this, &sync_};
  TestLoop loop_;
  std::vector<Seen> seen_;
  std::vector<Cause> causes_;  // of the arrivals among them
};

inline std::string error_code(const HttpResponse& response) {
  const auto body = parse_json(response.body);
  if (!body.ok() || !body->is_object() || !body->get_object().contains("error")) return "(no error shape)";
  return json_string(body->get_object().at("error"), "code").value_or("(no code)");
}
inline std::string error_message(const HttpResponse& response) {
  const auto body = parse_json(response.body);
  if (!body.ok() || !body->is_object() || !body->get_object().contains("error")) return "(no error shape)";
  return json_string(body->get_object().at("error"), "message").value_or("(no message)");
}

}  // namespace hookonce
