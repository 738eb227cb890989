#include "ingest/answers.h"

#include <gtest/gtest.h>

#include "base/json.h"
#include "test/support/ingest_fixture.h"

namespace hookonce {
namespace {

const EventId kId = EventId::parse("0199a1b2-0000-7000-8000-000000000001").value();

TEST(Answers, AnArrivalNamesItsVerdictAndEventInHeadersAndBody) {
  for (const Verdict verdict : {Verdict::kAccepted, Verdict::kDuplicate, Verdict::kRearmed}) {
    const HttpResponse answer = arrival_answer(verdict, kId, false);
    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(header_of(answer, "Hookonce-Status"), to_string(verdict));
    EXPECT_EQ(header_of(answer, "Hookonce-Event"), kId.text());
    EXPECT_EQ(header_of(answer, "Content-Type"), "application/json");
    EXPECT_EQ(answer.body, R"({"status":")" + std::string(to_string(verdict)) + R"(","id":")" + kId.text() + R"("})");
    EXPECT_TRUE(parse_json(answer.body).ok());
  }
}

TEST(Answers, AnEmptyBodyHasNoContentType) {
  const HttpResponse answer = arrival_answer(Verdict::kAccepted, kId, true);
  EXPECT_EQ(answer.body, "");
  EXPECT_FALSE(answer.headers.has("Content-Type"));
  EXPECT_EQ(header_of(answer, "Hookonce-Event"), kId.text());
}

TEST(Answers, EachRefusalHasItsStatusAndOnly503HasRetryAfter) {
  const std::pair<Refusal, int> cases[] = {
      {Refusal::kSignatureMissing, 401}, {Refusal::kSignatureMismatch, 401}, {Refusal::kTimestampOutOfTolerance, 401},
      {Refusal::kMalformed, 400},        {Refusal::kDedupKeyMissing, 422},   {Refusal::kStoreUnavailable, 503},
      {Refusal::kOverloaded, 503},
  };
  for (const auto& [refusal, status] : cases) {
    const HttpResponse answer = refusal_answer(refusal, "why \"it\" is so");
    EXPECT_EQ(answer.status, status);
    EXPECT_EQ(error_code(answer), to_string(refusal));
    EXPECT_EQ(error_message(answer), "why \"it\" is so");
    EXPECT_EQ(answer.headers.has("Retry-After"), status == 503);
    EXPECT_FALSE(answer.close);
  }
}

TEST(Answers, DrainingEndsTheConnection) {
  const HttpResponse answer = draining_answer();
  EXPECT_EQ(answer.status, 503);
  EXPECT_EQ(error_code(answer), "draining");
  EXPECT_TRUE(answer.headers.has("Retry-After"));
  EXPECT_TRUE(answer.close);
}

TEST(Answers, AHandshakeKeepsWhatTheProviderWants) {
  HttpResponse wanted;
  wanted.headers.add("Content-Type", "text/plain");
  wanted.body = "challenge";
  const HttpResponse answer = handshake_answer(wanted);
  EXPECT_EQ(answer.body, "challenge");
  EXPECT_EQ(header_of(answer, "Content-Type"), "text/plain");
  EXPECT_EQ(header_of(answer, "Hookonce-Status"), "handshake");
}

}  // namespace
}  // namespace hookonce
