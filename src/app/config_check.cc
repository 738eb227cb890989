// check_config_file() and check_config_text(): the configuration, judged with this program's providers and stores.
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <utility>

#include "app/gateway.h"
#include "core/config_load.h"
#include "provider/registry.h"
#include "provider/standard_webhooks_signer.h"
#include "store/open.h"

namespace hookonce {

namespace {

constexpr std::size_t kConfigBytesMax = 4 * kMiB;  // a file above it is a mix-up, not a configuration

Result<std::string> read_config(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) return not_found(file + ": cannot be read: " + std::strerror(errno) + "; name another file with --config");
  std::string text;
  char part[16 * kKiB];
  while (in.read(part, sizeof part) || in.gcount() > 0) {
    text.append(part, static_cast<std::size_t>(in.gcount()));
    if (text.size() > kConfigBytesMax) return invalid(file + ": is larger than 4 MiB, so hardly a configuration");
  }
  // A directory opens and then fails to read.
  if (in.bad()) return invalid(file + ": cannot be read; is it a file?");
  return text;
}

ConfigWorld program_world() {
  ConfigWorld world = machine_world(all_provider_traits(), check_source_secrets);
  world.check_destination = [](const DestinationConfig& destination) -> Status {
    if (destination.secrets.empty()) return {};
    return StandardWebhooksSigner::make(destination.secrets).status();
  };
  world.check_store = [](const std::string& url) { return check_store_url(url); };
  world.default_retention = [](const std::string& url) { return default_retention(url); };
  return world;
}

CheckedConfig check(const std::string& toml, const std::string& name, bool has_lines) {
  LoadedConfig loaded = load_config(toml, program_world());
  CheckedConfig checked;
  for (ConfigProblem& problem : loaded.problems) {
    if (!has_lines) problem.line = 0;
    checked.problems.push_back(problem.text(name));
    (problem.warning ? checked.warnings : checked.errors).push_back(checked.problems.back());
  }
  if (checked.errors.empty()) checked.config = std::make_shared<const Config>(std::move(loaded.config));
  return checked;
}

}  // namespace

CheckedConfig check_config_file(const std::string& file) {
  const Result<std::string> text = read_config(file);
  if (!text.ok()) return {nullptr, {text.status().message()}, {}, {text.status().message()}};
  return check(*text, file, true);
}

CheckedConfig check_config_text(const std::string& toml, const std::string& name) {
  return check(toml, name, false);
}

}  // namespace hookonce
