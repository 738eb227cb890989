// Synchronous sources: who waits for what, and which answer leaves when.
#include <gtest/gtest.h>

#include "core/source_counters.h"
#include "test/support/event_builder.h"
#include "test/support/ingest_fixture.h"

namespace hookonce {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const std::string kSecret = "8f742231b10e8888abcd99yyyzzz85a5";
const Reply kReply{201, "text/plain", "done"};

class IngestSync : public IngestFixture {
 protected:
  SourceConfig commands() {
    SourceConfig source = source_of("commands", "slack", {kSecret});
    source.mode = SourceMode::kSync;
    return source;
  }
  HttpRequest command(const std::string& trigger) {
    return signed_by("slack", "commands", kSecret, {.type = "slash_command:/x", .id = trigger});
  }
  // An event of Slack's, which has a body in its ordinary answer.
  HttpRequest event_request(const std::string& id) { return signed_by("slack", "commands", kSecret, {.id = id}); }

  std::shared_ptr<RecordingChannel> begin_delivery(HttpRequest request) {
    const std::size_t before = sync_.delivered.size();
    auto channel = begin(std::move(request));
    EXPECT_TRUE(loop_.run_until([&] { return sync_.delivered.size() > before; }));
    return channel;
  }
  std::shared_ptr<RecordingChannel> begin_waiting(HttpRequest request) {
    const std::size_t before = sync_.awaited.size();
    auto channel = begin(std::move(request));
    EXPECT_TRUE(loop_.run_until([&] { return sync_.awaited.size() > before; }));
    return channel;
  }
};

TEST_F(IngestSync, TheAnswerWaitsForTheDestinations) {
  use(commands());
  const auto channel = begin_delivery(command("1"));
  EXPECT_FALSE(channel->answer());
  const auto& delivered = sync_.delivered.at(0);
  EXPECT_EQ(delivered.lease.attempt, 1);
  EXPECT_EQ(delivered.lease.destination, "backend");
  EXPECT_EQ(delivered.lease.until - delivered.lease.claimed_at, seconds(30)) << "the destination's lease";
  EXPECT_EQ(channel->deadline(), clock_.now() + seconds(2));
  delivered.done({kReply, nullptr});
  const HttpResponse answer = await(channel);
  EXPECT_EQ(answer.status, 201);
  EXPECT_EQ(answer.body, "done");
  EXPECT_EQ(header_of(answer, "Content-Type"), "text/plain");
  EXPECT_EQ(header_of(answer, "Hookonce-Status"), "accepted");
  EXPECT_EQ(header_of(answer, "Hookonce-Event"), delivered.lease.event.text());
}

TEST_F(IngestSync, WithoutAReplyTheSenderIsAcknowledgedAsItsProviderTakesIt) {
  use(commands());
  for (const bool is_command : {true, false}) {
    const auto channel = begin_delivery(is_command ? command("1") : event_request("Ev1"));
    sync_.delivered.back().done({});
    const HttpResponse answer = await(channel);
    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(answer.body, "");
    EXPECT_EQ(header_of(answer, "Hookonce-Status"), "accepted");
  }
}

TEST_F(IngestSync, AProviderWithoutALateAnswerOfItsOwnGetsTheOrdinaryOne) {
  SourceConfig source = source_of("shop", "github", {kSecret});
  source.mode = SourceMode::kSync;
  use(source);
  const auto channel = begin_delivery(signed_by("github", "shop", kSecret, {.id = "1"}));
  sync_.delivered.back().done({});
  const std::string id = sync_.delivered.back().lease.event.text();
  EXPECT_EQ(await(channel).body, R"({"status":"accepted","id":")" + id + R"("})");
}

TEST_F(IngestSync, AConfiguredLateAnswerIsGiven) {
  SourceConfig source = commands();
  source.late_answer = LateAnswerConfig{"text/xml", "<Response/>"};
  use(source);
  const auto channel = begin_delivery(command("1"));
  channel->pass_deadline();
  EXPECT_EQ(channel->answer()->body, "<Response/>");
  EXPECT_EQ(header_of(*channel->answer(), "Content-Type"), "text/xml");
  EXPECT_EQ(header_of(*channel->answer(), "Hookonce-Status"), "accepted");
}

TEST_F(IngestSync, AReplyIsInTimeOrLateAndNeverBoth) {
  use(commands());
  int late = 0;
  const auto answer_of = [&](Duration after) {
    const auto channel = begin_delivery(command(std::to_string(after.count())));
    clock_.advance(after);
    sync_.delivered.back().done({kReply, [&late] { ++late; }});
    return await(channel);
  };
  EXPECT_EQ(answer_of(seconds(2) - milliseconds(1)).body, "done");
  EXPECT_EQ(late, 0);
  EXPECT_EQ(answer_of(seconds(2)).body, "") << "the server may be sending the deadline's answer at this very moment";
  EXPECT_EQ(late, 1);
}

TEST_F(IngestSync, ADuplicateWaitsForTheReplyUntilItsOwnDeadline) {
  use(commands());
  begin_delivery(command("1"));
  clock_.advance(seconds(1));
  const auto copy = begin_waiting(command("1"));
  EXPECT_FALSE(copy->answer());
  EXPECT_EQ(sync_.awaited.at(0).event, sync_.delivered.at(0).lease.event);
  EXPECT_EQ(sync_.awaited.at(0).deadline, clock_.now() + seconds(2));
  sync_.awaited.at(0).done({kReply, nullptr});
  const HttpResponse answer = await(copy);
  EXPECT_EQ(answer.body, "done");
  EXPECT_EQ(header_of(answer, "Hookonce-Status"), "duplicate");
  EXPECT_EQ(sync_.delivered.size(), 1u);
}

TEST_F(IngestSync, ADuplicateGetsAStoredReplyAtOnce) {
  use(commands());
  begin_delivery(command("1"));
  Settlement settled = success(sync_.delivered.at(0).lease);
  settled.reply = kReply;
  ASSERT_OK(store_.commit({}, std::span(&settled, 1), clock_.now()));
  const HttpResponse answer = send(command("1"));
  EXPECT_EQ(answer.status, 201);
  EXPECT_EQ(answer.body, "done");
  EXPECT_EQ(header_of(answer, "Hookonce-Status"), "duplicate");
  EXPECT_TRUE(sync_.awaited.empty());
}

TEST_F(IngestSync, ADuplicateThatRearmsWaitsForTheNewAttempt) {
  use(commands());
  begin_delivery(command("1"));
  const Settlement died = death(sync_.delivered.at(0).lease);
  ASSERT_OK(store_.commit({}, std::span(&died, 1), clock_.now()));
  const auto copy = begin_waiting(command("1"));
  sync_.awaited.at(0).done({kReply, nullptr});
  EXPECT_EQ(header_of(await(copy), "Hookonce-Status"), "rearmed");
}

TEST_F(IngestSync, AnEventThatNoDestinationWantsIsAcknowledgedAtOnce) {
  SourceConfig source = commands();
  source.destinations.at(0).types = {"other"};
  use(source);
  const HttpResponse answer = send(command("1"));
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.body, "");
  EXPECT_TRUE(sync_.delivered.empty() && sync_.awaited.empty());
}

// The line that `act` logs of an acknowledgement, from its reason on.
template <typename Act>
std::string logged_reason(Act act) {
  testing::internal::CaptureStderr();
  act();
  const std::string log = testing::internal::GetCapturedStderr();
  const std::size_t line = log.find(" acknowledged ");
  if (line == std::string::npos) return "(no line)";
  const std::size_t reason = log.find("reason=", line);
  return log.substr(reason, log.find('\n', reason) - reason);
}

TEST_F(IngestSync, TheLogSaysWhyASenderWasAcknowledgedWhenItIs) {
  use(commands());
  auto channel = begin_delivery(command("1"));
  EXPECT_EQ(logged_reason([&] { channel->pass_deadline(); }), "reason=\"the destination has not answered in time\"");
  EXPECT_EQ(logged_reason([&] {
              sync_.delivered.back().done({.reason = "the attempt failed: answered 500"});
              loop_.run_posted();
            }),
            "(no line)")
      << "it has been said";
  channel = begin_delivery(command("2"));
  EXPECT_EQ(logged_reason([&] {
              sync_.delivered.back().done({.reason = "the attempt failed: answered 500"});
              await(channel);
            }),
            "reason=\"the attempt failed: answered 500\"");
  channel = begin_waiting(command("2"));
  EXPECT_EQ(logged_reason([&] {
              sync_.awaited.back().done({.reason = "the event is dead"});
              await(channel);
            }),
            "reason=\"the event is dead\"");
}

TEST_F(IngestSync, TheLogSaysThatTheDestinationIsPausedOrThatNoneWantsTheEvent) {
  SourceConfig source = commands();
  use(source);
  ASSERT_OK(store_.set_paused("backend", true));
  const auto channel = begin_waiting(command("1"));
  EXPECT_EQ(logged_reason([&] {
              sync_.awaited.back().done({.reason = "no attempt has brought a reply in time"});
              await(channel);
            }),
            "reason=\"its destination was paused when the request came\"");
  source.destinations.at(0).types = {"other"};
  use(source);
  EXPECT_NE(logged_reason([&] { send(command("2")); }).find("no destination of its source wants it"),
            std::string::npos);
}

TEST_F(IngestSync, ALateReplyIsSentAfterTheDeadlinesAnswer) {
  use(commands());
  const auto channel = begin_delivery(command("1"));
  channel->pass_deadline();
  int late = 0;
  sync_.delivered.back().done({kReply, [&late] { ++late; }});
  EXPECT_TRUE(loop_.run_until([&] { return late > 0; }));
  EXPECT_EQ(channel->answer()->body, "");
}

TEST_F(IngestSync, SendersAreCountedByWhatTheyGot) {
  use(commands());
  const SourceCounters& counters = source_counters("commands");
  const auto replied = counters.replied.value();
  const auto acknowledged = counters.acknowledged.value();
  auto channel = begin_delivery(command("1"));
  sync_.delivered.back().done({kReply, nullptr});
  await(channel);
  channel = begin_delivery(command("2"));
  sync_.delivered.back().done({});
  await(channel);
  channel = begin_delivery(command("3"));
  channel->pass_deadline();
  sync_.delivered.back().done({kReply, nullptr});
  loop_.run_posted();
  EXPECT_EQ(counters.replied.value(), replied + 1);
  EXPECT_EQ(counters.acknowledged.value(), acknowledged + 2) << "each once";
}

}  // namespace
}  // namespace hookonce
