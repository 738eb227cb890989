// The configuration of `forward`: one source and one destination, made of its arguments.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace hookonce {

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

// `text` as a TOML basic string, quotes included.
std::string toml_string(std::string_view text);

}  // namespace hookonce
