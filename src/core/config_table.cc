#include "core/config_table.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/bytes.h"

namespace hookonce {

namespace {

constexpr std::size_t kShownMax = 60;  // a message stays one line whatever stands in the file

using Kind = ConfigNode::Kind;

const ConfigEntry* find_entry(const ConfigNode& node, std::string_view name) {
  for (const ConfigEntry& entry : node.entries) {
    if (entry.name == name) return &entry;
  }
  return nullptr;
}

// The last part of a path: the name of the source or destination.
std::string_view last_part(std::string_view path) {
  return path.substr(path.rfind('.') + 1);
}

}  // namespace

std::string_view kind_name(ConfigNode::Kind kind) {
  switch (kind) {
    case Kind::kString:
      return "a string";
    case Kind::kInteger:
    case Kind::kFloat:
      return "a number";
    case Kind::kBool:
      return "true or false";
    case Kind::kTime:
      return "a date or time";
    case Kind::kList:
      return "a list";
    case Kind::kTable:
      return "a table";
  }
  return "";
}

std::string shown(std::string_view value) {
  std::string text = to_utf8(value.substr(0, kShownMax));
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20) c = ' ';
  }
  return fmt::format("`{}{}`", text, value.size() > kShownMax ? "..." : "");
}

ConfigTable::ConfigTable(const ConfigNode& node, std::string path, ConfigSection section,
                         std::vector<ConfigProblem>& problems)
    : node_(node), path_(std::move(path)), section_(section), problems_(problems) {
  if (node.kind != Kind::kTable) error("", fmt::format("must be a table, not {}", kind_name(node.kind)));
}

const ConfigNode* ConfigTable::find(std::string_view name) {
  if (std::find(known_.begin(), known_.end(), name) == known_.end()) known_.emplace_back(name);
  const ConfigEntry* entry = find_entry(node_, name);
  return entry == nullptr ? nullptr : &entry->value;
}

const ConfigNode* ConfigTable::find(std::string_view name, Kind kind, std::string_view mend) {
  const ConfigNode* node = find(name);
  if (node == nullptr || node->kind == kind) return node;
  error(name, fmt::format("must be {}, not {}; {}", kind_name(kind), kind_name(node->kind), mend));
  return nullptr;
}

bool ConfigTable::read(std::string_view name, std::string& out) {
  const ConfigNode* node = find(name, Kind::kString, fmt::format("write {} = \"...\"", name));
  if (node == nullptr) return false;
  if (node->text.empty()) {
    error(name, "is empty; give it a value or leave the key out");
    return false;
  }
  out = node->text;
  return true;
}

bool ConfigTable::read(std::string_view name, bool& out) {
  const ConfigNode* node = find(name, Kind::kBool, fmt::format("write {0} = true or {0} = false", name));
  if (node == nullptr) return false;
  out = node->flag;
  return true;
}

bool ConfigTable::read(std::string_view name, Limits<Duration> limits, Duration& out) {
  const ConfigNode* node =
      find(name, Kind::kString, fmt::format("write a number with its unit, as in {} = \"10s\"", name));
  if (node == nullptr) return false;
  const std::optional<Duration> duration = parse_duration(node->text);
  if (!duration) {
    error(name, fmt::format("{} is no duration; write a whole number with ms, s, m, h or d, as in \"250ms\" or \"30d\"",
                            shown(node->text)));
    return false;
  }
  if (*duration < limits.min || *duration > limits.max) {
    error(name, fmt::format("{} is out of range; from {} to {} is possible", node->text, format_duration(limits.min),
                            format_duration(limits.max)));
    return false;
  }
  out = *duration;
  return true;
}

bool ConfigTable::read(std::string_view name, Limits<std::size_t> limits, std::size_t& out) {
  const ConfigNode* node = find(name);
  if (node == nullptr) return false;
  std::optional<std::size_t> size;
  if (node->kind == Kind::kString) size = parse_size(node->text);
  if (node->kind == Kind::kInteger && node->integer >= 0) size = static_cast<std::size_t>(node->integer);
  if (!size) {
    const std::string value = node->kind == Kind::kString ? shown(node->text) : std::string(kind_name(node->kind));
    error(name,
          fmt::format("{} is no size; write a whole number with KiB, MiB or GiB, as in {} = \"1MiB\"", value, name));
    return false;
  }
  if (*size < limits.min || *size > limits.max) {
    error(name, fmt::format("{} is out of range; from {} to {} is possible", format_size(*size),
                            format_size(limits.min), format_size(limits.max)));
    return false;
  }
  out = *size;
  return true;
}

bool ConfigTable::read(std::string_view name, Limits<std::int64_t> limits, std::int64_t& out) {
  const ConfigNode* node = find(name, Kind::kInteger, fmt::format("write a whole number, as in {} = {}", name, out));
  if (node == nullptr) return false;
  if (node->integer < limits.min || node->integer > limits.max) {
    error(name, fmt::format("{} is out of range; from {} to {} is possible", node->integer, limits.min, limits.max));
    return false;
  }
  out = node->integer;
  return true;
}

bool ConfigTable::read(std::string_view name, Limits<double> limits, double& out) {
  const ConfigNode* node = find(name);
  if (node == nullptr) return false;
  if (node->kind != Kind::kInteger && node->kind != Kind::kFloat) {
    error(name, fmt::format("must be a number, not {}; write {} = {:.1f}", kind_name(node->kind), name, out));
    return false;
  }
  // Written so that a NaN is out of range too.
  if (!(node->number >= limits.min && node->number <= limits.max)) {
    error(name, fmt::format("{} is out of range; from {} to {} is possible", node->number, limits.min, limits.max));
    return false;
  }
  out = node->number;
  return true;
}

bool ConfigTable::read(std::string_view name, std::vector<std::string>& out) {
  const ConfigNode* node = find(name, Kind::kList, fmt::format("write {} = [\"...\"]", name));
  if (node == nullptr) return false;
  std::vector<std::string> texts;
  bool good = true;
  for (std::size_t i = 0; i < node->items.size(); ++i) {
    const ConfigNode& item = node->items[i];
    if (item.kind == Kind::kString && !item.text.empty()) {
      texts.push_back(item.text);
      continue;
    }
    good = false;
    error_at(item.line, name,
             item.kind == Kind::kString
                 ? fmt::format("entry {} is empty; give it a value or remove it", i + 1)
                 : fmt::format("entry {} must be a string, not {}", i + 1, kind_name(item.kind)));
  }
  if (good) out = std::move(texts);
  return good;
}

std::optional<FieldSpec> ConfigTable::spec_of(std::string_view name, const ConfigNode& node) {
  if (node.kind != Kind::kString) {
    error_at(node.line, name, fmt::format("must be a string such as \"json:/id\", not {}", kind_name(node.kind)));
    return std::nullopt;
  }
  Result<FieldSpec> spec = FieldSpec::parse(node.text);
  if (!spec.ok()) {
    error_at(node.line, name, spec.status().message());
    return std::nullopt;
  }
  if (spec->kind == FieldSpec::Kind::kFormJson) {
    error_at(node.line, name, "`form_json:` is not for configurations; use `form:` or a key of another place");
    return std::nullopt;
  }
  return *std::move(spec);
}

bool ConfigTable::read(std::string_view name, std::optional<FieldSpec>& out) {
  const ConfigNode* node = find(name);
  if (node == nullptr) return false;
  std::optional<FieldSpec> spec = spec_of(name, *node);
  if (!spec) return false;
  out = std::move(spec);
  return true;
}

bool ConfigTable::read(std::string_view name, std::vector<FieldSpec>& out) {
  const ConfigNode* node = find(name);
  if (node == nullptr) return false;
  const bool single = node->kind != Kind::kList;
  std::vector<FieldSpec> specs;
  bool good = true;
  for (std::size_t i = 0; i < (single ? 1 : node->items.size()); ++i) {
    std::optional<FieldSpec> spec = spec_of(name, single ? *node : node->items[i]);
    good = good && spec.has_value();
    if (spec) specs.push_back(*std::move(spec));
  }
  if (good) out = std::move(specs);
  return good;
}

bool ConfigTable::read(std::string_view name, const std::vector<std::string>& words, std::size_t& out) {
  std::string word;
  if (!read(name, word)) return false;
  const auto found = std::find(words.begin(), words.end(), word);
  if (found != words.end()) {
    out = static_cast<std::size_t>(found - words.begin());
    return true;
  }
  const std::optional<std::string> near = nearest(word, words);
  error(name, near ? fmt::format("{} is unknown; did you mean `{}`?", shown(word), *near)
                   : fmt::format("{} is unknown; possible are {}", shown(word), join(words, ", ")));
  return false;
}

void ConfigTable::missing(std::string_view name, std::string message) {
  if (node_.kind != Kind::kTable) return;  // that it is no table says it all
  missing_.push_back({node_.line, path(name), "is missing" + std::move(message), false});
}

void ConfigTable::report_unknown() {
  for (const ConfigEntry& entry : node_.entries) {
    if (std::find(known_.begin(), known_.end(), entry.name) != known_.end()) continue;
    const UnknownKey unknown = judge_unknown_key(section_, last_part(path_), entry.name, known_);
    error(entry.name, unknown.message);
    const auto is_meant = [&](const ConfigProblem& problem) { return problem.key == path(unknown.meant); };
    missing_.erase(std::remove_if(missing_.begin(), missing_.end(), is_meant), missing_.end());
  }
  problems_.insert(problems_.end(), missing_.begin(), missing_.end());
  missing_.clear();
}

int ConfigTable::line(std::string_view name) const {
  const ConfigEntry* entry = find_entry(node_, name);
  return entry == nullptr ? node_.line : entry->line;
}

std::string ConfigTable::path(std::string_view name) const {
  if (path_.empty() || name.empty()) return name.empty() ? path_ : std::string(name);
  return fmt::format("{}.{}", path_, name);
}

void ConfigTable::error_at(int line, std::string_view name, std::string message) {
  problems_.push_back({line, path(name), std::move(message), false});
}

void ConfigTable::note(std::string_view name, std::string message, bool warning) {
  problems_.push_back({line(name), path(name), std::move(message), warning});
}

}  // namespace hookonce
