#include "base/json.h"

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

std::string to_json(const json::value& value) {
  return json::serialize(value);
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
