// Dedup key material: how key parts become the hash that the store keeps, and the text that people see.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/model.h"

namespace hookonce {

// SHA-256 over the name space, the number of parts, and each part with its length before it, cut to 16 bytes: no two
// splits of the same bytes collide. `space` is empty for the dedup key itself and the spec's text for a key of
// dedup_also.
KeyHash key_hash(std::string_view space, const std::vector<std::string>& parts);

// One part as it is; several joined by `:` with `\` and `:` inside them escaped by `\`.
std::string key_text(const std::vector<std::string>& parts);

// The hashes that an event shown as `text` may have as its dedup key: it as one part, and as the parts that key_text()
// joined.
std::vector<KeyHash> hashes_of_text(std::string_view text);

KeyHash body_hash(std::string_view body);

// Of the texts that sign one request, its time stamp among them: each with its length before it.
KeyHash signature_hash(const std::vector<std::string_view>& parts);

}  // namespace hookonce
