// Field specs: where in a request a value lies, in the words of the configuration, and one reader for all of them.
//
//   header:X-GitHub-Delivery   a header's value
//   json:/data/id              a JSON pointer into the body: a string's value or a number's text
//   form:trigger_id            a field of a form body, decoded
//   query:id                   a parameter of the query, decoded
//   body                       the whole body; its value reads `sha256:<hex>`
//   form_json:payload:/type    (providers only) a JSON pointer into the JSON text of a form field
//
// Of a repeated JSON name, form field or query parameter the last counts. A FieldReader is built once per source and
// reads the body at most once per request in each form (JSON, form, hash), whatever the number of specs.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/http_message.h"
#include "base/json_scan.h"
#include "base/result.h"

namespace hookonce {

struct FieldSpec {
  enum class Kind { kHeader, kJson, kForm, kQuery, kBody, kFormJson };
  Kind kind = Kind::kBody;
  std::string name;     // header, form field, query parameter
  std::string pointer;  // kJson, kFormJson

  // kInvalid names what is wrong with `text`, as in: `json:id` is not a JSON pointer; did you mean `json:/id`?
  static Result<FieldSpec> parse(std::string_view text);
  std::string text() const;
  bool reads_body_as_json() const { return kind == Kind::kJson; }
  bool reads_body_as_form() const { return kind == Kind::kForm || kind == Kind::kFormJson; }
  bool operator==(const FieldSpec&) const = default;
};

// One value per spec: nullopt where it is missing, empty, null, neither a string nor a number (kBool reads as missing
// too), or a header that is repeated with differing values (single_header() tells these from a missing one).
struct Fields {
  std::vector<std::optional<std::string>> values;
  // Valid where some spec had to look into the body. A body that is not JSON (or a form) as a whole has a problem here,
  // and so has a form field that a kFormJson spec found not to be JSON; whether that makes the request malformed is the
  // caller's decision (it does where the dedup key must come from it).
  Status body;
};

class FieldReader {
 public:
  explicit FieldReader(std::vector<FieldSpec> specs);
  Fields read(const HttpRequest& request) const;
  const std::vector<FieldSpec>& specs() const { return specs_; }

 private:
  // The pointers into one JSON text: the body's own, or those into one form field.
  struct JsonPart {
    std::string field;               // kFormJson: the form field that holds the text
    std::vector<std::size_t> specs;  // indexes into specs_, in the scanner's order
    JsonScanner scanner;
  };
  void read_headers(const HttpRequest& request, Fields& fields) const;
  void read_query(const HttpRequest& request, Fields& fields) const;
  void read_form(const HttpRequest& request, Fields& fields) const;
  Status read_json(const JsonPart& part, std::string_view text, Fields& fields) const;

  std::vector<FieldSpec> specs_;
  std::optional<JsonPart> body_json_;
  std::vector<JsonPart> form_json_;  // one per form field
  bool reads_form_ = false;
};

// What a JSON value says as an id: a string's value or a number's text; nullopt where it is missing, empty, or neither.
std::optional<std::string> id_text(std::optional<JsonScalar> value);

// Repeated headers that must agree (signature, time stamp, id): their one value; nullopt where there is none;
// kInvalid where they differ.
Result<std::optional<std::string>> single_header(const Headers& headers, std::string_view name);

}  // namespace hookonce
