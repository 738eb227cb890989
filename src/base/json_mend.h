// Makes documents readable that RFC 8259's grammar allows and Boost.JSON's parser refuses. For reading only: nothing
// that is stored or passed on comes from here.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace hookonce {

// A copy of the same length in which each escaped lone surrogate is \uFFFD and each exponent that is too large for the
// parser is 0; nullopt where there is neither. What is not valid JSON stays so.
std::optional<std::string> mend_json(std::string_view document);

}  // namespace hookonce
