#include "cli/forward_config.h"

#include <fmt/format.h>

#include <utility>

#include "base/bytes.h"
#include "cli/provider_choice.h"
#include "cli/terminal.h"
#include "provider/registry.h"

namespace hookonce {

Status check_forward_provider(const ForwardOptions& options) {
  const Provider* provider = find_provider(options.provider);
  if (provider == nullptr) {
    const std::vector<std::string> names = signing_provider_names();
    const auto near = nearest(options.provider, names);
    return invalid(fmt::format("unknown provider {}; {}", printable(options.provider),
                               near ? fmt::format("did you mean {}?", *near) : "one of " + join(names, ", ")));
  }
  const ProviderTraits& traits = provider->traits();
  if (traits.needs_token || !traits.needs_secret) {
    return invalid(fmt::format(
        "provider {} needs a configuration file: write one and use `hookonce serve --config FILE`", traits.name));
  }
  if (traits.needs_hmac && options.header.empty()) {
    return invalid(fmt::format(
        "provider {} needs to know where the signature stands: pass --header NAME, or use a configuration file",
        traits.name));
  }
  if (!traits.needs_hmac && !options.header.empty()) {
    return invalid(fmt::format("--header is not for provider {}, which has its own signature header", traits.name));
  }
  return {};
}

std::string toml_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte == 0x7F) {
      out += fmt::format("\\u{:04X}", byte);
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::string forward_toml(const ForwardOptions& options, std::string_view admin) {
  std::vector<std::string> secrets;
  for (const std::string& secret : options.secrets) secrets.push_back(toml_string(secret));
  const std::string store = options.store.empty() ? "sqlite:hookonce-" + options.provider + ".db" : options.store;
  std::string toml =
      fmt::format("[server]\nlisten = {}\nadmin = {}\n", toml_string(options.listen), toml_string(admin));
  toml += fmt::format("[store]\nurl = {}\n", toml_string(store));
  toml += fmt::format("[sources.{}]\nprovider = {}\npath = {}\nsecrets = [{}]\ndestinations = [\"backend\"]\n",
                      toml_string(options.provider), toml_string(options.provider), toml_string(options.path),
                      join(secrets, ", "));
  if (!options.header.empty()) toml += fmt::format("hmac = {{ header = {} }}\n", toml_string(options.header));
  toml += fmt::format("[destinations.backend]\nurl = {}\n", toml_string(options.to));
  return toml;
}

std::string named_by_option(std::string_view mistake) {
  // By the end of the key, because the source is named after its provider.
  constexpr std::pair<std::string_view, std::string_view> kOptions[] = {
      {"server.listen", "--listen"}, {"store.url", "--store"}, {".path", "--path"},
      {".secrets", "--secret"},      {".url", "--to"},         {".hmac.header", "--header"},
  };
  constexpr std::string_view kColon = ": ";
  const std::string_view rest = mistake.substr(std::string_view(kForwardConfigName).size() + kColon.size());
  const std::string_view key = rest.substr(0, rest.find(kColon));
  for (const auto& [ending, option] : kOptions) {
    if (key.size() >= ending.size() && key.substr(key.size() - ending.size()) == ending)
      return std::string(option) + std::string(rest.substr(key.size()));
  }
  return std::string(mistake);
}

}  // namespace hookonce
