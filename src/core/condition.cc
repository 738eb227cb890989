#include "core/condition.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/bytes.h"
#include "core/config.h"

namespace hookonce {
namespace {

bool is_integer(std::string_view number) {
  return number.find_first_of(".eE") == std::string_view::npos;
}

double value_of(std::string_view number) {
  double value = 0;
  std::from_chars(number.data(), number.data() + number.size(), value);
  return value;
}

// 1, 1.0 and 10e-1 are one number. Two integers are compared by their digits, because a double cannot tell long ids
// apart.
bool same_number(std::string_view a, std::string_view b) {
  if (a == "-0") a = "0";
  if (b == "-0") b = "0";
  if (a == b) return true;
  if (is_integer(a) && is_integer(b)) return false;
  return value_of(a) == value_of(b);
}

bool same_value(const JsonScalar& a, const JsonScalar& b) {
  if (a.kind != b.kind) return false;
  return a.kind == JsonScalar::Kind::kNumber ? same_number(a.text, b.text) : a.text == b.text;
}

bool matches_one(const std::vector<std::string>& patterns, std::string_view text) {
  return std::any_of(patterns.begin(), patterns.end(),
                     [text](const std::string& pattern) { return type_matches(pattern, text); });
}

// The one item, or the list of them.
std::string list_text(const std::vector<std::string>& items) {
  return items.size() == 1 ? items.front() : "[" + join(items, ", ") + "]";
}

std::string quoted(std::string_view text) {
  return fmt::format("\"{}\"", text);
}

}  // namespace

std::string Condition::text() const {
  std::vector<std::string> items;
  for (const JsonScalar& value : values)
    items.push_back(value.kind == JsonScalar::Kind::kString ? quoted(value.text) : value.text);
  for (const std::string& pattern : patterns) items.push_back(quoted(pattern));
  const std::string name = quoted(field.text());
  switch (test) {
    case Test::kIn:
      return fmt::format("{} = {}", name, list_text(items));
    case Test::kExists:
      return name + " = { exists = true }";
    case Test::kAbsent:
      return name + " = { exists = false }";
    case Test::kGlob:
      return fmt::format("{} = {{ glob = {} }}", name, list_text(items));
  }
  return name;
}

bool holds(const Condition& condition, const JsonScalar* value) {
  switch (condition.test) {
    case Condition::Test::kExists:
      return value != nullptr;
    case Condition::Test::kAbsent:
      return value == nullptr;
    case Condition::Test::kIn:
      return value != nullptr && std::any_of(condition.values.begin(), condition.values.end(),
                                             [value](const JsonScalar& one) { return same_value(one, *value); });
    case Condition::Test::kGlob:
      return value != nullptr && value->kind == JsonScalar::Kind::kString &&
             matches_one(condition.patterns, value->text);
  }
  return false;
}

bool holds(const Condition& condition, const std::vector<std::string_view>& values) {
  const auto is_wanted = [&condition](std::string_view value) {
    if (condition.test == Condition::Test::kGlob) return matches_one(condition.patterns, value);
    return std::any_of(condition.values.begin(), condition.values.end(),
                       [value](const JsonScalar& one) { return one.text == value; });
  };
  switch (condition.test) {
    case Condition::Test::kExists:
      return !values.empty();
    case Condition::Test::kAbsent:
      return values.empty();
    case Condition::Test::kIn:
    case Condition::Test::kGlob:
      return std::any_of(values.begin(), values.end(), is_wanted);
  }
  return false;
}

}  // namespace hookonce
