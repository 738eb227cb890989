#include "core/config_rules.h"

#include <algorithm>
#include <set>
#include <vector>

#include <fmt/format.h>

#include "base/bytes.h"

namespace hookonce {

namespace {

// As requests are compared: one trailing slash is ignored.
std::string_view compared(std::string_view path) {
  return path.size() > 1 && path.back() == '/' ? path.substr(0, path.size() - 1) : path;
}

std::string no_such_destination(const std::string& name, const Config& config) {
  std::vector<std::string> names;
  for (const auto& [known, destination] : config.destinations) names.push_back(known);
  const std::optional<std::string> near = nearest(name, names);
  if (near) return fmt::format("unknown destination {}; did you mean `{}`?", shown(name), *near);
  return fmt::format("unknown destination {}; add a table [destinations.{}] with its url", shown(name), name);
}

}  // namespace

void check_paths(const Config& config, ConfigTables& sources) {
  // In the order of the file, so that the later source is the one that is told to move.
  std::vector<std::pair<int, const SourceConfig*>> by_line;
  for (const auto& [name, source] : config.sources) by_line.emplace_back(sources.at(name).line("path"), &source);
  std::sort(by_line.begin(), by_line.end());
  std::map<std::string_view, const SourceConfig*> taken;
  for (const auto& [line, source] : by_line) {
    const auto [first, is_new] = taken.emplace(compared(source->path), source);
    if (is_new) continue;
    sources.at(source->name)
        .error("path", fmt::format("{} is the path of source `{}` too (one trailing slash is ignored); choose another",
                                   shown(source->path), first->second->name));
  }
}

void check_references(const Config& config, ConfigTables& sources) {
  for (const auto& [name, source] : config.sources) {
    for (const SourceDestination& destination : source.destinations) {
      if (config.destinations.count(destination.name) != 0) continue;
      sources.at(name).error("destinations", no_such_destination(destination.name, config));
    }
  }
}

void check_sync(const Config& config, ConfigTables& sources) {
  for (const auto& [name, source] : config.sources) {
    if (source.mode != SourceMode::kSync) continue;
    for (const SourceDestination& destination : source.destinations) {
      const auto found = config.destinations.find(destination.name);
      if (found == config.destinations.end() || !found->second.ordering) continue;
      sources.at(name).error(
          "mode", fmt::format("a synchronous source cannot have destination {}, which keeps order: its sender would "
                              "wait behind other events; give it a destination of its own without `ordering`",
                              destination.name));
    }
  }
}

void check_ordering(const Config& config, ConfigTables& sources) {
  for (const auto& [name, source] : config.sources) {
    // A synchronous source can't have such a destination at all, which is an error of its own.
    if (source.ordering_key || source.mode == SourceMode::kSync) continue;
    for (const SourceDestination& destination : source.destinations) {
      const auto found = config.destinations.find(destination.name);
      if (found == config.destinations.end() || !found->second.ordering) continue;
      sources.at(name).warn("ordering_key", fmt::format("is missing, so destination {} gets this source's events in no "
                                                        "order; name a place, as in ordering_key = \"json:/customer\"",
                                                        destination.name));
    }
  }
}

void warn_of_unused(const Config& config, ConfigTables& destinations) {
  std::set<std::string_view> used;
  for (const auto& [name, source] : config.sources) {
    for (const SourceDestination& destination : source.destinations) used.insert(destination.name);
  }
  for (auto& [name, table] : destinations) {
    if (used.count(name) == 0) table.warn("", "no source names this destination, so it gets no new events");
  }
}

void check_retention(const Config& config, ConfigTable& store) {
  std::vector<std::string> longer;
  for (const auto& [name, source] : config.sources) {
    // One that has its own is warned of by its own.
    if (!source.retention && source.dedup_window > config.store.retention) longer.push_back(name);
  }
  if (longer.empty()) return;
  if (store.find("retention") == nullptr) return;  // The default is the store's own, which its documentation tells.
  store.warn(
      "retention",
      fmt::format("{} is shorter than the dedup_window of {}: a late duplicate is still recognised, but the event "
                  "it belongs to is gone and can no longer be shown; raise retention or lower dedup_window",
                  format_duration(config.store.retention), join(longer, ", ")));
}

void check_body_limits(const Config& config, ConfigTable& server) {
  std::size_t largest = 0;
  for (const auto& [name, source] : config.sources) largest = std::max(largest, source.max_body);
  if (largest <= config.server.max_inflight) return;
  server.warn("max_inflight",
              fmt::format("{} is less than the largest body that is allowed ({}): such a request is always refused; "
                          "raise max_inflight or lower max_body",
                          format_size(config.server.max_inflight), format_size(largest)));
}

}  // namespace hookonce
