#include "provider/registry.h"

#include <array>

namespace hookonce {

// Each is defined in the provider's own file; adding a provider adds that file, a line here and one in the table.
const Provider& github_provider();
const Provider& hmac_provider();
const Provider& none_provider();
const Provider& slack_provider();
const Provider& standard_webhooks_provider();
const Provider& stripe_provider();
const Provider& token_provider();

std::span<const Provider* const> all_providers() {
  static const std::array table = {
      &github_provider(), &hmac_provider(),  &none_provider(), &slack_provider(), &standard_webhooks_provider(),
      &stripe_provider(), &token_provider(),
  };
  return table;
}

const Provider* find_provider(std::string_view name) {
  for (const Provider* provider : all_providers()) {
    const ProviderTraits& traits = provider->traits();
    if (traits.name == name || (!traits.alias.empty() && traits.alias == name)) return provider;
  }
  return nullptr;
}

std::span<const ProviderTraits> all_provider_traits() {
  static const std::vector<ProviderTraits> traits = [] {
    std::vector<ProviderTraits> all;
    for (const Provider* provider : all_providers()) all.push_back(provider->traits());
    return all;
  }();
  return traits;
}

BindSettings bind_settings(const SourceConfig& source) {
  BindSettings settings;
  settings.secrets = source.secrets;
  settings.tolerance = source.tolerance;
  settings.dedup_key = source.dedup_key;
  settings.dedup_also = source.dedup_also;
  settings.items = source.items;
  settings.ordering_key = source.ordering_key;
  settings.hmac = source.hmac;
  settings.token = source.token;
  return settings;
}

Status check_source_secrets(const SourceConfig& source) {
  const Provider* provider = find_provider(source.provider);
  if (provider == nullptr) return invalid("unknown provider `" + source.provider + "`");
  return provider->bind(bind_settings(source)).status();
}

}  // namespace hookonce
