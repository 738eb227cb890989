#include "ingest/source_table.h"

#include <utility>

#include "provider/registry.h"

namespace hookonce {

namespace {

std::string_view without_trailing_slash(std::string_view path) {
  if (!path.empty() && path.back() == '/') path.remove_suffix(1);
  return path;
}

}  // namespace

Result<std::shared_ptr<const SourceTable>> SourceTable::build(std::shared_ptr<const Config> config) {
  auto table = std::make_shared<SourceTable>();
  HK_ASSIGN(table->proxies_, TrustedProxies::parse(config->server.trusted_proxies));
  for (const auto& [name, source] : config->sources) {
    const Provider* provider = find_provider(source.provider);
    if (provider == nullptr) return invalid("source \"" + name + "\": unknown provider \"" + source.provider + "\"");
    auto bound = provider->bind(bind_settings(source));
    if (!bound.ok()) return bound.status().with_context("source \"" + name + "\"");

    const auto [entry, inserted] = table->sources_.try_emplace(std::string(without_trailing_slash(source.path)));
    IngestSource& prepared = entry->second;
    if (!inserted) {
      return invalid("source \"" + name + "\": the path " + source.path + " is already that of source \"" +
                     prepared.config->name + "\"; give one of them another `path`");
    }
    prepared.config = &source;
    prepared.provider = std::move(bound).value();
    for (const FieldSpec& spec : source.dedup_also) prepared.also_spaces.push_back(spec.text());
    prepared.choice = DestinationChoice(source.destinations);
    for (const SourceDestination& destination : source.destinations) {
      const auto found = config->destinations.find(destination.name);
      if (found == config->destinations.end()) continue;
      if (found->second.ordering) prepared.ordered.push_back(destination.name);
      if (source.mode == SourceMode::kSync) prepared.first_lease = found->second.lease;
    }
    prepared.counters = &source_counters(name);
  }
  table->config_ = std::move(config);
  return std::shared_ptr<const SourceTable>(std::move(table));
}

const IngestSource* SourceTable::find(std::string_view path) const {
  const auto found = sources_.find(without_trailing_slash(path));
  return found == sources_.end() ? nullptr : &found->second;
}

}  // namespace hookonce
