#include "admin/openapi.h"

#include <string>

#include "admin/openapi_parts.h"

namespace hookonce {

namespace {

constexpr std::string_view kHead = R"json({
 "openapi":"3.1.0",
 "info":{
  "title":"Hookonce admin API","version":"1",
  "description":"Events, deliveries and replays of a Hookonce gateway. Errors are {\"error\":{\"code\",\"message\"}}."
 },
 "servers":[{"url":"/"}],"security":[{},{"token":[]}])json";

std::string compose() {
  std::string document(kHead);
  document.append(",\n \"paths\":{").append(openapi_paths());
  document.append(",").append(openapi_session_paths()).append(",").append(openapi_live_paths());
  document.append(",").append(openapi_rejected_paths()).append("\n }");
  document.append(",\n \"components\":").append(openapi_components()).append("\n}\n");
  return document;
}

}  // namespace

std::string_view openapi_document() {
  static const std::string document = compose();
  return document;
}

}  // namespace hookonce
