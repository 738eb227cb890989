// What happened minute by minute.
#include "admin/history_calls.h"

#include <gtest/gtest.h>

#include "core/destination_counters.h"
#include "test/support/admin_fixture.h"

namespace hookonce {
namespace {

class AdminHistory : public AdminFixture {
 protected:
  json::array points(const std::string& query = "") { return got("/api/v1/history" + query).at("points").as_array(); }
  json::object point(const std::string& query = "") { return points(query).back().as_object(); }
};

TEST_F(AdminHistory, AMinuteInWhichNothingHappenedSaysSo) {
  EXPECT_EQ(get("/api/v1/history").body,
            R"({"step_seconds":60,"points":[{"at":")" +
                to_rfc3339(std::chrono::floor<std::chrono::minutes>(clock_.now())) +
                R"(","accepted":0,"duplicates":0,"causes":{},"rejected":0,"delivered":0,"dead":0,)"
                R"("answer_ms":{"p50":null,"p99":null},"delivery_ms":{"p50":null,"p99":null}}]})");
}

TEST_F(AdminHistory, TheCurrentMinuteHoldsWhatHappenedUpToNow) {
  SourceCounters& counters = source_counters("history-test");
  counters.accepted.add(5);
  counters.duplicate(Cause::kConcurrentTwin).add(2);
  counters.duplicate(Cause::kManualResend).add();
  counters.refuse(Refusal::kMalformed, clock_.now());
  counters.answer_seconds.observe(0.02);
  destination_counters("history-test").delivered.add(4);
  delivery_counters().dead.add(3);
  delivery_counters().seconds.observe(0.3);
  const json::object now = point();
  EXPECT_EQ(now.at("accepted"), 5);
  EXPECT_EQ(now.at("duplicates"), 3);
  EXPECT_EQ(to_json(now.at("causes")), R"({"concurrent_twin":2,"manual_resend":1})");
  EXPECT_EQ(now.at("rejected"), 1);
  EXPECT_EQ(now.at("delivered"), 4);
  EXPECT_EQ(now.at("dead"), 3);
  EXPECT_NEAR(now.at("answer_ms").at("p50").to_number<double>(), 17.5, 1e-6);
  EXPECT_NEAR(now.at("answer_ms").at("p99").to_number<double>(), 24.85, 1e-6);
  EXPECT_NEAR(now.at("delivery_ms").at("p50").to_number<double>(), 375, 1e-6);
}

TEST_F(AdminHistory, OfOneSourceItHasNoDeliveries) {
  source_counters("history-one").accepted.add(2);
  source_counters("history-other").accepted.add(3);
  const json::object one = point("?source=history-one");
  EXPECT_EQ(one.at("accepted"), 2);
  EXPECT_TRUE(one.at("delivered").is_null());
  EXPECT_TRUE(one.at("dead").is_null());
  EXPECT_TRUE(one.at("delivery_ms").at("p50").is_null());
  EXPECT_EQ(point("?source=history-nobody").at("accepted"), 0);
  EXPECT_EQ(point("?source=").at("accepted"), 5);
}

TEST_F(AdminHistory, MinutesAreTheNewestOnesOldestFirst) {
  for (int minute = 0; minute < 70; ++minute) {
    source_counters("history-minutes").accepted.add(static_cast<std::uint64_t>(minute));
    history_.add(clock_.now(), count_totals());
    if (minute < 69) clock_.advance(std::chrono::minutes(1));
  }
  EXPECT_EQ(points().size(), 60u);
  EXPECT_EQ(points("?minutes=1440").size(), 70u) << "the process is no older";
  const json::array three = points("?minutes=3");
  ASSERT_EQ(three.size(), 3u);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(three[static_cast<std::size_t>(i)].at("accepted"), 67 + i);
}

TEST_F(AdminHistory, AMistakeNamesTheParameter) {
  for (const char* minutes : {"0", "1441", "-1", "1.5", "abc", "99999999999999999999"}) {
    const HttpResponse answer = get(std::string("/api/v1/history?minutes=") + minutes);
    EXPECT_EQ(answer.status, 400) << minutes;
    EXPECT_EQ(code_of(answer), "invalid_parameter");
    EXPECT_EQ(message_of(answer), std::string("`minutes` is \"") + minutes + "\"; it is a number from 1 to 1440");
  }
  EXPECT_EQ(message_of(get("/api/v1/history?minute=5")), "unknown parameter `minute`; did you mean `minutes`?");
  EXPECT_EQ(get("/api/v1/history?minutes=5&minutes=5").status, 400);
  EXPECT_EQ(get("/api/v1/history?minutes=").status, 200);
}

}  // namespace
}  // namespace hookonce
