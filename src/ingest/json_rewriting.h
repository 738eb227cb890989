// JSON in other spellings of the same document. Works on the text, not on a tree: numbers, names and their order stay.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace hookonce {

struct JsonStyle {
  enum class Space { kAsIs, kNone, kAfterEach, kIndentTwo, kIndentFour };
  enum class Letters { kAsIs, kPlain, kAscii, kAsciiUpper, kHtmlSafe };
  enum class Slashes { kAsIs, kPlain, kEscaped };
  Space space = Space::kAsIs;
  Letters letters = Letters::kAsIs;
  Slashes slashes = Slashes::kAsIs;
};

// For people, behind "the same JSON": "without white space, with escaped slashes". Empty where all is as it is.
std::string describe(const JsonStyle& style);

// Indentation may make a document that is nothing but brackets thousands of times as large.
inline constexpr std::size_t kJsonGrowthMax = 8;  // times; what people nest takes two or three

// nullopt where it would grow more than that. REQUIRES: `document` is valid JSON as a whole (JsonScanner::scan() says
// so).
std::optional<std::string> rewrite_json(std::string_view document, const JsonStyle& style);

}  // namespace hookonce
