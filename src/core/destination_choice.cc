#include "core/destination_choice.h"

#include <algorithm>

namespace hookonce {
namespace {

// The position of `pointer`, which is added where it is new.
std::size_t position_of(std::vector<std::string>& pointers, const std::string& pointer) {
  const auto known = std::find(pointers.begin(), pointers.end(), pointer);
  const auto position = static_cast<std::size_t>(known - pointers.begin());
  if (known == pointers.end()) pointers.push_back(pointer);
  return position;
}

bool wants_type(const std::vector<std::string>& types, std::string_view type) {
  if (types.empty()) return true;
  return std::any_of(types.begin(), types.end(),
                     [type](const std::string& pattern) { return type_matches(pattern, type); });
}

}  // namespace

DestinationChoice::DestinationChoice(const std::vector<SourceDestination>& destinations) {
  std::vector<std::string> pointers;
  for (const SourceDestination& configured : destinations) {
    Destination& destination = destinations_.emplace_back();
    destination.name = configured.name;
    destination.types = configured.types;
    for (const Condition& condition : configured.when) {
      if (condition.field.kind == FieldSpec::Kind::kHeader) {
        destination.on_headers.push_back(condition);
      } else {
        destination.on_json.push_back({condition, position_of(pointers, condition.field.pointer)});
      }
    }
  }
  if (!pointers.empty()) scanner_.emplace(std::move(pointers));
}

std::vector<std::string> DestinationChoice::choose(std::string_view type, const Headers& headers,
                                                   std::string_view body) const {
  std::optional<JsonValues> values;  // nullopt: not read yet
  const auto holds_in_body = [&](const JsonCondition& wanted) {
    if (!values) {
      Result<JsonValues> read = scanner_->scan(body);
      values = read.ok() ? std::move(read).value() : JsonValues();
    }
    const bool is_there = wanted.value < values->size() && (*values)[wanted.value].has_value();
    return holds(wanted.condition, is_there ? &*(*values)[wanted.value] : nullptr);
  };
  const auto holds_in_headers = [&](const Condition& condition) {
    return holds(condition, headers.all(condition.field.name));
  };

  std::vector<std::string> names;
  names.reserve(destinations_.size());
  for (const Destination& destination : destinations_) {
    // What costs least is asked first.
    if (wants_type(destination.types, type) &&
        std::all_of(destination.on_headers.begin(), destination.on_headers.end(), holds_in_headers) &&
        std::all_of(destination.on_json.begin(), destination.on_json.end(), holds_in_body)) {
      names.push_back(destination.name);
    }
  }
  return names;
}

}  // namespace hookonce
