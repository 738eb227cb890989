// Headers on which verification rests: present, with one value, under the name with which they arrived.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/http_message.h"
#include "provider/provider.h"

namespace hookonce {

// The value of a header that must be there. Exactly one of both is set: an empty value is a missing header, equal
// repeated ones count as one, differing ones are malformed.
struct SignedHeader {
  std::string value;                    // not empty where not refused
  std::optional<Verification> refusal;  // why the request can't be verified
};
SignedHeader signed_header(const Headers& headers, std::string_view name);

// The header's name in the letter case in which it arrived; nullopt where it did not.
std::optional<std::string> arrived_name(const Headers& headers, std::string_view name);

}  // namespace hookonce
