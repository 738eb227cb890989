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

TEST(RedisCodec, NoDeliveriesAreNoBytes) {
  EXPECT_TRUE(decode_deliveries("").value().empty());
}

}  // namespace
}  // namespace hookonce
