#include "cli/event_text.h"

#include <gmock/gmock.h>

#include "base/clock.h"

namespace hookonce {
namespace {

using testing::HasSubstr;
using testing::Not;

json::value parsed(std::string_view text) {
  return *parse_json(text);
}

std::string local(std::string_view rfc3339) {
  return to_local(*parse_rfc3339(rfc3339));
}

constexpr const char* kEvent = R"({
  "id":"0199a1b2-c3d4-7e5f-8a6b-7c8d9e0f1a2b","source":"shop","type":"invoice.paid","key":"evt_1","ordering_key":null,
  "received_at":"2026-01-02T03:04:05.678Z","state":"dead","duplicates":1,"size":13,
  "headers":[["Content-Type","application/json"],["X-Empty",""]],"body":"{\"a\":[1,{}]}\n",
  "arrivals":[{"at":"2026-01-02T03:04:05.678Z","verdict":"accepted","cause":"first","remote":"203.0.113.7","same_body":true,"since_first_ms":0},
              {"at":"2026-01-02T03:04:05.683Z","verdict":"duplicate","cause":"concurrent_twin","remote":"203.0.113.8","same_body":false,"since_first_ms":5}],
  "deliveries":[{"destination":"backend","state":"dead","orphaned":true,"next_attempt_at":null,"delivered_at":null,
    "attempts":[{"number":1,"started_at":"2026-01-02T03:04:05.700Z","duration_ms":12,"outcome":"failed","status":500,"error":"answered 500","response":"oh no\n"},
                {"number":3,"started_at":"2026-01-02T03:04:07.700Z","duration_ms":null,"outcome":null,"status":null,"error":null,"response":null}]}]})";

TEST(EventText, ShowsWhatAPersonAsksFor) {
  const std::string text = event_text(parsed(kEvent).get_object(), {});
  EXPECT_THAT(text, testing::StartsWith("shop  invoice.paid  evt_1\n"));
  EXPECT_THAT(text, HasSubstr("  id          0199a1b2-c3d4-7e5f-8a6b-7c8d9e0f1a2b\n"));
  EXPECT_THAT(text, HasSubstr("  received    " + local("2026-01-02T03:04:05.678Z") + "\n"));
  EXPECT_THAT(text, HasSubstr("  backend  dead  orphaned\n"));
  EXPECT_THAT(text, HasSubstr("    attempt 1  " + local("2026-01-02T03:04:05.700Z") +
                              "  failed  500  12 ms  answered 500\n      answer: oh no\n"));
  EXPECT_THAT(text, HasSubstr("    attempt 3  " + local("2026-01-02T03:04:07.700Z") + "  in flight\n"));
  EXPECT_THAT(text, HasSubstr("  Content-Type: application/json\n  X-Empty: \n"));
  EXPECT_THAT(text, HasSubstr("duplicate  concurrent twin  from 203.0.113.8  +5 ms  other bytes\n"));
  EXPECT_THAT(text, testing::EndsWith("\nbody  13 B\n{\"a\":[1,{}]}\n"));
}

TEST(EventText, AnArrivalThatIsDatedBeforeTheFirstHasOneSign) {
  const auto event = parsed(R"({"arrivals":[{"verdict":"duplicate","remote":"203.0.113.8","since_first_ms":-1201}]})");
  EXPECT_THAT(event_text(event.get_object(), {}), HasSubstr("from 203.0.113.8  -1.2 s\n"));
}

TEST(EventText, NamesTheNewItemsOfABatchAlone) {
  EXPECT_THAT(event_text(parsed(R"({"new_items":[1,3]})").get_object(), {}), HasSubstr("  new items   1, 3\n"));
  EXPECT_THAT(event_text(parsed(R"({"new_items":null})").get_object(), {}), Not(HasSubstr("new items")));
}

TEST(EventText, SaysWhatHoldsADelivery) {
  const auto shown = [](const char* more) {
    const std::string event =
        std::string(R"({"deliveries":[{"destination":"backend","state":"pending")") + more + "}]}";
    return event_text(parsed(event).get_object(), {});
  };
  EXPECT_THAT(shown(R"(,"held":"line","behind":"0199")"),
              HasSubstr("  backend  pending  waits behind 0199 of its ordering key; if that one is dead, "
                        "`hookonce replay 0199` goes on\n"));
  EXPECT_THAT(shown(R"(,"held":"paused","behind":"0199")"),
              HasSubstr("  backend  pending  its destination is paused; `hookonce resume backend` goes on\n"));
  EXPECT_THAT(shown(R"(,"held":null,"behind":null)"), HasSubstr("  backend  pending\n"));
  EXPECT_THAT(shown(R"(,"held":"moon")"), HasSubstr("  backend  pending\n"));
}

TEST(EventText, BreaksAJsonBodyIntoLinesOnlyWhenAsked) {
  const std::string text = event_text(parsed(kEvent).get_object(), {false, true});
  EXPECT_THAT(text, testing::EndsWith("\nbody  13 B\n{\n  \"a\": [\n    1,\n    {}\n  ]\n}\n"));
}

TEST(EventText, ShowsBytesThatAreNotTextInBase64) {
  const auto event = parsed(R"({"id":"x","size":3,"body_base64":"AP8B","headers":[],"deliveries":[]})");
  const std::string text = event_text(event.get_object(), {});
  EXPECT_THAT(text, testing::EndsWith("body  3 B, not text; in base64\nAP8B\n"));
  EXPECT_THAT(text, HasSubstr("none: no destination of its source wanted it"));
}

TEST(EventText, NeverObeysWhatArrived) {
  const auto event =
      parsed(R"({"id":"x","type":"\u001b[2J","key":"a\nb","headers":[["X","\u001b]0;"]],"body":"\u001b[31m"})");
  EXPECT_THAT(event_text(event.get_object(), {}), Not(HasSubstr("\033")));
  EXPECT_THAT(event_text(event.get_object(), {}), HasSubstr("a\\x0ab"));
}

TEST(EventText, LivesWithMembersOfOtherKinds) {
  const auto event =
      parsed(R"({"id":7,"headers":[1,["a"],[1,2]],"deliveries":[1,{"attempts":[2]}],"arrivals":["x"],"body":5})");
  EXPECT_FALSE(event_text(event.get_object(), {}).empty());
  EXPECT_FALSE(events_text(parsed("[1,null,{}]").get_array(), false).empty());
}

TEST(EventsText, HasOneLineForEachEventUnderAHead) {
  const auto items = parsed(std::string("[") + kEvent + "]");
  const std::string text = events_text(items.get_array(), false);
  EXPECT_THAT(text, testing::StartsWith("TIME "));
  EXPECT_THAT(text, testing::EndsWith("\n" + local("2026-01-02T03:04:05.678Z") +
                                      "  shop    invoice.paid  evt_1  dead            1  13 B  "
                                      "0199a1b2-c3d4-7e5f-8a6b-7c8d9e0f1a2b\n"));
}

TEST(LocalTime, IsADashWhereThereIsNone) {
  EXPECT_EQ(local_time(""), "-");
  EXPECT_EQ(local_time("yesterday"), "-");
}

TEST(Sizes, ReadWell) {
  EXPECT_EQ(size_text(0), "0 B");
  EXPECT_EQ(size_text(1023), "1023 B");
  EXPECT_EQ(size_text(1536), "1.5 KiB");
  EXPECT_EQ(size_text(25ULL << 20), "25.0 MiB");
  EXPECT_EQ(size_text(3ULL << 30), "3.0 GiB");
}

TEST(Milliseconds, ReadWell) {
  EXPECT_EQ(milliseconds_text(0), "0 ms");
  EXPECT_EQ(milliseconds_text(999), "999 ms");
  EXPECT_EQ(milliseconds_text(1200), "1.2 s");
  EXPECT_EQ(milliseconds_text(61'000), "1 min 1 s");
  EXPECT_EQ(milliseconds_text(3'660'000), "1 h 1 min");
  EXPECT_EQ(milliseconds_text(90'000'000), "1 d 1 h");
}

TEST(IndentedJson, KeepsEveryToken) {
  EXPECT_EQ(indented_json(R"({"a":12345678901234567890123,"b":[],"c":[{},"x:{,}\""]})"),
            "{\n  \"a\": 12345678901234567890123,\n  \"b\": [],\n  \"c\": [\n    {},\n    \"x:{,}\\\"\"\n  ]\n}");
  EXPECT_EQ(indented_json("  7 "), "7");
}

TEST(EventText, ABodyThatIsNotShownSaysWhy) {
  const std::string text = event_text({{"size", 7}, {"body", nullptr}, {"body_hidden", "it is not JSON"}}, {});
  EXPECT_NE(text.find("body  7 B, not shown: it is not JSON\n"), std::string::npos) << text;
}

}  // namespace
}  // namespace hookonce
