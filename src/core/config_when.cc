// The key `when` of a source's destination: conditions on the event.
#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.h"
#include "core/config_sections.h"

namespace hookonce {

namespace {

using Kind = ConfigNode::Kind;

constexpr std::string_view kForms = "write a value, a list of them, { exists = true } or { glob = \"a*\" }";

std::string named(std::string_view key, const std::string& message) {
  return fmt::format("`{}`: {}", key, message);
}

// A value to compare with, or nullopt where a comparison with it makes no sense.
std::optional<JsonScalar> scalar_of(const ConfigNode& node) {
  switch (node.kind) {
    case Kind::kString:
      return JsonScalar{JsonScalar::Kind::kString, node.text};
    case Kind::kInteger:
      return JsonScalar{JsonScalar::Kind::kNumber, fmt::format("{}", node.integer)};
    case Kind::kFloat:
      return JsonScalar{JsonScalar::Kind::kNumber, fmt::format("{}", node.number)};
    case Kind::kBool:
      return JsonScalar{JsonScalar::Kind::kBool, node.flag ? "true" : "false"};
    case Kind::kTime:
    case Kind::kList:
    case Kind::kTable:
      break;
  }
  return std::nullopt;
}

class WhenReader {
 public:
  explicit WhenReader(ConfigTable& destination) : destination_(destination) {}

  void read(const ConfigEntry& entry, std::vector<Condition>& out) {
    const Result<FieldSpec> field = FieldSpec::parse(entry.name);
    if (!field.ok()) return error(entry.line, field.status().message());
    if (field->kind != FieldSpec::Kind::kJson && field->kind != FieldSpec::Kind::kHeader) {
      return error(entry.line,
                   named(entry.name, "a condition is on \"json:/pointer\" or \"header:NAME\"; use one of these"));
    }
    Condition condition;
    condition.field = *field;
    const bool good = entry.value.kind == Kind::kTable ? read_test(entry, condition) : read_values(entry, condition);
    if (good) out.push_back(std::move(condition));
  }

 private:
  void error(int line, std::string message) { destination_.error_at(line, "when", std::move(message)); }

  bool read_values(const ConfigEntry& entry, Condition& condition) {
    const bool is_list = entry.value.kind == Kind::kList;
    if (is_list && entry.value.items.empty()) {
      error(entry.line, named(entry.name, fmt::format("is an empty list, so no event would match; {}", kForms)));
      return false;
    }
    bool good = true;
    for (std::size_t i = 0; i < (is_list ? entry.value.items.size() : 1); ++i) {
      const ConfigNode& item = is_list ? entry.value.items[i] : entry.value;
      std::optional<JsonScalar> value = scalar_of(item);
      const bool fits = condition.field.kind == FieldSpec::Kind::kJson || item.kind == Kind::kString;
      if (value && fits) {
        condition.values.push_back(*std::move(value));
        continue;
      }
      good = false;
      error(item.line,
            named(entry.name,
                  fits ? fmt::format("cannot be compared with {}; {}", kind_name(item.kind), kForms)
                       : fmt::format("a header is text, and not {}; put the value in quotes", kind_name(item.kind))));
    }
    return good;
  }

  bool read_test(const ConfigEntry& entry, Condition& condition) {
    ConfigTable table(entry.value, fmt::format("{}.{}", destination_.path("when"), entry.name), ConfigSection::kWhen,
                      destination_.problems());
    const std::size_t problems = destination_.problems().size();
    bool exists = true;
    const bool has_exists = table.read("exists", exists);
    const ConfigNode* glob = table.find("glob");
    if (glob != nullptr && glob->kind == Kind::kString) {
      std::string pattern;
      if (table.read("glob", pattern)) condition.patterns.push_back(std::move(pattern));
    } else if (glob != nullptr) {
      table.read("glob", condition.patterns);
    }
    table.report_unknown();
    if (destination_.problems().size() != problems) return false;
    if (has_exists == !condition.patterns.empty()) {
      error(entry.line, named(entry.name, fmt::format("needs either exists or glob; {}", kForms)));
      return false;
    }
    condition.test =
        has_exists ? (exists ? Condition::Test::kExists : Condition::Test::kAbsent) : Condition::Test::kGlob;
    return true;
  }

  ConfigTable& destination_;
};

}  // namespace

std::vector<Condition> read_when(ConfigTable& destination) {
  std::vector<Condition> conditions;
  const ConfigNode* node = destination.find("when");
  if (node == nullptr) return conditions;
  if (node->kind != Kind::kTable) {
    destination.error("when",
                      fmt::format("must be a table of conditions, not {}; write when = {{ \"json:/livemode\" = true }}",
                                  kind_name(node->kind)));
    return conditions;
  }
  if (node->entries.empty()) destination.error("when", "is empty, so it says nothing; leave it out for every event");
  WhenReader reader(destination);
  for (const ConfigEntry& entry : node->entries) reader.read(entry, conditions);
  return conditions;
}

}  // namespace hookonce
