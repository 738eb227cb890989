#include "core/fields.h"

#include <fmt/format.h>

#include "base/bytes.h"
#include "base/crypto.h"

namespace hookonce {

namespace {

constexpr std::string_view kFormJsonPrefix = "form_json:";

// A header's name as RFC 9110 has it.
bool is_header_name(std::string_view name) {
  constexpr std::string_view kAllowed = "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  return !name.empty() && name.find_first_not_of(kAllowed) == std::string_view::npos;
}

// An empty value identifies nothing, so it is a missing one.
std::optional<std::string> unless_empty(std::string value) {
  if (value.empty()) return std::nullopt;
  return value;
}

Status check_pointer(std::string_view prefix, std::string_view pointer) {
  if (pointer.empty()) {
    return invalid(fmt::format("`{0}` points at nothing; write the place of the value, as in `{0}/id`", prefix));
  }
  if (!is_json_pointer(pointer)) {
    const std::string meant = fmt::format("/{}", pointer);
    const std::string mend = pointer.front() != '/' && is_json_pointer(meant)
                                 ? fmt::format("did you mean `{}{}`?", prefix, meant)
                                 : std::string("`~` must be written `~0` and a `/` inside a name `~1`");
    return invalid(fmt::format("`{}{}` is not a JSON pointer; {}", prefix, pointer, mend));
  }
  return {};
}

Result<FieldSpec> parse_json_spec(std::string_view pointer) {
  HK_TRY(check_pointer("json:", pointer));
  return FieldSpec{FieldSpec::Kind::kJson, "", std::string(pointer)};
}

Result<FieldSpec> parse_form_json_spec(std::string_view rest) {
  const std::size_t colon = rest.find(':');
  if (colon == 0 || colon == std::string_view::npos) {
    return invalid(fmt::format("`form_json:{}` lacks a part; write form_json:FIELD:/POINTER", rest));
  }
  const std::string_view field = rest.substr(0, colon);
  HK_TRY(check_pointer(fmt::format("form_json:{}:", field), rest.substr(colon + 1)));
  return FieldSpec{FieldSpec::Kind::kFormJson, std::string(field), std::string(rest.substr(colon + 1))};
}

Status unknown_kind(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) {
    const std::string hint = !text.empty() && text.front() == '/' ? fmt::format("json:{}", text)
                                                                  : fmt::format("json:/{0}` or `header:{0}", text);
    return invalid(text.empty()
                       ? std::string("is empty; write for example `json:/id`")
                       : fmt::format("`{}` does not say where the value lies; did you mean `{}`?", text, hint));
  }
  const std::optional<std::string> near = nearest(text.substr(0, colon), {"header", "json", "form", "query", "body"});
  return invalid(near ? fmt::format("`{}` is no place of a value; did you mean `{}{}`?", text, *near,
                                    *near == "body" ? std::string_view() : text.substr(colon))
                      : fmt::format("`{}` is no place of a value; known are header:NAME, json:/POINTER, form:FIELD, "
                                    "query:NAME and body",
                                    text));
}

// The pairs of a query; a broken escape spoils its own parameter alone, because the query is not what was signed.
std::optional<std::string> query_value(std::string_view query, std::string_view name) {
  std::optional<std::string> found;
  for (const std::string_view pair : split(query, '&')) {
    const std::size_t equals = pair.find('=');
    const bool has_value = equals != std::string_view::npos;
    if (percent_decode(pair.substr(0, equals), true) != name) continue;
    found = percent_decode(has_value ? pair.substr(equals + 1) : std::string_view(), true);
  }
  return found;
}

const std::string* form_value(const std::vector<std::pair<std::string, std::string>>& form, std::string_view name) {
  const std::string* found = nullptr;
  for (const auto& [field, value] : form) {
    if (field == name) found = &value;
  }
  return found;
}

std::vector<std::string> pointers_of(const std::vector<FieldSpec>& specs, const std::vector<std::size_t>& indexes) {
  std::vector<std::string> pointers;
  pointers.reserve(indexes.size());
  for (const std::size_t index : indexes) pointers.push_back(specs[index].pointer);
  return pointers;
}

}  // namespace

Result<FieldSpec> FieldSpec::parse(std::string_view text) {
  if (text == "body") return FieldSpec{Kind::kBody, "", ""};
  if (text.substr(0, 5) == "json:") return parse_json_spec(text.substr(5));
  if (text.substr(0, kFormJsonPrefix.size()) == kFormJsonPrefix) {
    return parse_form_json_spec(text.substr(kFormJsonPrefix.size()));
  }
  if (text.substr(0, 7) == "header:") {
    const std::string_view name = text.substr(7);
    if (!is_header_name(name)) return invalid(fmt::format("`{}` does not name a header; write header:X-Name", text));
    return FieldSpec{Kind::kHeader, std::string(name), ""};
  }
  for (const auto& [prefix, kind] :
       {std::pair<std::string_view, Kind>{"form:", Kind::kForm}, {"query:", Kind::kQuery}}) {
    if (text.substr(0, prefix.size()) != prefix) continue;
    const std::string_view name = text.substr(prefix.size());
    if (name.empty()) return invalid(fmt::format("`{0}` lacks a name; write {0}NAME", text));
    return FieldSpec{kind, std::string(name), ""};
  }
  return unknown_kind(text);
}

std::string FieldSpec::text() const {
  switch (kind) {
    case Kind::kHeader:
      return "header:" + name;
    case Kind::kJson:
      return "json:" + pointer;
    case Kind::kForm:
      return "form:" + name;
    case Kind::kQuery:
      return "query:" + name;
    case Kind::kBody:
      return "body";
    case Kind::kFormJson:
      return fmt::format("form_json:{}:{}", name, pointer);
  }
  return "";
}

FieldReader::FieldReader(std::vector<FieldSpec> specs) : specs_(std::move(specs)) {
  std::vector<std::size_t> body_specs;
  std::vector<std::pair<std::string, std::vector<std::size_t>>> form_specs;
  for (std::size_t i = 0; i < specs_.size(); ++i) {
    const FieldSpec& spec = specs_[i];
    reads_form_ = reads_form_ || spec.reads_body_as_form();
    if (spec.kind == FieldSpec::Kind::kJson) body_specs.push_back(i);
    if (spec.kind != FieldSpec::Kind::kFormJson) continue;
    auto known = form_specs.begin();
    while (known != form_specs.end() && known->first != spec.name) ++known;
    if (known == form_specs.end()) known = form_specs.insert(known, {spec.name, {}});
    known->second.push_back(i);
  }
  if (!body_specs.empty()) {
    JsonScanner scanner(pointers_of(specs_, body_specs));
    body_json_ = JsonPart{"", std::move(body_specs), std::move(scanner)};
  }
  for (auto& [field, indexes] : form_specs) {
    JsonScanner scanner(pointers_of(specs_, indexes));
    form_json_.push_back(JsonPart{field, std::move(indexes), std::move(scanner)});
  }
}

Fields FieldReader::read(const HttpRequest& request) const {
  Fields fields;
  fields.values.resize(specs_.size());
  read_headers(request, fields);
  read_query(request, fields);
  if (body_json_) fields.body = read_json(*body_json_, request.body, fields);
  if (reads_form_) read_form(request, fields);
  std::optional<std::string> hash;
  for (std::size_t i = 0; i < specs_.size(); ++i) {
    if (specs_[i].kind != FieldSpec::Kind::kBody) continue;
    if (!hash) hash = "sha256:" + sha256_hex(request.body);
    fields.values[i] = hash;
  }
  return fields;
}

void FieldReader::read_headers(const HttpRequest& request, Fields& fields) const {
  for (std::size_t i = 0; i < specs_.size(); ++i) {
    if (specs_[i].kind != FieldSpec::Kind::kHeader) continue;
    Result<std::optional<std::string>> value = single_header(request.headers, specs_[i].name);
    if (value.ok() && *value) fields.values[i] = unless_empty(**std::move(value));
  }
}

void FieldReader::read_query(const HttpRequest& request, Fields& fields) const {
  for (std::size_t i = 0; i < specs_.size(); ++i) {
    if (specs_[i].kind != FieldSpec::Kind::kQuery) continue;
    std::optional<std::string> value = query_value(request.query, specs_[i].name);
    if (value) fields.values[i] = unless_empty(*std::move(value));
  }
}

void FieldReader::read_form(const HttpRequest& request, Fields& fields) const {
  const auto form = parse_form(request.body);
  if (!form) {
    if (fields.body.ok()) fields.body = invalid("the body is not a form: an escape in it is broken");
    return;
  }
  for (std::size_t i = 0; i < specs_.size(); ++i) {
    if (specs_[i].kind != FieldSpec::Kind::kForm) continue;
    if (const std::string* value = form_value(*form, specs_[i].name)) fields.values[i] = unless_empty(*value);
  }
  for (const JsonPart& part : form_json_) {
    const std::string* value = form_value(*form, part.field);
    if (value == nullptr) continue;
    const Status status = read_json(part, *value, fields).with_context(fmt::format("form field `{}`", part.field));
    if (fields.body.ok()) fields.body = status;
  }
}

Status FieldReader::read_json(const JsonPart& part, std::string_view text, Fields& fields) const {
  HK_ASSIGN(JsonValues values, part.scanner.scan(text));
  for (std::size_t i = 0; i < part.specs.size(); ++i) {
    if (auto text = id_text(std::move(values[i]))) fields.values[part.specs[i]] = std::move(text);
  }
  return {};
}

std::optional<std::string> id_text(std::optional<JsonScalar> value) {
  if (!value) return std::nullopt;
  if (value->kind != JsonScalar::Kind::kString && value->kind != JsonScalar::Kind::kNumber) return std::nullopt;
  return unless_empty(std::move(value->text));
}

Result<std::optional<std::string>> single_header(const Headers& headers, std::string_view name) {
  const std::vector<std::string_view> values = headers.all(name);
  for (const std::string_view value : values) {
    if (value != values.front()) return invalid(fmt::format("header {} is repeated with differing values", name));
  }
  if (values.empty()) return std::optional<std::string>();
  return std::optional<std::string>(values.front());
}

}  // namespace hookonce
