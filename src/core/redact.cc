#include "core/redact.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/json_redact.h"

namespace hookonce {

namespace {

using Kind = FieldSpec::Kind;

bool names_kind(const std::vector<FieldSpec>& redact, Kind kind) {
  return std::any_of(redact.begin(), redact.end(), [&](const FieldSpec& spec) { return spec.kind == kind; });
}

// Names and values as encoders write them, so that no cut JSON document and no raw text passes for a form.
bool is_form(std::string_view body) {
  constexpr std::string_view kPlain =
      "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-._~!$'()*+,;:@/?%&=";
  return body.find_first_not_of(kPlain) == std::string_view::npos && parse_form(body).has_value();
}

std::string redact_form(const std::vector<FieldSpec>& redact, std::string_view body) {
  std::string shown;
  for (const std::string_view pair : split(body, '&')) {
    if (pair.data() != body.data()) shown.push_back('&');
    const std::size_t equals = pair.find('=');
    const auto name = percent_decode(pair.substr(0, equals), true);
    const bool hidden =
        equals != std::string_view::npos && std::any_of(redact.begin(), redact.end(), [&](const FieldSpec& spec) {
          return spec.kind == Kind::kForm && spec.name == name;
        });
    shown.append(hidden ? pair.substr(0, equals + 1) : pair);
    if (hidden) shown.append(kRedacted);
  }
  return shown;
}

// A whole that holds the part, or the same place.
bool covers(const FieldSpec& hidden, const FieldSpec& field) {
  if (hidden.kind == Kind::kBody) return field.reads_body_as_json() || field.reads_body_as_form();
  if (hidden.kind == Kind::kForm && field.reads_body_as_form()) return hidden.name == field.name;
  if (hidden.kind != field.kind) return false;
  if (hidden.kind == Kind::kJson) return json_pointer_covers(hidden.pointer, field.pointer);
  return hidden.kind == Kind::kHeader ? equals_ignore_case(hidden.name, field.name) : hidden.name == field.name;
}

}  // namespace

bool hides_header(const std::vector<FieldSpec>& redact, std::string_view name) {
  return std::any_of(redact.begin(), redact.end(), [&](const FieldSpec& spec) {
    return spec.kind == Kind::kHeader && equals_ignore_case(spec.name, name);
  });
}

Result<std::string> redacted_body(const std::vector<FieldSpec>& redact, std::string_view body) {
  if (body.empty()) return std::string();
  if (names_kind(redact, Kind::kBody)) return invalid("`redact` hides the whole body");
  const bool in_json = names_kind(redact, Kind::kJson);
  const bool in_form = names_kind(redact, Kind::kForm);
  if (!in_json && !in_form) return std::string(body);
  if (in_json) {
    std::vector<std::string> pointers;
    for (const FieldSpec& spec : redact) {
      if (spec.kind == Kind::kJson) pointers.push_back(spec.pointer);
    }
    Result<std::string> shown = redact_json(body, pointers, kRedacted);
    if (shown.ok()) return shown;
  }
  if (in_form && is_form(body)) return redact_form(redact, body);
  if (in_json && in_form) return invalid("`redact` hides parts of it, and it is neither JSON nor a form");
  return invalid(in_json ? "`redact` hides parts of it, and it is not JSON"
                         : "`redact` hides parts of it, and it is not a form");
}

bool hides_field(const std::vector<FieldSpec>& redact, const FieldSpec& field) {
  return std::any_of(redact.begin(), redact.end(), [&](const FieldSpec& spec) { return covers(spec, field); });
}

}  // namespace hookonce
