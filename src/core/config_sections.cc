#include "core/config_sections.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/bytes.h"
#include "core/address.h"

namespace hookonce {

namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr std::size_t kGiB = 1024 * kMiB;
constexpr Limits<std::size_t> kMaxBodyLimits{1, kGiB};  // what one SQLite value can hold
constexpr Limits<std::size_t> kMaxInflightLimits{1 * kKiB, 1024 * kGiB};
constexpr Limits<Duration> kDrainLimits{Duration::zero(), hours(1)};
constexpr Limits<Duration> kRetentionLimits{milliseconds(1), kLongest};
constexpr Limits<std::int64_t> kRejectedLimits{0, 1'000'000};  // the list is for reading; it is counted in memory
constexpr Limits<std::size_t> kRejectedBytesLimits{0, 16 * kGiB};

std::optional<ListenAddress> read_address(ConfigTable& table, std::string_view name, const ConfigNode& node) {
  if (node.kind != ConfigNode::Kind::kString) {
    table.error_at(node.line, name,
                   fmt::format("must be an address such as \"127.0.0.1:8080\", not {}", kind_name(node.kind)));
    return std::nullopt;
  }
  const Result<ListenAddress> address = parse_listen_address(node.text);
  if (address.ok()) return *address;
  table.error_at(node.line, name, address.status().message());
  return std::nullopt;
}

void read_listen(ConfigTable& table, std::vector<std::string>& out) {
  const ConfigNode* node = table.find("listen");
  if (node == nullptr) return;
  const bool is_list = node->kind == ConfigNode::Kind::kList;
  if (is_list && node->items.empty()) return table.error("listen", "is empty; name at least one address");
  std::vector<std::string> addresses;
  for (std::size_t i = 0; i < (is_list ? node->items.size() : 1); ++i) {
    const ConfigNode& item = is_list ? node->items[i] : *node;
    const std::optional<ListenAddress> address = read_address(table, "listen", item);
    if (!address) continue;
    const std::string text = address->text();
    if (address->port != 0 && std::find(addresses.begin(), addresses.end(), text) != addresses.end()) {
      table.error_at(item.line, "listen", fmt::format("`{}` is listed twice; remove one", text));
    }
    addresses.push_back(text);
  }
  if (!addresses.empty()) out = std::move(addresses);
}

// Two listeners that cannot both have the port.
bool collide(const ListenAddress& a, const ListenAddress& b) {
  if (a.port == 0 || a.port != b.port) return false;
  return a.host == b.host || is_any_address(a.host) || is_any_address(b.host);
}

void read_admin(ConfigTable& table, const ConfigWorld& world, ServerConfig& server) {
  std::string token;
  if (table.read("admin_token", token)) {
    Result<std::string> value = resolve_secret(token, world);
    if (value.ok()) {
      server.admin_token = *std::move(value);
    } else {
      table.error("admin_token", value.status().message());
    }
  }
  if (const ConfigNode* node = table.find("admin")) {
    if (const std::optional<ListenAddress> address = read_address(table, "admin", *node))
      server.admin = address->text();
  }
  const Result<ListenAddress> admin = parse_listen_address(server.admin);
  HK_CHECK(admin.ok());
  // A token that was given and could not be resolved has been reported already.
  if (!is_loopback(admin->host) && table.find("admin_token") == nullptr) {
    table.error("admin",
                fmt::format("{} can be reached from other machines; set admin_token = \"env:HOOKONCE_TOKEN\", or use "
                            "127.0.0.1",
                            server.admin));
  }
  for (const std::string& text : server.listen) {
    const Result<ListenAddress> listen = parse_listen_address(text);
    if (listen.ok() && collide(*listen, *admin)) {
      table.error("admin", fmt::format("{} is taken by listen = \"{}\"; choose another port", server.admin, text));
    }
  }
}

void read_tls(ConfigTable& table, const ConfigWorld& world, ServerConfig& server) {
  const bool has_cert = table.read("tls_cert", server.tls_cert);
  const bool has_key = table.read("tls_key", server.tls_key);
  if (has_cert && table.find("tls_key") == nullptr)
    table.error("tls_cert", "needs tls_key, the file with its private key");
  if (has_key && table.find("tls_cert") == nullptr)
    table.error("tls_key", "needs tls_cert, the file with its certificate");
  for (const auto& [name, path] : {std::pair{"tls_cert", &server.tls_cert}, {"tls_key", &server.tls_key}}) {
    if (path->empty()) continue;
    const Result<std::string> content = world.file(*path);
    if (!content.ok()) table.error(name, content.status().message());
  }
}

void read_proxies(ConfigTable& table, ServerConfig& server) {
  if (!table.read("trusted_proxies", server.trusted_proxies)) return;
  for (const std::string& proxy : server.trusted_proxies) {
    if (!is_ip_address(proxy) && !is_ip_block(proxy)) {
      table.error("trusted_proxies",
                  fmt::format("{} is neither an IP address nor a block such as \"10.0.0.0/8\"", shown(proxy)));
    } else if (proxy.substr(proxy.find('/') + 1) == "0") {
      table.warn("trusted_proxies",
                 fmt::format("{} trusts everybody: each sender can choose the address it is shown with", shown(proxy)));
    }
  }
}

void read_hosts(ConfigTable& table, ServerConfig& server) {
  if (!table.read("admin_hosts", server.admin_hosts)) return;
  for (const std::string& host : server.admin_hosts) {
    if (host.find_first_of("/:@ *") == std::string::npos) continue;
    table.error("admin_hosts",
                fmt::format("{} is no host name; write the bare name, as in \"hooks.example.com\"", shown(host)));
  }
}

}  // namespace

const ProviderTraits* find_traits(std::string_view name, const ConfigWorld& world) {
  for (const ProviderTraits& traits : world.providers) {
    if (name == traits.name || (!traits.alias.empty() && name == traits.alias)) return &traits;
  }
  return nullptr;
}

bool read_secrets(ConfigTable& table, ConfigSection section, const std::string& name, const ConfigWorld& world,
                  std::vector<std::string>& out) {
  const ConfigNode* node = table.find("secrets");
  if (node == nullptr) return false;
  if (node->kind != ConfigNode::Kind::kList) {
    table.error("secrets",
                fmt::format("must be a list, not {}; write {}", kind_name(node->kind), secrets_example(section, name)));
    return false;
  }
  bool good = true;
  for (std::size_t i = 0; i < node->items.size(); ++i) {
    const ConfigNode& item = node->items[i];
    Result<std::string> value = invalid(fmt::format("must be a string, not {}", kind_name(item.kind)));
    if (item.kind == ConfigNode::Kind::kString) value = resolve_secret(item.text, world);
    if (value.ok()) {
      out.push_back(*std::move(value));
    } else {
      table.error_at(item.line, "secrets", fmt::format("secret {}: {}", i + 1, value.status().message()));
      good = false;
    }
  }
  return good;
}

ServerConfig read_server(ConfigTable& table, const ConfigWorld& world) {
  ServerConfig server;
  read_listen(table, server.listen);
  read_admin(table, world, server);
  read_hosts(table, server);
  std::size_t max_body = 0;
  if (table.read("max_body", kMaxBodyLimits, max_body)) server.max_body = max_body;
  table.read("max_inflight", kMaxInflightLimits, server.max_inflight);
  table.read("drain", kDrainLimits, server.drain);
  read_tls(table, world, server);
  read_proxies(table, server);
  if (table.read("public_url", server.public_url)) {
    Status status = check_http_url(server.public_url);
    if (status.ok() && server.public_url.find('?') != std::string::npos) status = invalid("must not have a query");
    if (!status.ok()) table.error("public_url", status.message());
  }
  table.report_unknown();
  return server;
}

namespace {

// A URL may hold a password, so it may stand where secrets do.
void read_store_url(ConfigTable& table, const ConfigWorld& world, StoreConfig& store) {
  table.read("url", store.url);
  if (store.url.rfind("env:", 0) == 0 || store.url.rfind("file:", 0) == 0) {
    Result<std::string> url = resolve_secret(store.url, world);
    if (!url.ok()) return table.error("url", url.status().message());
    store.url = *std::move(url);
  }
  if (!world.check_store) return;
  const Status status = world.check_store(store.url);
  if (!status.ok()) table.error("url", status.message());
}

}  // namespace

StoreConfig read_store(ConfigTable& table, const ConfigWorld& world) {
  StoreConfig store;
  read_store_url(table, world, store);
  if (world.default_retention) store.retention = world.default_retention(store.url);
  table.read("retention", kRetentionLimits, store.retention);
  auto rejected_limit = static_cast<std::int64_t>(store.rejected_limit);
  table.read("rejected_limit", kRejectedLimits, rejected_limit);
  store.rejected_limit = static_cast<std::size_t>(rejected_limit);
  table.read("rejected_bytes", kRejectedBytesLimits, store.rejected_bytes);
  table.report_unknown();
  return store;
}

}  // namespace hookonce
