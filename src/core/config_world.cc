// The machine as ConfigWorld wants it, and the one way from a secret's text to its value.
#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "base/bytes.h"
#include "core/config_load.h"

namespace hookonce {

namespace {

constexpr std::size_t kFileMax = 1 * kMiB;  // a secret or a certificate chain; more is another file by mistake

// Editors, `echo` and mounted secrets leave one behind, and with it no signature would ever match.
std::string without_final_newline(std::string text) {
  if (!text.empty() && text.back() == '\n') {
    text.pop_back();
    if (!text.empty() && text.back() == '\r') text.pop_back();
  }
  return text;
}

// What stands where a variable's name should may be the secret itself.
bool is_variable_name(std::string_view text) {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  return std::all_of(text.begin(), text.end(), fits);
}

Result<std::string> read_environment(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  if (value == nullptr) {
    if (!is_variable_name(name)) return invalid("what stands behind `env:` is no variable's name; write env:NAME");
    return not_found(fmt::format("environment variable {} is not set; export it before the start", name));
  }
  return without_final_newline(value);
}

Status unreadable(const std::string& path) {
  const std::string reason = std::generic_category().message(errno == 0 ? EIO : errno);
  return not_found(fmt::format("file {} cannot be read: {}", path, reason));
}

Result<std::string> read_file(const std::string& path) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) return unreadable(path);
  std::string content(kFileMax + 1, '\0');
  file.read(content.data(), static_cast<std::streamsize>(content.size()));
  if (file.bad() || (file.fail() && !file.eof())) return unreadable(path);
  content.resize(static_cast<std::size_t>(file.gcount()));
  if (content.size() > kFileMax) return invalid(fmt::format("file {} is larger than {}", path, format_size(kFileMax)));
  return without_final_newline(std::move(content));
}

// A value of blanks alone is what an unset template leaves behind; as a key it would verify what anybody signs with it.
bool is_blank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

}  // namespace

ConfigWorld machine_world(std::span<const ProviderTraits> providers,
                          std::function<Status(const SourceConfig&)> check_source) {
  ConfigWorld world;
  world.providers = providers;
  world.environment = read_environment;
  world.file = read_file;
  world.check_source = std::move(check_source);
  return world;
}

Result<std::string> resolve_secret(std::string_view text, const ConfigWorld& world) {
  constexpr std::string_view kEnv = "env:";
  constexpr std::string_view kFile = "file:";
  if (text.substr(0, kEnv.size()) == kEnv) {
    const std::string name(text.substr(kEnv.size()));
    if (name.empty()) return invalid("`env:` names no variable; write env:NAME");
    HK_ASSIGN(std::string value, world.environment(name));
    if (is_blank(value)) return invalid(fmt::format("environment variable {} is empty; put the secret into it", name));
    return value;
  }
  if (text.substr(0, kFile.size()) == kFile) {
    const std::string path(text.substr(kFile.size()));
    if (path.empty()) return invalid("`file:` names no file; write file:PATH");
    HK_ASSIGN(std::string value, world.file(path));
    if (is_blank(value)) return invalid(fmt::format("file {} is empty; put the secret into it", path));
    return value;
  }
  if (is_blank(text)) return invalid("is empty; write the secret, env:NAME or file:PATH");
  return std::string(text);
}

}  // namespace hookonce
