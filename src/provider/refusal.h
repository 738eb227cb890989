// Why a request is refused, in words for people: the texts of the 400 and 401 answers, in one place.
//
// A message names what was wrong and how to mend it. It never holds a secret or an expected signature: what a forger
// reads here must not help.
#pragma once

#include <string>
#include <string_view>

#include "provider/provider.h"

namespace hookonce {

Verification refused(Reason reason, std::string message);

// The header is not there, or is there without a value.
Verification refused_missing(std::string_view header);
// The header is there several times with different values.
Verification refused_differing(std::string_view header);
// The header's value is not of the form that `form` describes.
Verification refused_malformed(std::string_view header, std::string_view form);
// The signature is readable, and no configured secret made it. `hint` is the provider's usual mistake, may be empty.
Verification refused_mismatch(std::string_view hint);

}  // namespace hookonce
