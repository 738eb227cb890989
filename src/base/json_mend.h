// Makes documents readable that RFC 8259's grammar allows and Boost.JSON's parser refuses. For reading only: nothing
// that is stored or passed on comes from here.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace hookonce {

// A copy of the same length in which each escaped lone surrogate is a private-use character of its own (U+E000 to
// U+E7FF) and each exponent that is too large for the parser is 0; nullopt where there is neither. What is not valid
// JSON stays so.
std::optional<std::string> mend_json(std::string_view document);

// A string's text as read from a mended copy, with what stands for a lone surrogate as that surrogate's three bytes,
// which no valid UTF-8 has. A private-use character of that range beside a lone surrogate in one document reads so too.
// REQUIRES: text is UTF-8.
std::string unmend_text(std::string text);

}  // namespace hookonce
