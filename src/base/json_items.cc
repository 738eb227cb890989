#include "base/json_items.h"

#include <string>

#include "base/json_scan.h"

namespace hookonce {

namespace {

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

// Takes one string, with its quotes, off the front.
std::string_view take_string(std::string_view& rest) {
  std::size_t end = 1;
  while (end < rest.size() && rest[end] != '"') end += rest[end] == '\\' ? 2 : 1;
  const std::string_view text = rest.substr(0, end + 1);
  rest.remove_prefix(text.size());
  return text;
}

// Takes one value off the front: up to the comma or bracket that ends it in its container.
std::string_view take_value(std::string_view& rest) {
  const std::string_view from = rest;
  std::size_t depth = 0;
  while (!rest.empty()) {
    const char c = rest.front();
    if (depth == 0 && (c == ',' || c == ']' || c == '}')) break;
    if (c == '"') {
      take_string(rest);
      continue;
    }
    if (c == '[' || c == '{') ++depth;
    if (c == ']' || c == '}') --depth;
    rest.remove_prefix(1);
  }
  return trimmed(from.substr(0, from.size() - rest.size()));
}

// What stands between the brackets of a container.
std::string_view inside(std::string_view container) {
  return trimmed(container.substr(1, container.size() - 2));
}

std::vector<std::string_view> elements(std::string_view array) {
  std::vector<std::string_view> items;
  for (std::string_view rest = inside(array); !rest.empty();) {
    items.push_back(take_value(rest));
    if (!rest.empty()) rest.remove_prefix(1);  // the comma
  }
  return items;
}

// The text of a name, its escapes read.
std::string name_of(std::string_view quoted) {
  if (quoted.find('\\') == std::string_view::npos) return std::string(quoted.substr(1, quoted.size() - 2));
  static const JsonScanner whole({""});
  const Result<JsonValues> values = whole.scan(quoted);
  return values.ok() && (*values)[0] ? (*values)[0]->text : std::string();
}

std::optional<std::string_view> member(std::string_view object, std::string_view name) {
  std::optional<std::string_view> found;
  for (std::string_view rest = inside(object); !rest.empty();) {
    const bool is_wanted = name_of(take_string(rest)) == name;
    while (!rest.empty() && rest.front() != ':') rest.remove_prefix(1);
    if (!rest.empty()) rest.remove_prefix(1);
    const std::string_view value = take_value(rest);
    if (is_wanted) found = value;
    if (!rest.empty()) rest.remove_prefix(1);
    rest = trimmed(rest);
  }
  return found;
}

std::optional<std::string_view> element(std::string_view array, std::string_view name) {
  const std::vector<std::string_view> items = elements(array);
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (std::to_string(i) == name) return items[i];
  }
  return std::nullopt;
}

// One component of a pointer with `~0` and `~1` read.
std::string component_of(std::string_view raw) {
  std::string component;
  for (std::size_t i = 0; i < raw.size(); ++i) {
    component.push_back(raw[i] != '~' ? raw[i] : raw[++i] == '0' ? '~' : '/');
  }
  return component;
}

}  // namespace

std::optional<std::vector<std::string_view>> json_items(std::string_view document, std::string_view pointer) {
  std::string_view value = trimmed(document);
  while (!pointer.empty()) {
    pointer.remove_prefix(1);  // the slash
    const std::string_view raw = pointer.substr(0, pointer.find('/'));
    pointer.remove_prefix(raw.size());
    std::optional<std::string_view> next;
    if (value.front() == '{') next = member(value, component_of(raw));
    if (value.front() == '[') next = element(value, component_of(raw));
    if (!next) return std::nullopt;
    value = *next;
  }
  if (value.front() != '[') return std::nullopt;
  return elements(value);
}

}  // namespace hookonce
