#include "core/config_load.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>
#include <toml++/toml.h>

#include "base/bytes.h"
#include "core/config_rules.h"
#include "core/config_sections.h"
#include "core/config_tree.h"

namespace hookonce {

namespace {

constexpr std::size_t kNameMax = 64;  // names stand in paths, labels and tables on a screen

ConfigNode to_node(const toml::node& node);

ConfigNode to_table(const toml::table& table) {
  ConfigNode result;
  for (const auto& [key, value] : table) {
    result.entries.push_back({std::string(key.str()), static_cast<int>(key.source().begin.line), to_node(value)});
  }
  // toml++ sorts by name; people expect the order of the file.
  std::stable_sort(result.entries.begin(), result.entries.end(),
                   [](const ConfigEntry& a, const ConfigEntry& b) { return a.line < b.line; });
  return result;
}

ConfigNode to_node(const toml::node& node) {
  ConfigNode result;
  if (const toml::table* table = node.as_table()) {
    result = to_table(*table);
  } else if (const toml::array* array = node.as_array()) {
    result.kind = ConfigNode::Kind::kList;
    for (const toml::node& item : *array) result.items.push_back(to_node(item));
  } else if (const auto* text = node.as_string()) {
    result.kind = ConfigNode::Kind::kString;
    result.text = text->get();
  } else if (const auto* integer = node.as_integer()) {
    result.kind = ConfigNode::Kind::kInteger;
    result.integer = integer->get();
    result.number = static_cast<double>(integer->get());
  } else if (const auto* number = node.as_floating_point()) {
    result.kind = ConfigNode::Kind::kFloat;
    result.number = number->get();
  } else if (const auto* flag = node.as_boolean()) {
    result.kind = ConfigNode::Kind::kBool;
    result.flag = flag->get();
  } else {
    result.kind = ConfigNode::Kind::kTime;
  }
  result.line = static_cast<int>(node.source().begin.line);
  return result;
}

// toml++ repeats a number that it cannot read, and what stands there unquoted may be a secret.
std::string syntax_message(std::string_view description) {
  const bool repeats_value = description.find("representable") != std::string_view::npos ||
                             description.find("interpret") != std::string_view::npos;
  if (repeats_value) return "invalid TOML: a number that cannot be read; write text in quotes";
  return fmt::format("invalid TOML: {}", description);
}

// The lines that are not UTF-8, all of them; toml++ would stop at the first.
std::vector<ConfigProblem> check_encoding(std::string_view text) {
  std::vector<ConfigProblem> problems;
  int line = 0;
  for (const std::string_view content : split(text, '\n')) {
    ++line;
    if (!is_utf8(content)) problems.push_back({line, "", "is not UTF-8; save the file in that encoding", false});
  }
  return problems;
}

bool is_good_name(std::string_view name) {
  constexpr std::string_view kAllowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
  return !name.empty() && name.size() <= kNameMax && name.find_first_not_of(kAllowed) == std::string_view::npos;
}

// The tables [sources.NAME] or [destinations.NAME].
ConfigTables named_tables(ConfigTable& root, std::string_view key, ConfigSection section) {
  ConfigTables tables;
  const ConfigNode* node = root.find(key);
  if (node == nullptr) return tables;
  if (node->kind != ConfigNode::Kind::kTable) {
    root.error(key,
               fmt::format("must hold one table for each, as in [{}.NAME], and not be {}", key, kind_name(node->kind)));
    return tables;
  }
  for (const ConfigEntry& entry : node->entries) {
    const std::string path = fmt::format("{}.{}", key, entry.name);
    if (!is_good_name(entry.name)) {
      root.error_at(entry.line, path,
                    fmt::format("a name has 1 to {} letters, digits, `_`, `-` and `.`; choose such a one", kNameMax));
    }
    // A key that should stand inside a named table: the table that was meant is not there at all.
    if (entry.value.kind != ConfigNode::Kind::kTable) {
      root.error_at(entry.line, path,
                    fmt::format("must be a table, not {}; name it: [{}.NAME]", kind_name(entry.value.kind), key));
      continue;
    }
    tables.emplace(entry.name, ConfigTable(entry.value, path, section, root.problems()));
  }
  return tables;
}

bool has_no_error(const std::vector<ConfigProblem>& problems) {
  return std::all_of(problems.begin(), problems.end(), [](const ConfigProblem& problem) { return problem.warning; });
}

Config read_config(const ConfigNode& file, const ConfigWorld& world, std::vector<ConfigProblem>& problems) {
  Config config;
  const ConfigNode none;  // an absent table reads as an empty one
  ConfigTable root(file, "", ConfigSection::kRoot, problems);
  const ConfigNode* server_node = root.find("server");
  const ConfigNode* store_node = root.find("store");
  ConfigTable server(server_node != nullptr ? *server_node : none, "server", ConfigSection::kServer, problems);
  ConfigTable store(store_node != nullptr ? *store_node : none, "store", ConfigSection::kStore, problems);
  ConfigTables sources = named_tables(root, "sources", ConfigSection::kSource);
  ConfigTables destinations = named_tables(root, "destinations", ConfigSection::kDestination);
  root.report_unknown();

  config.server = read_server(server, world);
  config.store = read_store(store, world);
  for (auto& [name, table] : sources) config.sources[name] = read_source(table, name, config.server, world);
  for (auto& [name, table] : destinations) config.destinations[name] = read_destination(table, name, world);
  check_paths(config, sources);
  check_references(config, sources);
  check_sync(config, sources);
  check_ordering(config, sources);
  check_retention(config, store);
  check_body_limits(config, server);
  // What is missing or unused can be judged only when everything that is there was understood.
  if (!has_no_error(problems)) return config;
  warn_of_unused(config, destinations);
  if (sources.empty())
    root.warn("sources", "no source is configured, so nothing can arrive; add a table [sources.NAME]");
  return config;
}

}  // namespace

std::string ConfigProblem::text(std::string_view file) const {
  std::string text(file);
  if (line > 0) text += fmt::format(":{}", line);
  text += ": ";
  if (warning) text += "warning: ";
  if (!key.empty()) text += fmt::format("{}: ", key);
  return text + message;
}

bool LoadedConfig::ok() const {
  return has_no_error(problems);
}

LoadedConfig load_config(std::string_view text, const ConfigWorld& world) {
  LoadedConfig loaded;
  loaded.problems = check_encoding(text);
  if (!loaded.problems.empty()) return loaded;
  try {
    const ConfigNode file = to_table(toml::parse(text));
    loaded.config = read_config(file, world, loaded.problems);
  } catch (const toml::parse_error& error) {
    loaded.problems.push_back(
        {static_cast<int>(error.source().begin.line), "", syntax_message(error.description()), false});
  }
  const auto place = [](const ConfigProblem& problem) {
    return problem.line > 0 ? problem.line : std::numeric_limits<int>::max();
  };
  std::stable_sort(loaded.problems.begin(), loaded.problems.end(),
                   [&](const ConfigProblem& a, const ConfigProblem& b) { return place(a) < place(b); });
  return loaded;
}

}  // namespace hookonce
