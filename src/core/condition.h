// What a destination's `when` asks of an event: conditions on values in the body (JSON) and on headers.
//
//   "json:/data/object/livemode" = true                    equal
//   "header:X-Env" = ["prod", "stage"]                     one of these
//   "json:/data/object/lines" = { exists = true }
//   "json:/data/object/currency" = { glob = "e*" }
//
// Pure values and comparisons; core/config_when.cc reads them, core/destination_choice.h applies them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json_scan.h"
#include "core/fields.h"

namespace hookonce {

struct Condition {
  enum class Test { kIn, kExists, kAbsent, kGlob };

  FieldSpec field;  // kJson or kHeader
  Test test = Test::kIn;
  std::vector<JsonScalar> values;     // kIn: strings, numbers and booleans; for a header strings alone
  std::vector<std::string> patterns;  // kGlob, as type_matches() takes them

  // For people, as it would stand in the configuration: `"json:/livemode" = true`.
  std::string text() const;
};

// REQUIRES: of the condition's own kind of field. A JSON value is null where the pointer leads nowhere.
bool holds(const Condition& condition, const JsonScalar* value);
// A header that is repeated is all of its values: the condition holds where it does for one of them.
bool holds(const Condition& condition, const std::vector<std::string_view>& values);

}  // namespace hookonce
