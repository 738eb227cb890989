#include "store/redis_codec.h"

#include <gtest/gtest.h>

#include "test/support/asserts.h"

namespace hookonce {
namespace {

Attempt sample_attempt() {
  Attempt attempt;
  attempt.number = 7;
  attempt.started_at = Time(Duration(1790000000123456));
  attempt.duration = Duration(0);
  attempt.outcome = Outcome::kFailed;
  attempt.status = 503;
  attempt.error = std::string("nul\0and \xff", 9);
  return attempt;
}

TEST(RedisCodec, AnAttemptComesBackAsItWas) {
  Attempt attempt = sample_attempt();
  EXPECT_EQ(decode_attempt(encode_attempt(attempt), 7).value(), attempt);
  attempt.duration = std::nullopt;
  EXPECT_EQ(decode_attempt(encode_attempt(attempt), 7).value(), attempt);
}

TEST(RedisCodec, EveryCutIsNoticed) {
  const std::string whole = encode_attempt(sample_attempt());
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_EQ(decode_attempt(whole.substr(0, size), 7).code(), Code::kInternal) << size;
  }
  EXPECT_EQ(decode_attempt(whole + "x", 7).code(), Code::kInternal);
  EXPECT_EQ(decode_deliveries("\x03"
                              "abc")
                .code(),
            Code::kInternal);
  EXPECT_EQ(decode_fixed("").code(), Code::kInternal);
}

TEST(RedisCodec, AnArrivalComesBackAsItWas) {
  Arrival arrival;
  arrival.at = Time(Duration(1790000000123456));
  arrival.remote = "203.0.113.7";
  arrival.secret = 2;
  arrival.body_hash = KeyHash{1};
  arrival.signature_hash = KeyHash{2};
  for (const bool same_body : {true, false}) {
    for (const bool same_key : {true, false}) {
      const std::string bytes = encode_stored_arrival({arrival, Verdict::kRearmed, same_body, same_key});
      const auto decoded = decode_arrival(bytes);
      ASSERT_OK(decoded);
      EXPECT_EQ(decoded->arrival, arrival);
      EXPECT_EQ(decoded->verdict, Verdict::kRearmed);
      EXPECT_EQ(decoded->same_body, same_body);
      EXPECT_EQ(decoded->same_key, same_key);
      // The commit script adds the two bytes itself.
      EXPECT_EQ(bytes.substr(2), encode_arrival(arrival));
      EXPECT_EQ(bytes[1], (same_body ? 1 : 0) + (same_key ? 0 : 2));
    }
  }
}

TEST(RedisCodec, AnArrivalOfAnOlderProgramHasNoSignature) {
  Arrival arrival;
  arrival.body_hash = KeyHash{1};
  arrival.signature_hash = KeyHash{2};
  const std::string bytes = encode_arrival(arrival);
  arrival.signature_hash = KeyHash{};
  const auto decoded = decode_arrival("\x01\x01" + bytes.substr(0, bytes.size() - arrival.signature_hash.size()));
  ASSERT_OK(decoded);
  EXPECT_EQ(decoded->arrival, arrival);
}

TEST(RedisCodec, NoDeliveriesAreNoBytes) {
  EXPECT_TRUE(decode_deliveries("").value().empty());
}

}  // namespace
}  // namespace hookonce
