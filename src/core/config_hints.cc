#include "core/config_hints.h"

#include <cctype>

#include <fmt/format.h>

#include "base/bytes.h"

namespace hookonce {

namespace {

struct Meant {
  ConfigSection section;
  std::string_view written;
  std::string_view key;
};

// Words of other programs that are too far from ours for the edit distance.
constexpr Meant kMeant[] = {
    {ConfigSection::kServer, "port", "listen"},
    {ConfigSection::kServer, "host", "listen"},
    {ConfigSection::kServer, "bind", "listen"},
    {ConfigSection::kServer, "address", "listen"},
    {ConfigSection::kServer, "token", "admin_token"},
    {ConfigSection::kServer, "cert", "tls_cert"},
    {ConfigSection::kServer, "key", "tls_key"},
    {ConfigSection::kServer, "base_url", "public_url"},
    {ConfigSection::kStore, "path", "url"},
    {ConfigSection::kStore, "file", "url"},
    {ConfigSection::kStore, "dsn", "url"},
    {ConfigSection::kStore, "database", "url"},
    {ConfigSection::kSource, "signing_secret", "secrets"},
    {ConfigSection::kSource, "webhook_secret", "secrets"},
    {ConfigSection::kSource, "signing_key", "secrets"},
    {ConfigSection::kSource, "key", "secrets"},
    {ConfigSection::kSource, "type", "provider"},
    {ConfigSection::kSource, "kind", "provider"},
    {ConfigSection::kSource, "to", "destinations"},
    {ConfigSection::kSource, "target", "destinations"},
    {ConfigSection::kSource, "targets", "destinations"},
    {ConfigSection::kSource, "endpoint", "path"},
    {ConfigSection::kSource, "route", "path"},
    {ConfigSection::kSource, "idempotency_key", "dedup_key"},
    {ConfigSection::kSource, "dedup_ttl", "dedup_window"},
    {ConfigSection::kSource, "ttl", "dedup_window"},
    {ConfigSection::kSource, "window", "dedup_window"},
    {ConfigSection::kSource, "synchronous", "mode"},
    {ConfigSection::kSource, "sync", "mode"},
    {ConfigSection::kSource, "response_url", "late_reply"},
    {ConfigSection::kSource, "mask", "redact"},
    {ConfigSection::kSource, "hide", "redact"},
    {ConfigSection::kSource, "keep", "retention"},
    {ConfigSection::kSourceDestination, "type", "types"},
    {ConfigSection::kSourceDestination, "events", "types"},
    {ConfigSection::kSourceDestination, "if", "when"},
    {ConfigSection::kSourceDestination, "filter", "when"},
    {ConfigSection::kSourceDestination, "conditions", "when"},
    {ConfigSection::kWhen, "like", "glob"},
    {ConfigSection::kWhen, "matches", "glob"},
    {ConfigSection::kWhen, "regex", "glob"},
    {ConfigSection::kWhen, "present", "exists"},
    {ConfigSection::kDestination, "signing_secret", "secrets"},
    {ConfigSection::kDestination, "endpoint", "url"},
    {ConfigSection::kDestination, "target", "url"},
    {ConfigSection::kDestination, "to", "url"},
    {ConfigSection::kDestination, "retries", "retry"},
    {ConfigSection::kDestination, "max_attempts", "retry"},
    {ConfigSection::kDestination, "max_retries", "retry"},
    {ConfigSection::kDestination, "rate_limit", "rate"},
    {ConfigSection::kDestination, "workers", "concurrency"},
    {ConfigSection::kDestination, "circuit_breaker", "breaker"},
    {ConfigSection::kDestination, "ca", "ca_file"},
    {ConfigSection::kDestination, "cacert", "ca_file"},
    {ConfigSection::kDestination, "tls_cert", "client_cert"},
    {ConfigSection::kDestination, "tls_key", "client_key"},
    {ConfigSection::kDestination, "http_proxy", "proxy"},
    {ConfigSection::kBreaker, "rate", "failure_rate"},
    {ConfigSection::kBreaker, "failures", "attempts"},
    {ConfigSection::kBreaker, "cooldown", "open"},
    {ConfigSection::kBreaker, "timeout", "open"},
    {ConfigSection::kRetry, "max_attempts", "attempts"},
    {ConfigSection::kRetry, "initial", "first"},
    {ConfigSection::kRetry, "delay", "first"},
    {ConfigSection::kRetry, "multiplier", "factor"},
    {ConfigSection::kRetry, "max_delay", "max"},
};

struct Home {
  std::string_view key;
  std::string_view place;
};

// Where keys belong that people write one table too high or too low. Keys that several tables have are not here.
constexpr Home kHomes[] = {
    {"listen", "[server]"},
    {"admin", "[server]"},
    {"admin_token", "[server]"},
    {"admin_hosts", "[server]"},
    {"max_body", "[server]"},
    {"max_inflight", "[server]"},
    {"drain", "[server]"},
    {"tls_cert", "[server]"},
    {"tls_key", "[server]"},
    {"trusted_proxies", "[server]"},
    {"public_url", "[server]"},
    {"retention", "[store] or [sources.NAME]"},
    {"rejected_limit", "[store]"},
    {"rejected_bytes", "[store]"},
    {"provider", "[sources.NAME]"},
    {"tolerance", "[sources.NAME]"},
    {"dedup_key", "[sources.NAME]"},
    {"dedup_also", "[sources.NAME]"},
    {"items", "[sources.NAME]"},
    {"dedup_window", "[sources.NAME]"},
    {"missing_key", "[sources.NAME]"},
    {"rearm", "[sources.NAME]"},
    {"mode", "[sources.NAME]"},
    {"late_answer", "[sources.NAME]"},
    {"late_reply", "[sources.NAME]"},
    {"ordering_key", "[sources.NAME]"},
    {"ack_deadline", "[sources.NAME]"},
    {"redact", "[sources.NAME]"},
    {"hmac", "[sources.NAME]"},
    {"url", "[destinations.NAME]"},
    {"timeout", "[destinations.NAME]"},
    {"concurrency", "[destinations.NAME]"},
    {"rate", "[destinations.NAME]"},
    {"ordering", "[destinations.NAME]"},
    {"on_dead", "[destinations.NAME]"},
    {"resign", "[destinations.NAME]"},
    {"lease", "[destinations.NAME]"},
    {"retry", "[destinations.NAME]"},
    {"allow_private", "[destinations.NAME]"},
    {"breaker", "[destinations.NAME]"},
    {"proxy", "[destinations.NAME]"},
    {"ca_file", "[destinations.NAME]"},
    {"client_cert", "[destinations.NAME]"},
    {"client_key", "[destinations.NAME]"},
    {"types", "an entry of a source's destinations = [{ name = \"backend\", types = [\"invoice.*\"] }]"},
    {"when", "an entry of a source's destinations = [{ name = \"backend\", when = { \"json:/livemode\" = true } }]"},
    {"give_up", "a destination's retry = { give_up = \"3d\" }"},
    {"attempts", "a destination's retry = { attempts = 20 }"},
};

// The form of a key that is not a plain value, or empty.
std::string form_of(ConfigSection section, std::string_view table, std::string_view key) {
  if (key == "secrets") return "a list: " + secrets_example(section, table);
  if (key == "destinations" && section == ConfigSection::kSource) return "a list: destinations = [\"backend\"]";
  if (key == "mode") return "a word: mode = \"sync\"";
  if (key == "late_reply") return "a word: late_reply = \"response_url\"";
  if (key == "redact") return "a list: redact = [\"json:/card/number\"]";
  if (key == "types") return "a list: types = [\"invoice.*\"]";
  if (key == "trusted_proxies") return "a list: trusted_proxies = [\"10.0.0.0/8\"]";
  if (key == "admin_hosts") return "a list: admin_hosts = [\"hooks.example.com\"]";
  if (key == "listen") return "an address: listen = \"0.0.0.0:8080\"";
  if (key == "when") return "a table: when = { \"json:/livemode\" = true }";
  if (key == "breaker") return "a table: breaker = { open_max = \"30s\" }";
  if (key == "retry") return "a table: retry = { first = \"1s\", attempts = 20 }";
  if (key == "url" && section == ConfigSection::kStore) return "as in url = \"sqlite:hookonce.db\"";
  return "";
}

// A test that needs no word in `when`.
bool is_comparison(std::string_view key) {
  return key == "equal" || key == "equals" || key == "eq" || key == "in" || key == "is" || key == "value";
}

UnknownKey did_you_mean(ConfigSection section, std::string_view table, std::string_view key) {
  const std::string form = form_of(section, table, key);
  return {std::string(key), form.empty() ? fmt::format("unknown key; did you mean `{}`?", key)
                                         : fmt::format("unknown key; did you mean `{}`? ({})", key, form)};
}

}  // namespace

std::string secrets_example(ConfigSection section, std::string_view table) {
  if (section == ConfigSection::kDestination) return "secrets = [\"env:HOOKONCE_SIGNING_SECRET\"]";
  std::string name;
  for (const char c : table) {
    const auto byte = static_cast<unsigned char>(c);
    name.push_back(std::isalnum(byte) != 0 ? static_cast<char>(std::toupper(byte)) : '_');
  }
  return fmt::format("secrets = [\"env:{}_WEBHOOK_SECRET\"]", name);
}

UnknownKey judge_unknown_key(ConfigSection section, std::string_view table, std::string_view key,
                             const std::vector<std::string>& known) {
  if (section == ConfigSection::kWhen && is_comparison(key)) {
    return {"", "unknown key; to compare, write the value itself: \"json:/a\" = \"x\", or a list of values"};
  }
  for (const Meant& meant : kMeant) {
    if (meant.section == section && meant.written == key) return did_you_mean(section, table, meant.key);
  }
  for (const Home& home : kHomes) {
    if (home.key == key) return {"", fmt::format("unknown key here; it belongs in {}", home.place)};
  }
  if (const std::optional<std::string> near = nearest(key, known)) return did_you_mean(section, table, *near);
  return {"", fmt::format("unknown key; known here are {}", join(known, ", "))};
}

}  // namespace hookonce
