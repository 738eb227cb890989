#include "core/cause.h"

#include <gmock/gmock.h>

namespace hookonce {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::HasSubstr;

constexpr Time kFirstAt{seconds(1790000000)};
constexpr KeyHash kSignature{1};
constexpr KeyHash kOtherSignature{2};

// What is different between two rows of the tables below.
struct Case {
  const char* what;
  Duration distance;
  Cause cause;
  bool certain;
  const char* reason;  // a part of it
  int secret = 0;
  bool retry_header = false;
  bool same_body = true;
  bool same_key = true;
  KeyHash signature = kOtherSignature;
};

// An unknown sender: it may send again by itself, and says nothing about it.
SourceConfig plain_source() {
  SourceConfig source;
  source.name = "shop";
  source.ack_deadline = seconds(2);
  return source;
}

Arrival arrival_at(Duration distance, int secret, const KeyHash& signature) {
  Arrival arrival;
  arrival.at = kFirstAt + distance;
  arrival.secret = secret;
  arrival.signature_hash = signature;
  return arrival;
}

Arrival arrival_of(const Case& c) {
  Arrival arrival = arrival_at(c.distance, c.secret, c.signature);
  if (c.retry_header) arrival.retry = RetryHint{1, "http_timeout"};
  return arrival;
}

AcceptFacts facts_of(const Case& c, Verdict verdict) {
  AcceptFacts facts;
  facts.verdict = verdict;
  facts.first_at = kFirstAt + milliseconds(700);  // by another clock: nothing is concluded from it
  facts.same_body = c.same_body;
  facts.same_key = c.same_key;
  facts.first = FirstArrival{kFirstAt, 0, kSignature};
  return facts;
}

// By both ways: as ingest asks, and as the views do.
void expect(const std::vector<Case>& cases, const SourceConfig& source) {
  for (const Case& c : cases) {
    for (const Verdict verdict : {Verdict::kDuplicate, Verdict::kRearmed}) {
      const Arrival arrival = arrival_of(c);
      const std::vector<StoredArrival> stored = {{arrival_at({}, 0, kSignature), Verdict::kAccepted, true, true},
                                                 {arrival, verdict, c.same_body, c.same_key}};
      for (const Conclusion& conclusion :
           {conclude(facts_of(c, verdict), arrival, source), conclude(stored, &source).at(1)}) {
        EXPECT_EQ(to_string(conclusion.cause), to_string(c.cause)) << c.what;
        EXPECT_EQ(conclusion.certain, c.certain) << c.what;
        EXPECT_THAT(std::string(conclusion.reason), HasSubstr(c.reason)) << c.what;
        EXPECT_EQ(conclusion.reason.find("probably") == std::string_view::npos, c.certain) << c.what;
      }
    }
  }
}

TEST(Cause, OfASenderOfWhomNothingIsKnown) {
  constexpr Duration kTick(1);
  expect(
      {
          {"at once", {}, Cause::kConcurrentTwin, false, "two URLs"},
          {"5 ms later", milliseconds(5), Cause::kConcurrentTwin, false, "two URLs"},
          {"by a clock behind the first's", milliseconds(-5), Cause::kConcurrentTwin, false, "two URLs"},
          {"with another secret", milliseconds(5), Cause::kConcurrentTwin, true, "another secret", 1},
          {"the very same request", milliseconds(5), Cause::kConcurrentTwin, false, "very same request", 0, false, true,
           true, kSignature},
          {"signed by nothing that is known", milliseconds(5), Cause::kConcurrentTwin, false, "one of these", 0, false,
           true, true, KeyHash{}},
          {"at the deadline", seconds(2), Cause::kConcurrentTwin, false, "two URLs"},
          {"behind it", seconds(2) + kTick, Cause::kProviderRetry, false, "soon after"},
          {"behind it with another secret", seconds(2) + kTick, Cause::kProviderRetry, false, "second listener", 1},
          {"with a header at once", milliseconds(5), Cause::kProviderRetry, true, "headers call it a retry", 0, true},
          {"with a header and another secret", milliseconds(5), Cause::kProviderRetry, true, "headers", 1, true},
          {"with a header much later", hours(10), Cause::kProviderRetry, true, "headers call it a retry", 0, true},
          {"nearly long after", minutes(30) - kTick, Cause::kProviderRetry, false, "soon after"},
          {"long after", minutes(30), Cause::kManualResend, false, "by hand"},
          {"long after with another secret", minutes(30), Cause::kManualResend, false, "second listener", 1},
          {"the same request later", seconds(3), Cause::kReplayedRequest, false, "earlier request's", 0, false, true,
           true, kSignature},
          {"nothing is known of its signature", seconds(3), Cause::kProviderRetry, false, "soon after", 0, false, true,
           true, KeyHash{}},
          {"other bytes at once", milliseconds(5), Cause::kSameIdOtherBody, true, "two events", 0, false, false},
          {"other bytes with a header", seconds(60), Cause::kSameIdOtherBody, true, "two events", 0, true, false},
          {"another id", milliseconds(5), Cause::kSemanticTwin, true, "dedup_also", 0, false, false, false},
          {"another id over the same bytes", hours(2), Cause::kSemanticTwin, true, "dedup_also", 1, true, true, false},
      },
      plain_source());
}

TEST(Cause, OfASenderThatSignsEachTryAnew) {
  SourceConfig source = plain_source();
  source.retries.signs_anew = true;
  expect(
      {
          {"the same request later", seconds(3), Cause::kReplayedRequest, true, "captured it", 0, false, true, true,
           kSignature},
          {"the same within the second that it is stamped with", milliseconds(500), Cause::kConcurrentTwin, false,
           "very same request", 0, false, true, true, kSignature},
          {"the same with a header, which nobody signs", seconds(60), Cause::kProviderRetry, false, "captured", 0, true,
           true, true, kSignature},
          {"the same at once with a header", milliseconds(5), Cause::kProviderRetry, true, "headers", 0, true, true,
           true, kSignature},
      },
      source);
}

// Their stamps are equal, since a stamp has whole seconds: a shorter deadline makes them no replay.
TEST(Cause, TwoSigningsWithinOneSecondAreNoReplay) {
  SourceConfig source = plain_source();
  source.ack_deadline = milliseconds(250);
  source.retries.signs_anew = true;
  expect(
      {
          {"400 ms apart", milliseconds(400), Cause::kProviderRetry, false, "soon after", 0, false, true, true,
           kSignature},
          {"longer apart than a stamp's second", seconds(3), Cause::kReplayedRequest, true, "captured it", 0, false,
           true, true, kSignature},
      },
      source);
}

TEST(Cause, OfASenderThatNeverSendsAgainByItself) {
  SourceConfig source = plain_source();
  source.ack_deadline = seconds(8);
  source.retries.by_itself = false;
  expect(
      {
          {"within its longer deadline", seconds(8), Cause::kConcurrentTwin, false, "two URLs"},
          {"one that nothing tells from a captured request", milliseconds(1400), Cause::kConcurrentTwin, false,
           "a proxy on the way", 0, false, true, true, KeyHash{}},
          {"the same later", seconds(9), Cause::kManualResend, false, "captured request would look the same", 0, false,
           true, true, KeyHash{}},
          {"later", seconds(9), Cause::kManualResend, true, "never sends again by itself"},
          {"much later", hours(30), Cause::kManualResend, true, "never sends again by itself"},
      },
      source);
}

TEST(Cause, OfASenderThatMarksItsRetries) {
  SourceConfig source = plain_source();
  source.retries.in_headers = true;
  expect(
      {
          {"with the mark", minutes(1), Cause::kProviderRetry, true, "headers call it a retry", 0, true},
          {"without it", minutes(1), Cause::kManualResend, false, "marks its retries"},
      },
      source);
}

TEST(Cause, OfASenderWithADocumentedSchedule) {
  SourceConfig source = plain_source();
  source.retries.waits = {seconds(5), minutes(5), minutes(30), hours(2)};
  expect(
      {
          {"the second try", seconds(5), Cause::kProviderRetry, false, "schedule"},
          {"the fourth try", minutes(35), Cause::kProviderRetry, false, "schedule"},
          {"the last after the first was lost", hours(2) + minutes(30), Cause::kProviderRetry, false, "schedule"},
          {"late by its tenth", hours(2) + minutes(13), Cause::kProviderRetry, false, "schedule"},
          {"between two tries", hours(1), Cause::kManualResend, false, "by hand"},
          {"behind the last", hours(4), Cause::kManualResend, false, "by hand"},
          {"between two tries and soon", minutes(15), Cause::kProviderRetry, false, "soon after"},
          {"a second listener's", minutes(5), Cause::kProviderRetry, false, "second listener", 1},
      },
      source);
}

TEST(Cause, OfASenderThatWritesAboutTheSendingIntoTheBody) {
  SourceConfig source = plain_source();
  source.retries.changes_body = true;
  constexpr Duration kTick(1);
  expect(
      {
          {"other bytes", hours(1), Cause::kSameIdOtherBody, false, "about the sending", 0, false, false},
          {"two listeners 6 ms apart", milliseconds(6), Cause::kConcurrentTwin, false, "two listeners", 1, false,
           false},
          {"two listeners at the deadline", seconds(2), Cause::kConcurrentTwin, false, "two listeners", 1, false,
           false},
          {"behind it", seconds(2) + kTick, Cause::kSameIdOtherBody, false, "retry or a resend", 1, false, false},
          {"one listener at once", milliseconds(6), Cause::kSameIdOtherBody, false, "retry or a resend", 0, false,
           false},
          {"two listeners and a header", milliseconds(6), Cause::kSameIdOtherBody, false, "retry or a resend", 1, true,
           false},
          {"two listeners with the same bytes", milliseconds(6), Cause::kConcurrentTwin, true, "another secret", 1},
          {"another id", milliseconds(6), Cause::kSemanticTwin, true, "dedup_also", 1, false, false, false},
      },
      source);
}

// A batch that shares its items with several events is a duplicate of the oldest of them, whatever was with it there.
TEST(Cause, OfABatchWithOtherBytesTheItemsCameBefore) {
  SourceConfig source = plain_source();
  source.items = "/events";
  expect({{"other bytes", seconds(60), Cause::kSameIdOtherBody, false, "every item", 0, false, false},
          {"of a single event", hours(1), Cause::kSameIdOtherBody, false, "every item", 0, false, false, false},
          {"the same bytes", seconds(60), Cause::kProviderRetry, false, "soon after"}},
         source);
}

TEST(Cause, ARetryWhoseFirstTryWasNeverStoredIsTheFirst) {
  Arrival arrival = arrival_at({}, 0, kSignature);
  EXPECT_EQ(conclude(AcceptFacts(), arrival, plain_source()).cause, Cause::kFirst);
  arrival.retry = RetryHint{1, "http_timeout"};
  const Conclusion conclusion = conclude(AcceptFacts(), arrival, plain_source());
  EXPECT_EQ(conclusion.cause, Cause::kFirst);
  EXPECT_TRUE(conclusion.certain);
  EXPECT_THAT(std::string(conclusion.reason), HasSubstr("no earlier try came in"));
}

TEST(Cause, OfAPrunedEventOnlyTheDistanceAndTheBodyAreKnown) {
  AcceptFacts facts;
  facts.verdict = Verdict::kDuplicate;
  facts.first_at = kFirstAt;
  EXPECT_EQ(conclude(facts, arrival_at(milliseconds(5), 3, kSignature), plain_source()).cause, Cause::kConcurrentTwin);
  EXPECT_EQ(conclude(facts, arrival_at(hours(5), 3, kSignature), plain_source()).cause, Cause::kManualResend);
  facts.same_body = false;
  EXPECT_EQ(conclude(facts, arrival_at(hours(5), 3, kSignature), plain_source()).cause, Cause::kSameIdOtherBody);
}

TEST(Cause, ARequestThatRepeatsALaterOneIsSeenAmongAllArrivals) {
  SourceConfig source = plain_source();
  source.retries.signs_anew = true;
  const std::vector<StoredArrival> arrivals = {
      {arrival_at({}, 0, kSignature), Verdict::kAccepted, true, true},
      {arrival_at(minutes(5), 0, kOtherSignature), Verdict::kDuplicate, true, true},
      {arrival_at(minutes(6), 0, kOtherSignature), Verdict::kDuplicate, true, true},
  };
  const auto conclusions = conclude(arrivals, &source);
  ASSERT_EQ(conclusions.size(), 3u);
  EXPECT_EQ(conclusions[0].cause, Cause::kFirst);
  EXPECT_EQ(conclusions[1].cause, Cause::kProviderRetry);
  EXPECT_EQ(conclusions[2].cause, Cause::kReplayedRequest);
}

// Of two arrivals, the second `distance` after the first by the gateways' clocks.
Conclusion of_second(const SourceConfig& source, Arrival second, Clocks clocks,
                     std::optional<Time> first_stamp = std::nullopt) {
  Arrival first = arrival_at({}, 0, kSignature);
  first.provider_time = first_stamp;
  return conclude(std::vector<StoredArrival>{{first, Verdict::kAccepted, true, true},
                                             {std::move(second), Verdict::kDuplicate, true, true}},
                  &source, clocks)
      .at(1);
}

TEST(Cause, DatedBeforeTheFirstNothingThatRestsOnTheDistanceIsCertain) {
  SourceConfig source = plain_source();
  source.retries.by_itself = false;
  for (const Clocks clocks : {Clocks::kOne, Clocks::kSeveral}) {
    Conclusion early = of_second(source, arrival_at(-hours(1), 0, kOtherSignature), clocks);
    EXPECT_EQ(early.cause, Cause::kManualResend);
    EXPECT_FALSE(early.certain);
    EXPECT_THAT(std::string(early.doubt), HasSubstr("dated before the first"));
    // Less than the deadline, as of a rejected request that was accepted later: its sender had an answer at once.
    for (const milliseconds before : {milliseconds(5), milliseconds(1200)}) {
      early = of_second(source, arrival_at(-before, 1, kOtherSignature), clocks);
      EXPECT_EQ(early.cause, Cause::kConcurrentTwin);
      EXPECT_FALSE(early.certain);
      EXPECT_THAT(std::string(early.doubt), HasSubstr("dated before the first"));
    }
  }
  Arrival marked = arrival_at(-hours(1), 0, kOtherSignature);
  marked.retry = RetryHint{1, ""};
  EXPECT_TRUE(of_second(source, marked, Clocks::kOne).certain) << "a header says so, whatever the time";
}

TEST(Cause, WithSeveralClocksADistanceNearTheDeadlineIsNotCertain) {
  SourceConfig source = plain_source();
  source.retries.by_itself = false;
  const auto certain = [&](Duration distance, int secret, Clocks clocks) {
    const Conclusion conclusion = of_second(source, arrival_at(distance, secret, kOtherSignature), clocks);
    EXPECT_EQ(conclusion.doubt.empty(), conclusion.certain);
    return conclusion.certain;
  };
  EXPECT_TRUE(certain(seconds(10), 0, Clocks::kOne));
  EXPECT_FALSE(certain(seconds(10), 0, Clocks::kSeveral)) << "a twin of a gateway whose clock is 10 s ahead";
  EXPECT_TRUE(certain(milliseconds(5), 1, Clocks::kOne));
  EXPECT_FALSE(certain(milliseconds(5), 1, Clocks::kSeveral)) << "a second listener's retry, by a clock that is behind";
  EXPECT_TRUE(certain(hours(1), 0, Clocks::kSeveral));
  const Conclusion unsigned_time = of_second(source, arrival_at(seconds(10), 0, KeyHash{}), Clocks::kSeveral);
  EXPECT_THAT(std::string(unsigned_time.doubt), HasSubstr("clocks of the gateways")) << "a guess already, and why else";
}

// Of one request that came to two gateways at once, 90 s apart by their clocks.
TEST(Cause, WithSeveralClocksAReplayIsNamedAndNeverCertain) {
  SourceConfig source = plain_source();
  source.retries.signs_anew = true;
  for (const Duration distance : {Duration(seconds(90)), Duration(hours(30))}) {
    EXPECT_TRUE(of_second(source, arrival_at(distance, 0, kSignature), Clocks::kOne).certain);
    const Conclusion replay = of_second(source, arrival_at(distance, 0, kSignature), Clocks::kSeveral);
    EXPECT_EQ(replay.cause, Cause::kReplayedRequest);
    EXPECT_FALSE(replay.certain);
    EXPECT_THAT(std::string(replay.doubt), HasSubstr("clocks of the gateways"));
  }
}

TEST(Cause, TheSendersTimeStampsMayContradictTheClocks) {
  SourceConfig source = plain_source();
  source.retries.signs_anew = true;
  const auto of = [&](Duration distance, Duration signed_after) {
    Arrival second = arrival_at(distance, 1, kOtherSignature);
    second.provider_time = kFirstAt + signed_after;
    return of_second(source, second, Clocks::kSeveral, kFirstAt);
  };
  const Conclusion apart = of(seconds(40), seconds(0));
  EXPECT_FALSE(apart.certain);
  EXPECT_THAT(std::string(apart.doubt), HasSubstr("otherwise apart"));
  EXPECT_THAT(std::string(of(milliseconds(5), seconds(30)).doubt), HasSubstr("otherwise apart"));
  EXPECT_EQ(of(hours(2), hours(2) - seconds(1)).doubt, "");
  source.retries.signs_anew = false;
  EXPECT_EQ(of(seconds(40), seconds(0)).doubt, "") << "the same stamp on each try says nothing";
}

TEST(Cause, ASourceThatIsGoneIsTakenForOneOfWhomNothingIsKnown) {
  const std::vector<StoredArrival> arrivals = {
      {arrival_at({}, 0, kSignature), Verdict::kAccepted, true, true},
      {arrival_at(milliseconds(5), 1, kOtherSignature), Verdict::kDuplicate, true, true},
      {arrival_at(hours(1), 0, KeyHash{3}), Verdict::kDuplicate, true, true},
  };
  const auto conclusions = conclude(arrivals, nullptr);
  EXPECT_EQ(conclusions.at(1).cause, Cause::kConcurrentTwin);
  EXPECT_EQ(conclusions.at(2).cause, Cause::kManualResend);
  EXPECT_TRUE(conclude({}, nullptr).empty());
}

TEST(Cause, TheDistanceFromTheFirstIsNeverNegative) {
  const Case twin{"", milliseconds(5), Cause::kConcurrentTwin, true, ""};
  EXPECT_EQ(since_first(facts_of(twin, Verdict::kDuplicate), arrival_of(twin)), milliseconds(5));
  EXPECT_EQ(since_first(facts_of(twin, Verdict::kDuplicate), arrival_at(milliseconds(-5), 0, kSignature)),
            Duration::zero());
}

TEST(Cause, HasTheContractsWords) {
  EXPECT_EQ(to_string(Cause::kFirst), "first");
  EXPECT_EQ(to_string(Cause::kProviderRetry), "provider_retry");
  EXPECT_EQ(to_string(Cause::kConcurrentTwin), "concurrent_twin");
  EXPECT_EQ(to_string(Cause::kManualResend), "manual_resend");
  EXPECT_EQ(to_string(Cause::kReplayedRequest), "replayed_request");
  EXPECT_EQ(to_string(Cause::kSameIdOtherBody), "same_id_other_body");
  EXPECT_EQ(to_string(Cause::kSemanticTwin), "semantic_twin");
}

}  // namespace
}  // namespace hookonce
