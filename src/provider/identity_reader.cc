#include "provider/identity_reader.h"

#include <algorithm>
#include <utility>

#include "base/bytes.h"

namespace hookonce {
namespace {

std::vector<FieldSpec> all_fields(const BindSettings& settings, std::vector<FieldSpec> own) {
  std::vector<FieldSpec> fields = settings.dedup_key;
  fields.insert(fields.end(), settings.dedup_also.begin(), settings.dedup_also.end());
  if (settings.ordering_key) fields.push_back(*settings.ordering_key);
  fields.insert(fields.end(), std::make_move_iterator(own.begin()), std::make_move_iterator(own.end()));
  return fields;
}

bool any_json(const std::vector<FieldSpec>& fields) {
  return std::any_of(fields.begin(), fields.end(), [](const FieldSpec& field) { return field.reads_body_as_json(); });
}

bool any_form(const std::vector<FieldSpec>& fields) {
  return std::any_of(fields.begin(), fields.end(), [](const FieldSpec& field) { return field.reads_body_as_form(); });
}

std::vector<FieldSpec> pick(const std::vector<FieldSpec>& fields, const std::vector<std::size_t>& positions) {
  std::vector<FieldSpec> picked;
  picked.reserve(positions.size());
  for (std::size_t position : positions) picked.push_back(fields[position]);
  return picked;
}

bool is_compressed(const HttpRequest& request) {
  const auto encoding = request.headers.first("Content-Encoding");
  return encoding && !encoding->empty() && !equals_ignore_case(*encoding, "identity");
}

}  // namespace

FieldSpec header_field(std::string_view name) {
  return {FieldSpec::Kind::kHeader, std::string(name), ""};
}
FieldSpec json_field(std::string_view pointer) {
  return {FieldSpec::Kind::kJson, "", std::string(pointer)};
}
FieldSpec form_field(std::string_view name) {
  return {FieldSpec::Kind::kForm, std::string(name), ""};
}
FieldSpec form_json_field(std::string_view name, std::string_view pointer) {
  return {FieldSpec::Kind::kFormJson, std::string(name), std::string(pointer)};
}

BodyKind body_kind(const HttpRequest& request) {
  const std::string_view type = request.headers.first("Content-Type").value_or("");
  const std::string_view media_type = trim(type.substr(0, type.find(';')));
  return equals_ignore_case(media_type, "application/x-www-form-urlencoded") ? BodyKind::kForm : BodyKind::kJson;
}

IdentityReader::IdentityReader(const BindSettings& settings, std::vector<FieldSpec> own, BodyKind default_key_in)
    : key_count_(settings.dedup_key.size()),
      also_count_(settings.dedup_also.size()),
      has_ordering_(settings.ordering_key.has_value()),
      key_lies_in_json_(key_count_ > 0 ? any_json(settings.dedup_key) : default_key_in == BodyKind::kJson),
      key_lies_in_form_(key_count_ > 0 ? any_form(settings.dedup_key) : default_key_in == BodyKind::kForm),
      key_reader_({}),
      other_reader_({}) {
  for (const FieldSpec& field : settings.dedup_key) {
    if (field.kind == FieldSpec::Kind::kHeader) key_headers_.push_back(field.name);
  }
  const std::vector<FieldSpec> fields = all_fields(settings, std::move(own));
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const bool reads_body = fields[i].reads_body_as_json() || fields[i].reads_body_as_form();
    const bool as_the_key =
        (fields[i].reads_body_as_json() && key_lies_in_json_) || (fields[i].reads_body_as_form() && key_lies_in_form_);
    (!reads_body || as_the_key ? key_group_ : other_group_).push_back(i);
  }
  key_reader_ = FieldReader(pick(fields, key_group_));
  other_reader_ = FieldReader(pick(fields, other_group_));
}

IdentityReader::Reading IdentityReader::read(const HttpRequest& request) const {
  std::vector<std::optional<std::string>> values(key_group_.size() + other_group_.size());
  Reading reading;

  Fields key_fields = key_reader_.read(request);
  for (std::size_t i = 0; i < key_group_.size(); ++i) values[key_group_[i]] = std::move(key_fields.values[i]);
  if (key_lies_in_body()) reading.identity.body = std::move(key_fields.body);
  // Compressed bytes are no JSON, but they may pass for a form without the wanted fields; what the request says of
  // itself decides.
  if (key_lies_in_form_ && is_compressed(request)) {
    reading.identity.body = invalid("the body is compressed, and the dedup key must be read from it; send it as it is");
  }

  for (const std::string& name : key_headers_) {
    if (auto single = single_header(request.headers, name); !single.ok()) reading.identity.body = single.status();
  }

  if (!other_group_.empty()) {
    Fields other_fields = other_reader_.read(request);
    for (std::size_t i = 0; i < other_group_.size(); ++i) values[other_group_[i]] = std::move(other_fields.values[i]);
  }

  auto next = std::make_move_iterator(values.begin());
  const auto take = [&next](std::size_t count) {
    std::vector<std::optional<std::string>> taken(next, next + static_cast<std::ptrdiff_t>(count));
    next += static_cast<std::ptrdiff_t>(count);
    return taken;
  };
  if (key_is_configured()) reading.identity.key = key_of(take(key_count_));
  reading.identity.also = take(also_count_);
  if (has_ordering_) reading.identity.ordering_key = std::move(take(1).front());
  reading.own.assign(next, std::make_move_iterator(values.end()));
  return reading;
}

std::optional<std::vector<std::string>> key_of(const std::vector<std::optional<std::string>>& values) {
  std::vector<std::string> parts;
  parts.reserve(values.size());
  for (const auto& value : values) {
    if (!value) return std::nullopt;
    parts.push_back(*value);
  }
  return parts;
}

std::optional<std::string> first_of(std::initializer_list<std::optional<std::string>> values) {
  for (const auto& value : values) {
    if (value) return value;
  }
  return std::nullopt;
}

}  // namespace hookonce
