#include "provider/signed_header.h"

#include "base/bytes.h"
#include "core/fields.h"
#include "provider/refusal.h"

namespace hookonce {

SignedHeader signed_header(const Headers& headers, std::string_view name) {
  auto single = single_header(headers, name);
  if (!single.ok()) return {"", refused_differing(name)};
  if (!*single || (*single)->empty()) return {"", refused_missing(name)};
  return {std::move(**single), std::nullopt};
}

std::optional<std::string> arrived_name(const Headers& headers, std::string_view name) {
  for (const Header& header : headers.items()) {
    if (equals_ignore_case(header.name, name)) return header.name;
  }
  return std::nullopt;
}

}  // namespace hookonce
