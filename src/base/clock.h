// Time: the one place that asks the machine what time it is.
//
// Everything else takes `now` as an argument. Two readings exist because they are for different things:
//   now()   wall time at start plus the steady clock: never jumps. Leases, due times, dedup windows, received_at.
//   wall()  the machine's wall clock as it stands. Provider tolerances and outgoing signatures, which are compared with
//           another machine's clock.
// Both in microseconds. Thread-safe.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace hookonce {

using Duration = std::chrono::microseconds;
using Time = std::chrono::time_point<std::chrono::system_clock, Duration>;

class Clock {
 public:
  virtual ~Clock() = default;
  virtual Time now() const = 0;
  virtual Time wall() const = 0;
};

// The machine's clock. Lives for the process.
const Clock& system_clock();

// A steady reading for measuring durations only (its epoch means nothing).
Duration steady_now();

// CPU time this process has used, user and system together.
Duration process_cpu_time();

// RFC 3339 in UTC with milliseconds: 2026-01-02T03:04:05.678Z.
std::string to_rfc3339(Time time);
// The same moment in the machine's local time for people: 2026-01-02 03:04:05.678.
std::string to_local(Time time);
// Accepts RFC 3339 with any offset and 0 to 9 fractional digits; nullopt for anything else.
std::optional<Time> parse_rfc3339(std::string_view text);
// An HTTP-date in the preferred form (RFC 9110, section 5.6.7), for example in Retry-After; nullopt for anything else.
std::optional<Time> parse_http_date(std::string_view text);

}  // namespace hookonce
