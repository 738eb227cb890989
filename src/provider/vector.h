// Vectors: recorded requests with what verification must say about them (test/vectors/*.json, and files of the same
// form).
//
//   HK_ASSIGN(std::vector<Vector> vectors, parse_vectors(text));
//   HK_ASSIGN(VectorOutcome outcome, run_vector(vectors[0]));
//   if (!differences(vectors[0], outcome).empty()) ...
//
// The files under test/vectors show the form. Pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "provider/provider.h"

namespace hookonce {

struct Vector {
  std::string id;
  std::string provider;   // as the file names it; need not be one that is known here
  std::string test_case;  // "wrong_secret" ...: which of the expected cases it is, empty where it is none
  HttpRequest request;
  json::object config;  // secrets and settings, read when the vector is run
  Time now{};
  json::object expect;
};

// In the words of the vectors. A field that does not apply is nullopt.
struct VectorOutcome {
  bool valid = false;
  std::string reason;  // to_string(Reason), "ok_probe_discard_body" or "malformed_body"
  std::string kind;    // "event", "challenge", "ping"
  std::optional<std::string> event_id;
  std::optional<std::string> event_type;
  std::optional<std::string> dedup_key;
  std::optional<std::string> ordering_key;
  std::optional<HttpResponse> response;  // of a challenge
  std::string message;                   // why it is not valid, for people
};

// kInvalid where the text is not of the form; the message names the vector.
Result<std::vector<Vector>> parse_vectors(std::string_view text);

// The settings that a vector's `config` describes.
Result<BindSettings> vector_settings(const Provider& provider, const json::object& config);

// What a bound provider makes of a request.
VectorOutcome judge(const Provider& provider, const BoundProvider& bound, const HttpRequest& request, Time now);

// kNotFound where the provider is unknown, kInvalid where its settings are refused.
Result<VectorOutcome> run_vector(const Vector& vector);

// {"id","valid","reason","kind","event_id","event_type","dedup_key","ordering_key"}
json::object vector_json(std::string_view id, const VectorOutcome& outcome);

// The names of the fields of `expect` that the outcome does not meet. Fields that are null there are not compared.
std::vector<std::string> differences(const Vector& vector, const VectorOutcome& outcome);

}  // namespace hookonce
