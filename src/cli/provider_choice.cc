#include "cli/provider_choice.h"

#include <fmt/format.h>

#include "base/bytes.h"
#include "cli/terminal.h"
#include "core/config_load.h"
#include "provider/registry.h"

namespace hookonce {

namespace {

template <typename Wanted>
std::vector<std::string> names_of(Wanted wanted) {
  std::vector<std::string> names;
  for (const ProviderTraits& traits : all_provider_traits()) {
    if (!wanted(traits)) continue;
    names.emplace_back(traits.name);
    if (!traits.alias.empty()) names.emplace_back(traits.alias);
  }
  return names;
}

}  // namespace

std::vector<std::string> provider_names() {
  return names_of([](const ProviderTraits&) { return true; });
}

std::vector<std::string> signing_provider_names() {
  return names_of([](const ProviderTraits& traits) { return traits.needs_secret && !traits.needs_token; });
}

Result<const Provider*> choose_provider(std::string_view name) {
  if (const Provider* provider = find_provider(name)) return provider;
  const std::vector<std::string> names = provider_names();
  const auto near = nearest(name, names);
  return invalid(fmt::format("unknown provider {}; {}", printable(name),
                             near ? fmt::format("did you mean {}?", *near) : "one of " + join(names, ", ")));
}

Result<std::vector<std::string>> resolve_secrets(const std::vector<std::string>& given) {
  const ConfigWorld world = machine_world(all_provider_traits(), check_source_secrets);
  std::vector<std::string> secrets;
  for (const std::string& text : given) {
    auto secret = resolve_secret(text, world);
    if (!secret.ok()) return secret.status().with_context("--secret");
    secrets.push_back(std::move(*secret));
  }
  return secrets;
}

Result<BindSettings> choice_settings(const Provider& provider, const ProviderChoice& choice) {
  const ProviderTraits& traits = provider.traits();
  BindSettings settings;
  settings.tolerance = traits.tolerance;
  if (traits.needs_secret && choice.secrets.empty()) {
    return invalid(
        fmt::format("provider {} needs a secret: pass --secret with a literal, env:NAME or file:PATH", traits.name));
  }
  HK_ASSIGN(settings.secrets, resolve_secrets(choice.secrets));
  const bool takes_header = traits.needs_hmac || traits.needs_token;
  if (takes_header && choice.header.empty()) {
    return invalid(fmt::format("provider {} leaves its header to the user: pass --header NAME", traits.name));
  }
  if (!takes_header && !choice.header.empty()) {
    return invalid(fmt::format("--header is not for provider {}, which has headers of its own", traits.name));
  }
  if (traits.needs_hmac) {
    settings.hmac = HmacScheme{};
    settings.hmac->header = choice.header;
  }
  if (traits.needs_token) settings.token = TokenScheme{choice.header, ""};
  return settings;
}

}  // namespace hookonce
