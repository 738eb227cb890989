// Gateways with one rule broken each. A checker that nothing makes fail proves nothing: the auditor must find every
// one.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "store/store.h"

namespace hookonce::sim {

enum class Canary {
  kNone,
  // Broken stores.
  kLookThenInsert,    // looks a key up, and inserts what it did not find when somebody else may have
  kForgetsExpiry,     // a key stays taken for ever
  kPrunedIsFree,      // a key goes with its event
  kSettlesStale,      // takes the outcome of an attempt that a later one has replaced
  kClaimsHeldLeases,  // a lease is over before it says so
  kReusesNumbers,     // a replay starts again at attempt 1
  kLosesRetries,      // a delivery that is to be retried ends as dead
  // Broken gateways.
  kAnswersEarly,          // 2xx before the commit
  kUnknownIsDone,         // 2xx though nobody knows
  kUnknownDropsDelivery,  // repeats a transaction of unknown outcome without its deliveries
  kRetriesDelivered,      // a 2xx of the destination is retried
  kIgnoresLimit,          // goes on when the attempts are used up
  kSwallowsRetries,       // drops what says that it is a retry
  kVerifiesLate,          // looks up and writes the key of what is not verified
  kSendsOnOldLease,       // starts an attempt however little is left of its lease
  kForgetsNudge,          // nobody tells the dispatcher what a transaction of unknown outcome made pending
};

struct CanaryName {
  Canary canary;
  std::string_view name;
};
const std::vector<CanaryName>& canaries();
std::optional<Canary> parse_canary(std::string_view name);
std::string_view to_string(Canary canary);

// `inner` as it is, or behind the broken rule.
std::unique_ptr<Store> with_canary(Canary canary, std::unique_ptr<Store> inner);

}  // namespace hookonce::sim
