// All providers, sorted by name: an explicit table (a static library would drop self-registration).
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "provider/provider.h"

namespace hookonce {

std::span<const Provider* const> all_providers();
// By name or alias; nullptr where unknown.
const Provider* find_provider(std::string_view name);
// The traits of all, for the configuration; lives for the process.
std::span<const ProviderTraits> all_provider_traits();

BindSettings bind_settings(const SourceConfig& source);
// For ConfigWorld::check_source.
Status check_source_secrets(const SourceConfig& source);

}  // namespace hookonce
