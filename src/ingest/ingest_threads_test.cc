// Many I/O threads at once, as the server has them, while the configuration is swapped under them.
#include <gtest/gtest.h>

#include <thread>

#include "test/support/ingest_fixture.h"

namespace hookonce {
namespace {

constexpr int kThreads = 4;
constexpr int kEvents = 50;

class IngestThreads : public IngestFixture {};

TEST_F(IngestThreads, EachEventIsAcceptedOnceHoweverManyThreadsBringIt) {
  Config config = config_of({source_of("none", "none", {})});
  config.sources.at("none").dedup_key = {FieldSpec::parse("header:X-Id").value()};
  const auto shared = std::make_shared<const Config>(std::move(config));
  Ingest ingest(store_, committer_, clock_);
  ASSERT_OK(ingest.configure(shared));

  std::atomic<int> accepted{0};
  std::atomic<int> duplicates{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      TestLoop loop;
      for (int id = 0; id < kEvents; ++id) {
        auto channel = std::make_shared<RecordingChannel>(loop);
        HttpRequest request = post("/in/none", {{"X-Id", std::to_string(id)}}, "body");
        if (ingest.on_head(request).refuse) continue;
        ingest.on_request(std::move(request), Responder(channel));
        if (!loop.run_until([&] { return channel->answer().has_value(); })) continue;
        const std::string status = header_of(*channel->answer(), "Hookonce-Status");
        if (status == "accepted") ++accepted;
        if (status == "duplicate") ++duplicates;
      }
    });
  }
  for (int i = 0; i < kEvents; ++i) EXPECT_OK(ingest.configure(shared));
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(accepted, kEvents);
  EXPECT_EQ(duplicates, (kThreads - 1) * kEvents);
}

}  // namespace
}  // namespace hookonce
