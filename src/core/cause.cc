#include "core/cause.h"

namespace hookonce {

std::string_view to_string(Cause cause) {
  switch (cause) {
    case Cause::kFirst:
      return "first";
    case Cause::kConcurrentTwin:
      return "concurrent_twin";
    case Cause::kSecondListener:
      return "second_listener";
    case Cause::kProviderRetry:
      return "provider_retry";
    case Cause::kManualResend:
      return "manual_resend";
  }
  return "";
}

Cause cause_of(const Arrival& first, const Arrival& arrival, Verdict verdict) {
  // A "retry" that became the event is the first: the one before it never reached the store.
  if (verdict == Verdict::kAccepted) return Cause::kFirst;
  // Some providers send their first retry at once, so what they say about it goes before the distance in time.
  if (arrival.retry) return Cause::kProviderRetry;
  // Instances stamp arrivals by their own clocks: a twin may seem to have come before the first.
  const Duration distance = std::chrono::abs(arrival.at - first.at);
  if (distance <= kTwinWithin) return Cause::kConcurrentTwin;
  if (arrival.secret != first.secret) return Cause::kSecondListener;
  if (distance >= kManualResendAfter) return Cause::kManualResend;
  return Cause::kProviderRetry;
}

}  // namespace hookonce
