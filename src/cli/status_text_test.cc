#include "cli/status_text.h"

#include <gtest/gtest.h>

#include <sstream>

#include "cli/terminal.h"

namespace hookonce {
namespace {

json::value parsed(std::string_view text) {
  const auto value = parse_json(text);
  EXPECT_TRUE(value.ok()) << text;
  return value.ok() ? *value : json::value();
}

json::object stats_of(std::string_view deliveries, std::string_view store, std::string_view paused = "[]") {
  return parsed(R"({"now":"2026-01-02T03:04:05.678Z","draining":false,"events":12418,"deliveries":)" +
                std::string(deliveries) + R"(,"paused":)" + std::string(paused) + R"(,"store":)" + std::string(store) +
                "}")
      .as_object();
}
constexpr std::string_view kCalm =
    R"({"pending":0,"in_flight":0,"dead":0,"orphaned":0,"oldest_pending_at":null,"delivered":7})";
constexpr std::string_view kWell = R"({"ready":true,"why":null,"log_bytes":0,"weaknesses":[]})";

TEST(StatusText, AQuietGatewayIsAFewLines) {
  EXPECT_EQ(status_text(stats_of(kCalm, kWell), {}, {}, false),
            "store       ready\n"
            "events      12418 in the inbox\n"
            "deliveries  0 pending, 0 in flight, 7 delivered since the start\n");
}

TEST(StatusText, WhatIsNotWellIsSaid) {
  const json::object stats = stats_of(
      R"({"pending":2,"in_flight":1,"dead":3,"orphaned":4,"oldest_pending_at":"2026-01-02T03:01:00.000Z","delivered":7})",
      R"({"ready":false,"why":"the disk is gone","log_bytes":1048576,"weaknesses":["it forgets everything"]})",
      R"(["backend","billing"])");
  const std::string text = status_text(stats, {}, {}, false);
  for (const char* line :
       {"store       not ready: the disk is gone, log 1.0 MiB\n", "            weak: it forgets everything\n",
        "deliveries  2 pending (the oldest for 3 min), 1 in flight, 7 delivered since the\n            start\n",
        "            3 dead: listed in the dashboard; or `hookonce replay --dead`\n",
        "            4 orphaned: ", "paused      backend, billing\n"}) {
    EXPECT_NE(text.find(line), std::string::npos) << line << "\n" << text;
  }
}

TEST(StatusText, SourcesAndDestinationsAreTablesThatFit) {
  const json::array sources = parsed(R"([{"name":"stripe","counts":{"accepted":1241800,"duplicates":120400,"rearmed":0,
    "rejected":20,"accepted_last_minute":3100,"duplicates_last_minute":400,"causes":{"provider_retry":900,"manual_resend":0,
    "concurrent_twin":12}}}])")
                                  .as_array();
  const json::array destinations = parsed(R"([
    {"name":"backend","orphaned":false,"waiting":3,"paused":false,"delivered":12,"failed":1,"delivered_last_minute":2,
     "breaker":{"state":"closed","open_until":null}},
    {"name":"billing","orphaned":false,"waiting":1000000,"paused":true,"delivered":1000000,"failed":1000000,"delivered_last_minute":99999,
     "breaker":{"state":"closed","open_until":null}},
    {"name":"slow","orphaned":false,"waiting":3,"paused":false,"delivered":0,"failed":9,"delivered_last_minute":0,
     "breaker":{"state":"open","open_until":"2026-01-02T03:04:09.000Z"}},
    {"name":"gone","orphaned":true,"waiting":1,"paused":false}])")
                                       .as_array();
  const std::string text = status_text(stats_of(kCalm, kWell), sources, destinations, false);
  EXPECT_NE(text.find("duplicates of stripe: provider retry 900, concurrent twin 12\n"), std::string::npos) << text;
  for (const char* word : {"ok\n", "paused\n", "breaker open until ", "orphaned\n"}) {
    EXPECT_NE(text.find(word), std::string::npos) << word << "\n" << text;
  }
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(width_of(line), 80u) << line;
}

TEST(StatusText, AnAlarmIsSaidBeforeAllNumbers) {
  const json::array sources = parsed(R"([
    {"name":"calm","counts":{},"alarm":null},
    {"name":"stripe","counts":{},"alarm":{"since":"2026-01-02T03:03:00.000Z","rejected_last_minute":20,"code":"signature_mismatch"}}])")
                                  .as_array();
  const std::string text = status_text(stats_of(kCalm, kWell), sources, {}, false);
  const auto at = text.find("alarm       stripe: 20 requests rejected in the last minute, most of them for\n");
  ASSERT_NE(at, std::string::npos) << text;
  EXPECT_LT(at, text.find("events "));
  EXPECT_NE(text.find("signature_mismatch, since "), std::string::npos) << text;
  EXPECT_EQ(text.find("alarm", at + 1), std::string::npos) << text;
}

TEST(StatusText, NamesCannotMoveTheCursor) {
  const json::array destinations =
      parsed(R"([{"name":"\u001b[2J","orphaned":false,"waiting":0,"paused":false}])").as_array();
  EXPECT_EQ(status_text(stats_of(kCalm, kWell), {}, destinations, false).find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace hookonce
