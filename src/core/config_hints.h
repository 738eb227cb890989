// What a person probably meant by a key that does not exist.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hookonce {

enum class ConfigSection {
  kRoot,
  kServer,
  kStore,
  kSource,
  kSourceDestination,
  kWhen,
  kHmac,
  kToken,
  kLateAnswer,
  kLateReply,
  kDestination,
  kRetry,
  kBreaker
};

struct UnknownKey {
  std::string meant;    // the key that was probably meant, or empty
  std::string message;  // unknown key; did you mean `secrets`? (a list: secrets = ["env:STRIPE_WEBHOOK_SECRET"])
};

// `known` are the section's keys, `table` is the name of the source or destination, for the example.
UnknownKey judge_unknown_key(ConfigSection section, std::string_view table, std::string_view key,
                             const std::vector<std::string>& known);

// secrets = ["env:STRIPE_WEBHOOK_SECRET"] for the source `stripe`.
std::string secrets_example(ConfigSection section, std::string_view table);

}  // namespace hookonce
