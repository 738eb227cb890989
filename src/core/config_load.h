// Reads a configuration, and names every mistake in it with file, line, key and mend.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/config.h"

namespace hookonce {

struct ConfigProblem {
  int line = 0;          // 0: none
  std::string key;       // "sources.stripe.secrets"
  std::string message;   // with the mend
  bool warning = false;  // shown, and starts nothing less
  // "hookonce.toml:14: sources.stripe.secret: unknown key; did you mean `secrets`?"
  std::string text(std::string_view file) const;
};

struct LoadedConfig {
  Config config;                        // valid where no problem is an error
  std::vector<ConfigProblem> problems;  // in the order of the file
  bool ok() const;
};

// What loading needs of the world, so that tests can stand in for it.
struct ConfigWorld {
  std::span<const ProviderTraits> providers;
  std::function<Result<std::string>(const std::string& name)> environment;  // env:NAME
  std::function<Result<std::string>(const std::string& path)> file;         // file:PATH, one final newline already cut
  // Provider's own judgement of a resolved secret (`whsec_` that is not base64, ...); the message never contains it.
  std::function<Status(const SourceConfig& source)> check_source;
  // Likewise whether a destination's `secrets` can sign, and whether `store.url` is one this version opens; null: not
  // judged.
  std::function<Status(const DestinationConfig& destination)> check_destination = nullptr;
  std::function<Status(const std::string& url)> check_store = nullptr;
  // `store.retention` where it is not given; null: StoreConfig's own.
  std::function<Duration(const std::string& url)> default_retention = nullptr;
};

LoadedConfig load_config(std::string_view toml, const ConfigWorld& world);

// The machine's environment and files; check_source and providers are the caller's, who sets the other checks in the
// result.
ConfigWorld machine_world(std::span<const ProviderTraits> providers,
                          std::function<Status(const SourceConfig&)> check_source);

// A secret or token as given on the command line: a literal, `env:NAME` or `file:PATH`. An empty result is an error.
Result<std::string> resolve_secret(std::string_view text, const ConfigWorld& world);

}  // namespace hookonce
