// The configuration of `forward`: one source and one destination, made of its arguments.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace hookonce {

inline constexpr const char* kForwardConfigName = "forward";  // stands where a file's name stands in a mistake

struct ForwardOptions {
  std::string provider;
  std::vector<std::string> secrets;  // as given: literals, env:NAME, file:PATH
  std::string to;
  std::string listen = "127.0.0.1:8080";
  std::string path = "/";
  std::string store;   // empty: sqlite:hookonce-<provider>.db
  std::string header;  // for providers whose signature header is the user's choice
};

// kInvalid, with the mend, for a provider that is unknown or that needs more than these options can say.
Status check_forward_provider(const ForwardOptions& options);

// The text for check_config_text(). REQUIRES: check_forward_provider() is ok.
std::string forward_toml(const ForwardOptions& options, std::string_view admin);

// A mistake in that text, with the option that the user wrote in place of the key that it became.
// REQUIRES: one of the errors of check_config_text(), called with kForwardConfigName.
std::string named_by_option(std::string_view mistake);

// `text` as a TOML basic string, quotes included.
std::string toml_string(std::string_view text);

}  // namespace hookonce
