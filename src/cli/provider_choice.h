// A provider and its secrets as a command line names them: `stripe --secret env:STRIPE_WEBHOOK_SECRET`.
//
// Shared by the commands that sign or verify without a configuration file.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "provider/provider.h"

namespace CLI {
class App;
}

namespace hookonce {

struct ProviderChoice {
  std::string provider;
  std::vector<std::string> secrets;  // as given: literals, env:NAME, file:PATH
  std::string header;                // where the provider leaves the header to the user
};

// With their aliases; those whose requests `send`, `hammer` and `forward` can sign or take without a configuration
// file.
std::vector<std::string> provider_names();
std::vector<std::string> signing_provider_names();

// kInvalid names the providers, and the nearest one where it can be meant.
Result<const Provider*> choose_provider(std::string_view name);

Result<std::vector<std::string>> resolve_secrets(const std::vector<std::string>& given);

// For verifying: the provider's defaults with these secrets and, for `hmac` and `token`, this header.
Result<BindSettings> choice_settings(const Provider& provider, const ProviderChoice& choice);

}  // namespace hookonce
