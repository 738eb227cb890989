#include "provider/time_stamp.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.h"
#include "provider/refusal.h"

namespace hookonce {
namespace {

using std::chrono::seconds;

// The year 33658: in microseconds it still leaves room to add and subtract tolerances.
constexpr std::int64_t kSecondsMax = 1'000'000'000'000;

bool all_digits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

std::optional<Time> parse_unix_seconds(std::string_view text) {
  if (!all_digits(text)) return std::nullopt;
  const std::int64_t value = parse_digits(text).value_or(kSecondsMax);
  return Time(seconds(std::min(value, kSecondsMax)));
}

std::string unix_seconds(Time time) {
  return fmt::format("{}", std::chrono::floor<seconds>(time.time_since_epoch()).count());
}

std::optional<Verification> time_stamp_refusal(Time stamp, Time now, Duration tolerance) {
  const Duration age = std::chrono::floor<seconds>(now) - std::chrono::floor<seconds>(stamp);
  if (age > tolerance) {
    return refused(
        Reason::kTimestampTooOld,
        fmt::format("the signed time stamp is {} s old, more than the tolerance of {}; check this machine's clock, and "
                    "whether a proxy holds requests back",
                    std::chrono::duration_cast<seconds>(age).count(), format_duration(tolerance)));
  }
  if (-age > tolerance) {
    return refused(
        Reason::kTimestampInFuture,
        fmt::format(
            "the signed time stamp is {} s in the future, more than the tolerance of {}; check this machine's clock",
            std::chrono::duration_cast<seconds>(-age).count(), format_duration(tolerance)));
  }
  return std::nullopt;
}

}  // namespace hookonce
