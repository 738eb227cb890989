// What of a request people may not see: the parts that a source's `redact` names. Stored bytes and deliveries stay as
// they are; whoever shows a request shows what these functions give. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/fields.h"

namespace hookonce {

inline constexpr std::string_view kRedacted = "[redacted]";

// Whether the values of that header are hidden.
bool hides_header(const std::vector<FieldSpec>& redact, std::string_view name);

// The body with its hidden parts replaced by kRedacted. kInvalid says why it cannot be shown at all: what is to be
// hidden can only be found in a body that is JSON (a form) as a whole, and whoever sent it may have cut it short. With
// `json:` and `form:` parts together it may be either. An empty body hides nothing.
Result<std::string> redacted_body(const std::vector<FieldSpec>& redact, std::string_view body);

// Whether what `field` reads is hidden, and would be seen where it is shown for itself, as a dedup key is. The hash
// that a `body` field reads shows nothing.
bool hides_field(const std::vector<FieldSpec>& redact, const FieldSpec& field);

}  // namespace hookonce
