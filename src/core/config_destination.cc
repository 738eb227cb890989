// The table of one destination.
#include <fmt/format.h>

#include "base/bytes.h"
#include "core/address.h"
#include "core/config_sections.h"

namespace hookonce {

namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Limits<Duration> kTimeoutLimits{milliseconds(1), hours(1)};
constexpr Limits<Duration> kLeaseLimits{milliseconds(1), hours(24)};  // a dead gateway's delivery waits this long
constexpr Limits<std::int64_t> kConcurrencyLimits{1, 10'000};         // a socket each
constexpr std::int64_t kRateMax = 1'000'000;
constexpr Limits<Duration> kRetryFirstLimits{milliseconds(1), hours(24)};
constexpr Limits<Duration> kRetryMaxLimits{milliseconds(1), hours(24 * 30)};
constexpr Limits<double> kFactorLimits{1.0, 100.0};  // below 1 the delays would shrink
constexpr Limits<double> kJitterLimits{0.0, 1.0};    // above 1 a delay would be negative
constexpr Limits<std::int64_t> kAttemptsLimits{1, 1'000'000};
constexpr Limits<double> kFailureRateLimits{0.01, 1.0};
constexpr Limits<std::int64_t> kBreakerAttemptsLimits{2, kBreakerAttemptsMax};
constexpr Limits<Duration> kBreakerAfterLimits{Duration::zero(), hours(1)};
constexpr Limits<Duration> kBreakerOpenLimits{milliseconds(1), hours(24)};

std::optional<double> parse_rate(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const std::optional<std::int64_t> count = parse_digits(text.substr(0, slash));
  if (!count || *count < 1 || *count > kRateMax) return std::nullopt;
  const std::string_view unit = text.substr(slash + 1);
  if (unit == "s") return static_cast<double>(*count);
  if (unit == "m") return static_cast<double>(*count) / 60.0;
  if (unit == "h") return static_cast<double>(*count) / 3600.0;
  return std::nullopt;
}

void read_rate(ConfigTable& table, DestinationConfig& destination) {
  const ConfigNode* node = table.find("rate");
  if (node == nullptr) return;
  std::optional<double> rate;
  if (node->kind == ConfigNode::Kind::kString) rate = parse_rate(node->text);
  if (rate) {
    destination.rate = rate;
    return;
  }
  const std::string value =
      node->kind == ConfigNode::Kind::kString ? shown(node->text) : std::string(kind_name(node->kind));
  table.error("rate",
              fmt::format("{} is no rate; write a whole number from 1 to {} per s, m or h, as in \"100/s\" or \"30/m\"",
                          value, kRateMax));
}

void read_retry(ConfigTable& parent, RetryPolicy& retry) {
  const ConfigNode* node = parent.find("retry");
  if (node == nullptr) return;
  ConfigTable table(*node, parent.path("retry"), ConfigSection::kRetry, parent.problems());
  table.read("first", kRetryFirstLimits, retry.first);
  table.read("factor", kFactorLimits, retry.factor);
  table.read("max", kRetryMaxLimits, retry.max);
  table.read("jitter", kJitterLimits, retry.jitter);
  std::int64_t attempts = retry.attempts;
  table.read("attempts", kAttemptsLimits, attempts);
  retry.attempts = static_cast<int>(attempts);
  table.read("give_up", {milliseconds(1), kLongest}, retry.give_up);
  if (retry.first > retry.max) {
    table.error("first", fmt::format("{} is longer than max ({}); lower first or raise max",
                                     format_duration(retry.first), format_duration(retry.max)));
  }
  table.report_unknown();
}

void read_lease(ConfigTable& table, DestinationConfig& destination) {
  destination.lease = destination.timeout + kLeaseMargin;
  if (!table.read("lease", kLeaseLimits, destination.lease)) return;
  const Duration least = destination.timeout + kLeaseMarginMin;
  if (destination.lease >= least) return;
  table.error("lease",
              fmt::format("{} is shorter than timeout + {} s ({}); raise lease or lower timeout",
                          format_duration(destination.lease),
                          std::chrono::duration_cast<seconds>(kLeaseMarginMin).count(), format_duration(least)));
}

void read_breaker(ConfigTable& parent, BreakerPolicy& breaker) {
  const ConfigNode* node = parent.find("breaker");
  if (node == nullptr) return;
  if (node->kind == ConfigNode::Kind::kBool) {
    breaker.enabled = node->flag;
    return;
  }
  if (node->kind != ConfigNode::Kind::kTable) {
    return parent.error("breaker", fmt::format("must be a table or false, not {}; write breaker = {{ open_max = "
                                               "\"30s\" }}, or breaker = false for none",
                                               kind_name(node->kind)));
  }
  ConfigTable table(*node, parent.path("breaker"), ConfigSection::kBreaker, parent.problems());
  table.read("failure_rate", kFailureRateLimits, breaker.failure_rate);
  std::int64_t attempts = breaker.attempts;
  table.read("attempts", kBreakerAttemptsLimits, attempts);
  breaker.attempts = static_cast<int>(attempts);
  table.read("after", kBreakerAfterLimits, breaker.after);
  table.read("open", kBreakerOpenLimits, breaker.open);
  table.read("open_max", kBreakerOpenLimits, breaker.open_max);
  if (breaker.open > breaker.open_max) {
    table.error("open", fmt::format("{} is longer than open_max ({}); lower open or raise open_max",
                                    format_duration(breaker.open), format_duration(breaker.open_max)));
  }
  table.report_unknown();
}

void read_tls(ConfigTable& table, const ConfigWorld& world, DestinationConfig& destination) {
  read_pem(table, "ca_file", "CERTIFICATE", world, destination.ca_file);
  read_pem(table, "client_cert", "CERTIFICATE", world, destination.client_cert);
  read_pem(table, "client_key", "PRIVATE KEY", world, destination.client_key);
  const bool has_cert = table.find("client_cert") != nullptr;
  const bool has_key = table.find("client_key") != nullptr;
  if (has_cert && !has_key) table.error("client_cert", "needs client_key, the file with its private key");
  if (has_key && !has_cert) table.error("client_key", "needs client_cert, the file with its certificate");
  if (!equals_ignore_case(destination.url.substr(0, 7), "http://")) return;
  for (const std::string_view name : {"ca_file", "client_cert"}) {
    if (table.find(name) != nullptr) table.warn(name, "has no effect: the url begins with http://, which has no TLS");
  }
}

}  // namespace

void read_pem(ConfigTable& table, std::string_view name, std::string_view what, const ConfigWorld& world,
              std::string& out) {
  if (!table.read(name, out)) return;
  const Result<std::string> content = world.file(out);
  if (!content.ok()) return table.error(name, content.status().message());
  if (content->find(fmt::format("{}-----", what)) == std::string::npos) {
    table.error(name, fmt::format("file {} holds no {} in PEM form (-----BEGIN ...)", out, to_lower(what)));
  } else if (content->find("ENCRYPTED") != std::string::npos) {
    table.error(name, fmt::format("file {} needs a passphrase, and nobody is there to type it; store the key without, "
                                  "readable for the gateway alone",
                                  out));
  }
}

bool read_proxy(ConfigTable& table, const ConfigWorld& world, std::string& out) {
  std::string text;
  if (!table.read("proxy", text)) return false;
  const Result<std::string> proxy = resolve_secret(text, world);
  const Status status = proxy.ok() ? check_proxy_url(*proxy) : proxy.status();
  if (!status.ok()) {
    table.error("proxy", status.message());
    return false;
  }
  out = *proxy;
  return true;
}

DestinationConfig read_destination(ConfigTable& table, const std::string& name, const ConfigWorld& world) {
  DestinationConfig destination;
  destination.name = name;
  if (table.find("url") == nullptr) table.missing("url", "; write url = \"http://127.0.0.1:9000/webhook\"");
  if (table.read("url", destination.url)) {
    const Status status = check_http_url(destination.url);
    if (!status.ok()) table.error("url", status.message());
  }
  const bool has_secrets = read_secrets(table, ConfigSection::kDestination, name, world, destination.secrets);
  if (has_secrets && world.check_destination) {
    const Status status = world.check_destination(destination);
    if (!status.ok()) table.error("secrets", status.message());
  }
  table.read("timeout", kTimeoutLimits, destination.timeout);
  std::int64_t concurrency = destination.concurrency;
  table.read("concurrency", kConcurrencyLimits, concurrency);
  destination.concurrency = static_cast<int>(concurrency);
  read_rate(table, destination);
  table.read("ordering", destination.ordering);
  std::size_t word = 0;
  if (table.read("on_dead", {"block", "skip"}, word)) {
    destination.on_dead = static_cast<OnDead>(word);
    if (!destination.ordering) table.warn("on_dead", "has no effect without ordering = true");
  }
  table.read("resign", destination.resign);
  read_lease(table, destination);
  read_retry(table, destination.retry);
  read_breaker(table, destination.breaker);
  table.read("allow_private", destination.allow_private);
  read_tls(table, world, destination);
  if (read_proxy(table, world, destination.proxy) && !destination.allow_private) {
    table.error("proxy",
                "cannot be used with allow_private = false: only the proxy sees which address it connects to; let the "
                "proxy refuse private addresses and set allow_private = true, or leave the proxy out");
  }
  table.report_unknown();
  return destination;
}

}  // namespace hookonce
