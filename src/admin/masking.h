// What must not be shown to everyone who may look: secret-bearing header values, and what URLs carry. Pure.
#pragma once

#include <string>
#include <string_view>

namespace hookonce {

inline constexpr std::string_view kMasked = "[masked]";

// Authorization, cookies, and names that say token, secret, key or password. Signatures stay visible: they prove and
// open nothing.
bool bears_secret(std::string_view header_name);

// Without user, password and the values of the query.
std::string masked_url(std::string_view url);

}  // namespace hookonce
