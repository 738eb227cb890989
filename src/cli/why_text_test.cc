#include "cli/why_text.h"

#include <gmock/gmock.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "cli/terminal.h"

namespace hookonce {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

json::object parsed(std::string_view text) {
  return parse_json(text)->get_object();
}

std::string time_of(std::string_view rfc3339) {
  return to_local(*parse_rfc3339(rfc3339)).substr(11);
}

constexpr const char* kEvent = R"({
  "id":"0199a1b2-c3d4-7e5f-8a6b-7c8d9e0f1a2b","source":"shop","type":"invoice.paid","key":"evt_1","state":"delivered",
  "received_at":"2026-01-02T03:04:05.678Z","duplicates":2,"size":13,"headers":[],"body":"{}",
  "arrivals":[
   {"at":"2026-01-02T03:04:05.678Z","verdict":"accepted","cause":"first","reason":"the first that was stored",
    "certain":true,"remote":"203.0.113.7","retry":null,"secret":0,"same_key":true,"same_body":true,
    "same_signature":true,"since_first_ms":0},
   {"at":"2026-01-02T03:04:05.683Z","verdict":"duplicate","cause":"concurrent_twin",
    "reason":"verified with another secret: two listeners","certain":true,"remote":"203.0.113.8","retry":null,
    "secret":1,"same_key":true,"same_body":true,"same_signature":false,"since_first_ms":5},
   {"at":"2026-01-02T03:05:05.000Z","verdict":"rearmed","cause":"same_id_other_body","reason":"the same id with other bytes",
    "certain":true,"remote":"203.0.113.8","retry":{"number":1,"reason":"http_error"},"secret":0,"same_key":false,
    "same_body":false,"same_signature":null,"since_first_ms":-59322}],
  "deliveries":[{"destination":"backend","state":"delivered","orphaned":false,"replayed":false,
    "attempts":[{"number":1,"duration_ms":3,"outcome":"failed","status":500,"error":"answered 500"},
                {"number":2,"duration_ms":12,"outcome":"success","status":200,"error":null}]}]})";

TEST(WhyText, DrawsTheTimeLine) {
  const std::string text = why_text(parsed(kEvent), {});
  EXPECT_THAT(text, StartsWith("shop  invoice.paid  evt_1  0199a1b2-c3d4-7e5f-8a6b-7c8d9e0f1a2b\n"
                               "  accepted once, delivered once (attempt 2, 200, 12 ms)\n\n  2026-01-0"));
  EXPECT_THAT(text, HasSubstr("  " + time_of("2026-01-02T03:04:05.678Z") +
                              "  ● accepted    first                from 203.0.113.7      secret #1\n"));
  EXPECT_THAT(text,
              HasSubstr("  " + time_of("2026-01-02T03:04:05.683Z") +
                        "  ○ duplicate   concurrent twin      from 203.0.113.8      secret #2   +5 ms   same bytes, "
                        "new signature\n                              verified with another secret: two listeners\n"));
  EXPECT_THAT(text,
              HasSubstr("  ○ rearmed     same id other body   from 203.0.113.8      secret #1   retry 1 http_error   "
                        "-59.3 s   another id, other bytes\n"));
  EXPECT_THAT(text, Not(HasSubstr("the first that was stored")));
  EXPECT_THAT(text, EndsWith("\n\n  3 arrivals, 1 event, 1 effect\n"));
  EXPECT_THAT(text, Not(HasSubstr("\033")));
  EXPECT_THAT(why_text(parsed(kEvent), {true, 0}), HasSubstr("\033["));
}

TEST(WhyText, IsNoWiderThanTheTerminal) {
  for (const std::size_t columns : {80u, 60u, 48u}) {
    const std::string text = why_text(parsed(kEvent), {false, columns});
    for (std::string_view line : split(text, '\n')) {
      EXPECT_LE(width_of(line), columns) << line;
      EXPECT_FALSE(!line.empty() && line.back() == ' ') << line;
    }
    EXPECT_THAT(text, HasSubstr("another"));
  }
}

TEST(WhyText, SaysWhatBecameOfEachDelivery) {
  json::object event = parsed(R"({"source":"shop","duplicates":0,"arrivals":[],"deliveries":[
    {"destination":"a","state":"delivered","replayed":true,"attempts":[{"number":1,"outcome":"success","status":200},
     {"number":2,"outcome":"success","status":204,"duration_ms":7}]},
    {"destination":"b","state":"dead","attempts":[{"number":20,"outcome":"failed","status":503,"error":"answered 503"}]},
    {"destination":"c","state":"pending","attempts":[]},
    {"destination":"d","state":"in_flight","attempts":[{"number":1,"outcome":null}]},
    {"destination":"e","state":"pending","orphaned":true,"attempts":[]}]})");
  const std::string text = why_text(event, {});
  EXPECT_THAT(text, HasSubstr("a: delivered 2 times, replayed (attempt 2, 204, 7 ms), "
                              "b: dead (attempt 20, 503, answered 503), c: pending, d: in flight (attempt 1), "
                              "e: orphaned\n"));
  EXPECT_THAT(text, EndsWith("  1 arrival, 1 event, 2 effects\n"));
  event["deliveries"] = json::array();
  EXPECT_THAT(why_text(event, {}), HasSubstr("no destination of its source wanted it"));
}

// The backend of a request that was sent may have done the work, although its answer came too late.
TEST(WhyText, AnAttemptThatGotNoAnswerIsPerhapsAnEffect) {
  json::object event = parsed(R"({"source":"shop","duplicates":0,"arrivals":[],"deliveries":[
    {"destination":"a","state":"delivered","attempts":[
     {"number":1,"outcome":"failed","status":null,"error":"http://127.0.0.1:9000: no answer within 1s"},
     {"number":2,"outcome":"failed","status":500,"error":"answered 500"},
     {"number":3,"outcome":"failed","status":null,"error":"connect 127.0.0.1:9000: connection refused"},
     {"number":4,"outcome":"failed","status":null,"error":"resolve backend.example: no answer within 1s"},
     {"number":5,"outcome":"released","status":null,"error":"127.0.0.1:9000: no free connection within 1s"},
     {"number":6,"outcome":"success","status":200,"error":null}]}]})");
  EXPECT_THAT(why_text(event, {}),
              EndsWith("\n\n  1 arrival, 1 event, 1 effect, perhaps 1 more: attempt 1 had no answer\n"));
  EXPECT_EQ(json_int(why_json(event), "effects"), 1);
  EXPECT_EQ(json_int(why_json(event), "effects_perhaps"), 1);
  for (std::string_view line : split(why_text(event, {false, 48}), '\n')) EXPECT_LE(width_of(line), 48u) << line;

  const auto lost = parsed(R"({"number":1,"outcome":"unknown","status":null,"error":null})");
  event["deliveries"].as_array().push_back(json::object{{"destination", "b"}, {"attempts", json::array{lost}}});
  EXPECT_THAT(why_text(event, {}), EndsWith("1 effect, perhaps 2 more: a's attempt 1, b's attempt 1 had no answer\n"));
  event["deliveries"].as_array()[1].as_object()["attempts"] = json::array{lost, lost, lost};
  EXPECT_THAT(why_text(event, {}), EndsWith("1 effect, perhaps 4 more: 4 attempts had no answer\n"));
}

TEST(WhyText, SaysWhatHoldsADeliveryWithinTheWidth) {
  json::object event = parsed(R"({"source":"shop","duplicates":0,"arrivals":[],"deliveries":[
    {"destination":"a","state":"pending","attempts":[],"held":"line","behind":"0199a1b2-c3d4-7e5f-8a6b-7c8d9e0f1a2b"},
    {"destination":"b","state":"pending","attempts":[],"held":"paused","behind":null}]})");
  const std::string text = why_text(event, {});
  EXPECT_THAT(text, HasSubstr("a: pending, b: pending\n"
                              "  a: waits behind 0199a1b2-c3d4-7e5f-8a6b-7c8d9e0f1a2b of its ordering key; if that one "
                              "is dead, `hookonce replay 0199a1b2-c3d4-7e5f-8a6b-7c8d9e0f1a2b` goes on\n"
                              "  b: its destination is paused; `hookonce resume b` goes on\n"));
  for (std::string_view line : split(why_text(event, {false, 60}), '\n')) EXPECT_LE(width_of(line), 60u) << line;
}

TEST(WhyText, CountsTheArrivalsThatWereNotKept) {
  json::object event = parsed(kEvent);
  event["duplicates"] = 130;
  EXPECT_THAT(why_text(event, {}), HasSubstr("  and 128 more, of which only the number is kept\n"));
  EXPECT_THAT(why_text(event, {}), EndsWith("  131 arrivals, 1 event, 1 effect\n"));
}

TEST(WhyText, NeverObeysWhatArrived) {
  const json::object event = parsed(R"({"source":"s","type":"\u001b[2J","key":"a\nb","duplicates":1,"arrivals":[
    {"verdict":"duplicate","cause":"\u001b","remote":"\u001b","reason":"\u001b[31m","retry":{"number":1,"reason":"\u001b"}}]})");
  EXPECT_THAT(why_text(event, {}), Not(HasSubstr("\033")));
}

TEST(WhyText, LeavesTheContentOutOfJson) {
  const json::object why = why_json(parsed(kEvent));
  EXPECT_EQ(json_int(why, "effects"), 1);
  EXPECT_EQ(why.if_contains("body"), nullptr);
  EXPECT_EQ(why.if_contains("headers"), nullptr);
  EXPECT_EQ(why.at("arrivals").as_array().size(), 3u);
}

}  // namespace
}  // namespace hookonce
