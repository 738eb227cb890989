#include "base/json.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <limits>

#include "base/json_scan.h"

namespace hookonce {

Result<json::value> parse_json(std::string_view text) {
  json::parse_options options;
  options.max_depth = kJsonDepthMax;
  boost::system::error_code error;
  json::value value = json::parse({text.data(), text.size()}, error, {}, options);
  if (error) return invalid("not valid JSON: " + error.message());
  return value;
}

namespace {

bool has_double(const json::value& value) {
  if (value.is_double()) return true;
  if (const json::array* items = value.if_array()) return std::any_of(items->begin(), items->end(), has_double);
  const json::object* members = value.if_object();
  return members != nullptr &&
         std::any_of(members->begin(), members->end(), [](const auto& member) { return has_double(member.value()); });
}

// The shortest plain decimal that reads back as the same number: 0.339, where the library writes 3.39E-1.
void add_double(double number, std::string& out) {
  char text[352];  // longer than any double in full
  const auto [end, error] = std::to_chars(std::begin(text), std::end(text), number, std::chars_format::fixed);
  out.append(text, error == std::errc() ? end : text);
}

void add_value(const json::value& value, std::string& out) {
  if (!has_double(value)) {
    out += json::serialize(value);
  } else if (const json::array* items = value.if_array()) {
    out.push_back('[');
    for (const json::value& item : *items) {
      if (&item != items->data()) out.push_back(',');
      add_value(item, out);
    }
    out.push_back(']');
  } else if (const json::object* members = value.if_object()) {
    char before = '{';
    for (const auto& member : *members) {
      out.push_back(before);
      before = ',';
      out += json::serialize(json::string_view(member.key()));
      out.push_back(':');
      add_value(member.value(), out);
    }
    out.push_back('}');
  } else {
    add_double(value.get_double(), out);
  }
}

}  // namespace

std::string to_json(const json::value& value) {
  std::string text;
  add_value(value, text);
  return text;
}

namespace {

const json::value* member_of(const json::value& object, std::string_view name) {
  const json::object* members = object.if_object();
  return members == nullptr ? nullptr : members->if_contains({name.data(), name.size()});
}

}  // namespace

std::optional<std::string> json_string(const json::value& object, std::string_view name) {
  const json::value* member = member_of(object, name);
  const json::string* text = member == nullptr ? nullptr : member->if_string();
  if (text == nullptr) return std::nullopt;
  return std::string(text->data(), text->size());
}

std::optional<std::int64_t> json_int(const json::value& object, std::string_view name) {
  const json::value* member = member_of(object, name);
  if (member == nullptr) return std::nullopt;
  if (const std::int64_t* number = member->if_int64()) return *number;
  const std::uint64_t* large = member->if_uint64();
  if (large == nullptr || *large > std::uint64_t{std::numeric_limits<std::int64_t>::max()}) return std::nullopt;
  return static_cast<std::int64_t>(*large);
}

}  // namespace hookonce
