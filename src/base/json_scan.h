// Reads single values out of a JSON document without building a tree, and says whether the whole of it is valid.
//
//   JsonScanner scanner({"/id", "/type", "/data/object/customer"});
//   Result<JsonValues> values = scanner.scan(body);   // kInvalid where body is not valid JSON as a whole
//   if (const auto& id = (*values)[0]) use(id->text);
//
// Valid is RFC 8259 in UTF-8: an escaped lone surrogate and a number of any length are valid; invalid UTF-8, a byte
// order mark and more than kJsonDepthMax levels are not. A lone surrogate reads as the three bytes that it would be in
// UTF-8: not valid text, and distinct from every other. Of a repeated name the last counts. A scanner is immutable;
// scan() may run on several threads at once.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace hookonce {

inline constexpr std::size_t kJsonDepthMax = 1024;  // contract: deeper documents are malformed

struct JsonScalar {
  enum class Kind { kString, kNumber, kBool, kNull, kObject, kArray };
  Kind kind = Kind::kNull;
  std::string text;  // a string's value, a number's own text, "true" or "false"; empty for the others
  bool operator==(const JsonScalar&) const = default;
};

using JsonValues = std::vector<std::optional<JsonScalar>>;  // one per pointer, nullopt where it leads nowhere

class JsonScanner {
 public:
  // Each pointer is RFC 6901 text ("" is the whole document, "/a/0/b~1c"). REQUIRES: is_json_pointer(each).
  explicit JsonScanner(std::vector<std::string> pointers);
  Result<JsonValues> scan(std::string_view document) const;

 private:
  std::vector<std::vector<std::string>> paths_;
};

bool is_json_pointer(std::string_view text);

}  // namespace hookonce
