#include "core/cause.h"

#include <algorithm>

namespace hookonce {

namespace {

// How far off a documented schedule a retry may come: jitter, and the time that each try before it took to fail.
constexpr int kScheduleJitter = 10;                             // the distance's tenth
constexpr Duration kScheduleMargin = std::chrono::seconds(30);  // no known provider waits longer for an answer
constexpr Duration kStampMargin = std::chrono::seconds(2);      // a stamp has whole seconds; and the way here
constexpr Duration kUnknownDeadline = std::chrono::seconds(2);  // of a source that is gone: what most have

// What one duplicate shows.
struct Evidence {
  bool same_body = true;
  bool same_key = true;
  bool is_batch = false;
  bool retry_header = false;
  Duration distance{};         // from the first
  bool other_secret = false;   // than the first's
  bool knows_request = false;  // a signature over a time stamp tells it from a captured one
  bool same_request = false;   // as the first's: signature and time stamp are equal
  bool repeats_later = false;  // as an earlier one's, and later than a twin of that
};

bool is_known(const KeyHash& hash) {
  return hash != KeyHash{};
}

// Whether some tries of the schedule are `distance` apart. The first that arrived need not have been the first sent.
bool fits_schedule(const std::vector<Duration>& waits, Duration distance) {
  const Duration margin = distance / kScheduleJitter + kScheduleMargin;
  for (auto from = waits.begin(); from != waits.end(); ++from) {
    Duration sum{};
    for (auto wait = from; wait != waits.end(); ++wait) {
      sum += *wait;
      if (std::chrono::abs(sum - distance) <= margin) return true;
    }
  }
  return false;
}

// Two tries with one secret and other bytes are left to of_other_body(): a listener has but one secret.
bool is_twin_of_other_body(const Evidence& evidence, const RetryHabits& habits, Duration deadline) {
  return habits.changes_body && evidence.other_secret && !evidence.retry_header && evidence.distance <= deadline;
}

Conclusion of_other_body(const RetryHabits& habits) {
  if (habits.changes_body) {
    return {Cause::kSameIdOtherBody, false,
            "the same id with other bytes; this provider writes about the sending into the body, so it is probably a "
            "retry or a resend; the first body counts, these bytes were not kept"};
  }
  return {Cause::kSameIdOtherBody, true,
          "the same id with other bytes: the sender changed the body after the first try, or gave one id to two "
          "events; the first body counts, these bytes were not kept"};
}

// Its items may have come with several events, and it is compared with the oldest alone.
Conclusion of_other_batch() {
  return {
      Cause::kSameIdOtherBody, false,
      "a batch of other bytes of which every item came before: probably a retry of a later batch, or items sent again "
      "in another one; these bytes were not kept"};
}

Conclusion of_retry_header(const Evidence& evidence, const RetryHabits& habits) {
  if (evidence.repeats_later && habits.signs_anew) {
    return {Cause::kProviderRetry, false,
            "its headers call it a retry, but signature and time stamp are an earlier request's: probably a retry, "
            "perhaps a captured request sent again"};
  }
  return {Cause::kProviderRetry, true,
          "its headers call it a retry: the answer to an earlier try did not reach the provider in time"};
}

Conclusion of_twin(const Evidence& evidence) {
  if (!evidence.same_body) {
    return {Cause::kConcurrentTwin, false,
            "verified with another secret, and this provider writes about the sending into the body: probably two "
            "listeners, as a CLI listener beside a dashboard endpoint, or two endpoints; the first body counts; remove "
            "one of the two, or keep both: it costs nothing"};
  }
  if (evidence.other_secret) {
    return {Cause::kConcurrentTwin, true,
            "verified with another secret: two listeners, as a CLI listener beside a dashboard endpoint, or two "
            "endpoints; remove one of the two, or keep both: it costs nothing"};
  }
  if (evidence.same_request) {
    return {Cause::kConcurrentTwin, false,
            "the very same request again within the source's ack_deadline: probably a proxy or a tunnel on the way "
            "repeats it, or two "
            "listeners share a secret"};
  }
  if (!evidence.knows_request) {
    return {Cause::kConcurrentTwin, false,
            "sent again within the source's ack_deadline, before a sender could have missed the answer; its signature "
            "covers no time stamp, so it is probably one of these: two endpoints (two URLs) at the provider lead here, "
            "a proxy on the way sends it twice, or somebody asked for it again at once; it costs nothing"};
  }
  return {Cause::kConcurrentTwin, false,
          "sent again within the source's ack_deadline, before a sender could have missed the answer, and not as a "
          "retry: probably two endpoints (two URLs) at the provider lead here; remove one of the two, or keep both: it "
          "costs nothing"};
}

Conclusion of_replay(const RetryHabits& habits) {
  if (habits.signs_anew) {
    return {Cause::kReplayedRequest, true,
            "signature and time stamp are an earlier request's, and the provider signs each try anew: a proxy sent the "
            "request again, or somebody who has captured it"};
  }
  return {Cause::kReplayedRequest, false,
          "signature and time stamp are an earlier request's: probably a proxy, or somebody who has captured it, sent "
          "it again, unless the sender signs only once"};
}

Conclusion of_distance(const Evidence& evidence, const RetryHabits& habits) {
  if (!habits.by_itself && !evidence.knows_request) {
    return {Cause::kManualResend, false,
            "the provider never sends again by itself: probably a person or a script asked it to; a proxy or a "
            "captured request would look the same, since its signature covers no time stamp"};
  }
  if (!habits.by_itself) {
    return {Cause::kManualResend, true, "the provider never sends again by itself: a person or a script asked it to"};
  }
  if (habits.in_headers) {
    return {Cause::kManualResend, false,
            "the provider marks its retries in a header, and this one has none: probably sent again by a person or a "
            "tool"};
  }
  const bool is_fit = fits_schedule(habits.waits, evidence.distance);
  const bool is_retry = is_fit || evidence.distance < kManualResendAfter;
  if (evidence.other_secret) {
    return {is_retry ? Cause::kProviderRetry : Cause::kManualResend, false,
            is_retry ? "verified with another secret than the first: probably a retry of a second listener"
                     : "verified with another secret than the first, and long after it: probably sent again by hand to "
                       "a second listener"};
  }
  if (is_fit) {
    return {Cause::kProviderRetry, false,
            "the distance fits the provider's schedule: probably a retry, since no answer had reached the provider"};
  }
  if (is_retry) {
    return {Cause::kProviderRetry, false,
            "soon after the first: probably a retry, since no answer had reached the provider"};
  }
  return {
      Cause::kManualResend, false,
      "long after the first, and not as a retry: probably sent again by hand, in the provider's dashboard or by its "
      "CLI"};
}

Conclusion of_duplicate(const Evidence& evidence, const RetryHabits& habits, Duration deadline) {
  if (evidence.is_batch && !evidence.same_body) return of_other_batch();
  if (!evidence.same_key) {
    return {Cause::kSemanticTwin, true,
            "another id, and the same event by a key of `dedup_also`: the provider made two events of one change"};
  }
  if (!evidence.same_body && is_twin_of_other_body(evidence, habits, deadline)) return of_twin(evidence);
  if (!evidence.same_body) return of_other_body(habits);
  if (evidence.retry_header) return of_retry_header(evidence, habits);
  if (evidence.distance <= deadline) return of_twin(evidence);
  if (evidence.repeats_later) return of_replay(habits);
  return of_distance(evidence, habits);
}

constexpr std::string_view kDatedBefore =
    "but it is dated before the first, which was stored before it: two that came at once, a rejected request that was "
    "accepted later, or gateways whose clocks differ; so this is a guess";
constexpr std::string_view kOtherwiseApart =
    "but by the sender's time stamps the two are otherwise apart: one was held back on the way, or gateways' clocks "
    "differ; so this is a guess";
constexpr std::string_view kIfClocksAgree =
    "this holds if the clocks of the gateways that share the inbox agree; so it is a guess";

bool rests_on_distance(Cause cause, bool retry_header) {
  return cause == Cause::kConcurrentTwin || cause == Cause::kManualResend || cause == Cause::kReplayedRequest ||
         (cause == Cause::kProviderRetry && !retry_header);
}

// Whether it may be a twin that came to a gateway whose clock is ahead, or no twin for a clock behind. Of a replay at
// any distance, since nothing else tells the two apart.
bool needs_agreeing_clocks(const Conclusion& conclusion, Duration distance, Duration deadline) {
  if (conclusion.cause == Cause::kReplayedRequest) return true;
  const bool is_claim = conclusion.certain || conclusion.cause == Cause::kManualResend;
  return is_claim && std::chrono::abs(distance - deadline) < kClocksApart;
}

// By what the sender signed: each try anew, so that an arrival is about as old as the way here is long.
bool are_otherwise_apart(const Arrival& arrival, const Arrival& first, Duration deadline) {
  if (!arrival.provider_time || !first.provider_time) return false;
  const Duration ages = (arrival.at - *arrival.provider_time) - (first.at - *first.provider_time);
  return std::chrono::abs(ages) > deadline + kStampMargin;
}

Conclusion doubted(Conclusion conclusion, std::string_view doubt) {
  conclusion.certain = false;
  conclusion.doubt = doubt;
  return conclusion;
}

Conclusion of_first(const Arrival& arrival) {
  if (!arrival.retry) return {Cause::kFirst, true, "the first that was stored"};
  return {Cause::kFirst, true, "the first that was stored; its headers call it a retry, and no earlier try came in"};
}

// Later than this an equal request is no twin. A time stamp has whole seconds, so that a sender that signs twice within
// one makes two equal requests.
Duration replayed_after(Duration deadline) {
  return std::max(deadline, kStampMargin);
}

bool is_same_request(const KeyHash& one, const KeyHash& other) {
  return is_known(one) && one == other;
}

}  // namespace

std::string_view to_string(Cause cause) {
  switch (cause) {
    case Cause::kFirst:
      return "first";
    case Cause::kProviderRetry:
      return "provider_retry";
    case Cause::kConcurrentTwin:
      return "concurrent_twin";
    case Cause::kManualResend:
      return "manual_resend";
    case Cause::kReplayedRequest:
      return "replayed_request";
    case Cause::kSameIdOtherBody:
      return "same_id_other_body";
    case Cause::kSemanticTwin:
      return "semantic_twin";
  }
  return "";
}

Conclusion conclude(const AcceptFacts& facts, const Arrival& arrival, const SourceConfig& source) {
  if (facts.verdict == Verdict::kAccepted) return of_first(arrival);
  Evidence evidence;
  evidence.same_body = facts.same_body;
  evidence.same_key = facts.same_key;
  evidence.is_batch = source.items.has_value();
  evidence.retry_header = arrival.retry.has_value();
  evidence.distance = std::chrono::abs(arrival.at - (facts.first ? facts.first->at : facts.first_at));
  if (facts.first) {
    evidence.other_secret = arrival.secret != facts.first->secret;
    evidence.same_request = is_same_request(arrival.signature_hash, facts.first->signature_hash);
    evidence.repeats_later = evidence.same_request && evidence.distance > replayed_after(source.ack_deadline);
  }
  evidence.knows_request = is_known(arrival.signature_hash);
  return of_duplicate(evidence, source.retries, source.ack_deadline);
}

std::vector<Conclusion> conclude(std::span<const StoredArrival> arrivals, const SourceConfig* source, Clocks clocks) {
  static const RetryHabits unknown;
  const RetryHabits& habits = source == nullptr ? unknown : source->retries;
  const Duration deadline = source == nullptr ? kUnknownDeadline : source->ack_deadline;
  std::vector<Conclusion> conclusions;
  for (std::size_t i = 0; i < arrivals.size(); ++i) {
    const auto& [arrival, verdict, same_body, same_key] = arrivals[i];
    if (verdict == Verdict::kAccepted) {
      conclusions.push_back(of_first(arrival));
      continue;
    }
    const Arrival& first = arrivals.front().arrival;
    Evidence evidence;
    evidence.same_body = same_body;
    evidence.same_key = same_key;
    evidence.is_batch = source != nullptr && source->items;
    evidence.retry_header = arrival.retry.has_value();
    evidence.distance = std::chrono::abs(arrival.at - first.at);
    evidence.other_secret = arrival.secret != first.secret;
    evidence.knows_request = is_known(arrival.signature_hash);
    evidence.same_request = is_same_request(arrival.signature_hash, first.signature_hash);
    const Arrival& later = arrival;  // clang 14 lets no lambda use a structured binding
    evidence.repeats_later = std::any_of(
        arrivals.begin(), arrivals.begin() + static_cast<std::ptrdiff_t>(i), [&](const StoredArrival& earlier) {
          return is_same_request(later.signature_hash, earlier.arrival.signature_hash) &&
                 std::chrono::abs(later.at - earlier.arrival.at) > replayed_after(deadline);
        });
    Conclusion conclusion = of_duplicate(evidence, habits, deadline);
    if (rests_on_distance(conclusion.cause, evidence.retry_header)) {
      if (arrival.at < first.at) {
        conclusion = doubted(conclusion, kDatedBefore);
      } else if (habits.signs_anew && !evidence.same_request && !evidence.repeats_later &&
                 are_otherwise_apart(arrival, first, deadline)) {
        conclusion = doubted(conclusion, kOtherwiseApart);
      } else if (clocks == Clocks::kSeveral && needs_agreeing_clocks(conclusion, evidence.distance, deadline)) {
        conclusion = doubted(conclusion, kIfClocksAgree);
      }
    }
    conclusions.push_back(conclusion);
  }
  return conclusions;
}

Duration since_first(const AcceptFacts& facts, const Arrival& arrival) {
  return std::max(Duration::zero(), arrival.at - (facts.first ? facts.first->at : facts.first_at));
}

}  // namespace hookonce
