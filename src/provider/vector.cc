#include "provider/vector.h"

#include <fmt/format.h>

#include "base/bytes.h"
#include "core/dedup.h"
#include "provider/registry.h"

namespace hookonce {
namespace {

Result<const json::object*> object_member(const json::object& object, std::string_view name) {
  const json::value* member = object.if_contains(name);
  if (member == nullptr || !member->is_object()) return invalid(fmt::format("`{}` must be an object", name));
  return &member->get_object();
}

// Headers are an object, or a list of pairs where one is repeated.
Result<Headers> read_headers(const json::value* headers) {
  Headers read;
  if (headers != nullptr && headers->is_object()) {
    for (const auto& [name, value] : headers->get_object()) {
      if (!value.is_string()) return invalid("a header's value must be text");
      read.add(std::string(name), std::string(value.get_string()));
    }
    return read;
  }
  if (headers == nullptr || !headers->is_array())
    return invalid("`request.headers` must be an object or a list of pairs");
  for (const json::value& pair : headers->get_array()) {
    if (!pair.is_array() || pair.get_array().size() != 2 || !pair.get_array()[0].is_string() ||
        !pair.get_array()[1].is_string()) {
      return invalid("each of `request.headers` must be a pair of name and value");
    }
    read.add(std::string(pair.get_array()[0].get_string()), std::string(pair.get_array()[1].get_string()));
  }
  return read;
}

void set_target(HttpRequest& request, std::string_view url) {
  const std::size_t scheme = url.find("://");
  const std::size_t path = scheme == std::string_view::npos ? 0 : url.find('/', scheme + 3);
  const std::string_view target = path == std::string_view::npos ? "/" : url.substr(path);
  const std::size_t question = target.find('?');
  request.path = std::string(target.substr(0, question));
  if (question != std::string_view::npos) request.query = std::string(target.substr(question + 1));
}

Result<HttpRequest> read_request(const json::object& object) {
  HttpRequest request;
  const json::value whole(object);
  request.method = json_string(whole, "method").value_or("POST");
  set_target(request, json_string(whole, "url").value_or("/"));
  HK_ASSIGN(request.headers, read_headers(object.if_contains("headers")));
  if (auto base64 = json_string(whole, "body_base64")) {
    auto body = from_base64(*base64);
    if (!body) return invalid("`request.body_base64` is not base64");
    request.body = std::move(*body);
  } else {
    request.body = json_string(whole, "body").value_or("");
  }
  return request;
}

Result<Vector> read_vector(const json::value& value) {
  if (!value.is_object()) return invalid("it must be an object");
  const json::object& object = value.get_object();
  Vector vector;
  vector.id = json_string(value, "id").value_or("");
  vector.provider = json_string(value, "provider").value_or("");
  vector.test_case = json_string(value, "case").value_or("");
  if (vector.id.empty() || vector.provider.empty()) return invalid("`id` and `provider` must be given");
  const auto now = json_int(value, "now");
  if (!now) return invalid("`now` must be a number of unix seconds");
  vector.now = Time(std::chrono::seconds(*now));
  HK_ASSIGN(const json::object* request, object_member(object, "request"));
  HK_ASSIGN(vector.request, read_request(*request));
  HK_ASSIGN(const json::object* config, object_member(object, "config"));
  vector.config = *config;
  HK_ASSIGN(const json::object* expect, object_member(object, "expect"));
  vector.expect = *expect;
  return vector;
}

Result<std::vector<std::string>> text_list(const json::object& config, std::string_view name) {
  std::vector<std::string> list;
  const json::value* member = config.if_contains(name);
  if (member == nullptr) return list;
  if (!member->is_array()) return invalid(fmt::format("`config.{}` must be a list", name));
  for (const json::value& item : member->get_array()) {
    if (!item.is_string()) return invalid(fmt::format("`config.{}` must hold text", name));
    list.emplace_back(item.get_string());
  }
  return list;
}

Result<HmacScheme> read_hmac(const json::value& table) {
  HmacScheme scheme;
  scheme.header = json_string(table, "header").value_or("");
  const std::string algorithm = json_string(table, "algorithm").value_or("sha256");
  const std::string encoding = json_string(table, "encoding").value_or("hex");
  if (algorithm != "sha1" && algorithm != "sha256" && algorithm != "sha512") {
    return invalid(fmt::format("`config.hmac.algorithm` is {}; it must be sha1, sha256 or sha512", algorithm));
  }
  if (encoding != "hex" && encoding != "base64") {
    return invalid(fmt::format("`config.hmac.encoding` is {}; it must be hex or base64", encoding));
  }
  if (algorithm == "sha1") scheme.algorithm = HmacScheme::Algorithm::kSha1;
  if (algorithm == "sha512") scheme.algorithm = HmacScheme::Algorithm::kSha512;
  if (encoding == "base64") scheme.encoding = HmacScheme::Encoding::kBase64;
  scheme.prefix = json_string(table, "prefix").value_or("");
  scheme.signed_text = json_string(table, "signed").value_or(scheme.signed_text);
  if (auto timestamp = json_string(table, "timestamp")) {
    HK_ASSIGN(scheme.timestamp, FieldSpec::parse(*timestamp));
  }
  return scheme;
}

json::value text_or_null(const std::optional<std::string>& text) {
  if (!text) return nullptr;
  return json::string(to_utf8(*text));
}

bool meets(const json::value& expected, const HttpResponse& response) {
  const auto content_type = json_string(expected, "content_type");
  return json_int(expected, "status").value_or(response.status) == response.status &&
         json_string(expected, "body").value_or(response.body) == response.body &&
         (!content_type || response.headers.first("Content-Type") == *content_type);
}

}  // namespace

Result<std::vector<Vector>> parse_vectors(std::string_view text) {
  HK_ASSIGN(json::value document, parse_json(text));
  const json::value* list = document.is_object() ? document.get_object().if_contains("vectors") : nullptr;
  if (list == nullptr || !list->is_array()) return invalid("the file must be an object with a list `vectors`");
  std::vector<Vector> vectors;
  for (const json::value& value : list->get_array()) {
    auto vector = read_vector(value);
    if (!vector.ok()) {
      const std::string name = json_string(value, "id").value_or(fmt::format("number {}", vectors.size() + 1));
      return vector.status().with_context(fmt::format("vector {}", name));
    }
    vectors.push_back(std::move(*vector));
  }
  return vectors;
}

Result<BindSettings> vector_settings(const Provider& provider, const json::object& config) {
  BindSettings settings;
  for (std::string_view name : {"signing_secrets", "secrets", "public_keys"}) {
    HK_ASSIGN(std::vector<std::string> secrets, text_list(config, name));
    settings.secrets.insert(settings.secrets.end(), secrets.begin(), secrets.end());
  }
  const json::value whole(config);
  settings.tolerance = provider.traits().tolerance;
  if (auto seconds = json_int(whole, "tolerance_seconds")) settings.tolerance = std::chrono::seconds(*seconds);
  HK_ASSIGN(std::vector<std::string> key, text_list(config, "dedup_key"));
  for (const std::string& part : key) {
    HK_ASSIGN(FieldSpec field, FieldSpec::parse(part));
    settings.dedup_key.push_back(std::move(field));
  }
  if (const json::value* table = config.if_contains("hmac")) {
    HK_ASSIGN(settings.hmac, read_hmac(*table));
  }
  if (const json::value* table = config.if_contains("token")) {
    settings.token =
        TokenScheme{json_string(*table, "header").value_or(""), json_string(*table, "basic_user").value_or("")};
  }
  return settings;
}

VectorOutcome judge(const Provider& provider, const BoundProvider& bound, const HttpRequest& request, Time now) {
  VectorOutcome outcome;
  outcome.kind = "event";
  const auto type_of = [](const Identity& identity) {
    return identity.type.empty() ? std::nullopt : std::optional<std::string>(identity.type);
  };
  outcome.response = bound.unsigned_handshake(request);
  if (outcome.response) {
    outcome.valid = true;
    outcome.reason = "ok_probe_discard_body";
    outcome.kind = "challenge";
    outcome.event_type = type_of(bound.identify(request));
    return outcome;
  }
  Verification verification = bound.verify(request, now);
  outcome.reason = to_string(verification.reason);
  outcome.message = std::move(verification.message);
  if (verification.reason != Reason::kOk) return outcome;

  Identity identity = bound.identify(request);
  outcome.response = bound.handshake(request);
  if (!outcome.response && !identity.body.ok()) {
    outcome.reason = "malformed_body";
    outcome.message = identity.body.message();
    return outcome;
  }
  outcome.valid = true;
  outcome.event_type = type_of(identity);
  if (outcome.response) {
    outcome.kind = "challenge";
    return outcome;
  }
  if (identity.ping) outcome.kind = "ping";
  outcome.event_id = provider.event_id(request);
  if (identity.key) outcome.dedup_key = key_text(*identity.key);
  outcome.ordering_key = std::move(identity.ordering_key);
  return outcome;
}

Result<VectorOutcome> run_vector(const Vector& vector) {
  const Provider* provider = find_provider(vector.provider);
  if (provider == nullptr)
    return not_found(fmt::format("vector {}: unknown provider `{}`", vector.id, vector.provider));
  const std::string context = fmt::format("vector {}", vector.id);
  auto settings = vector_settings(*provider, vector.config);
  if (!settings.ok()) return settings.status().with_context(context);
  auto bound = provider->bind(*settings);
  if (!bound.ok()) return bound.status().with_context(context);
  return judge(*provider, **bound, vector.request, vector.now);
}

json::object vector_json(std::string_view id, const VectorOutcome& outcome) {
  return {{"id", json::string(to_utf8(id))},
          {"valid", outcome.valid},
          {"reason", outcome.reason},
          {"kind", outcome.kind},
          {"event_id", text_or_null(outcome.event_id)},
          {"event_type", text_or_null(outcome.event_type)},
          {"dedup_key", text_or_null(outcome.dedup_key)},
          {"ordering_key", text_or_null(outcome.ordering_key)}};
}

std::vector<std::string> differences(const Vector& vector, const VectorOutcome& outcome) {
  std::vector<std::string> names;
  const json::object actual = vector_json(vector.id, outcome);
  for (const auto& [name, expected] : vector.expect) {
    if (expected.is_null()) continue;
    if (name == "response") {
      if (!outcome.response || !meets(expected, *outcome.response)) names.emplace_back(name);
      continue;
    }
    const json::value* value = actual.if_contains(name);
    if (value != nullptr && *value != expected) names.emplace_back(name);
  }
  return names;
}

}  // namespace hookonce
