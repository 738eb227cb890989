// The gateway: wiring and lifetime, nothing else.
//
//   HK_ASSIGN(auto gateway, Gateway::start(config, options));
//   wait_for_signal();
//   gateway->drain();
//
// One thread starts it, reloads, drains and destroys; destroying it without drain() stops everything at once.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "core/config.h"
#include "dispatch/pool.h"
#include "ingest/ingest.h"

namespace hookonce {

class Gateway {
 public:
  struct Options {
    Ingest::Observer* ingest_observer = nullptr;
    DeliveryPool::Observer* delivery_observer = nullptr;
    // The store gave up for good: drain and exit 1. Called on a thread of the gateway; must not block or destroy it.
    std::function<void(const Status&)> failed;
    // A drain takes longer than `server.drain` and a few seconds: something hangs, and so will what comes after. Called
    // on a thread of the gateway; may end the process, which loses nothing that was acknowledged.
    std::function<void()> overdue;
  };

  // Opens the store, listens, and takes requests. Errors as open_store() and HttpServer::start().
  static Result<std::unique_ptr<Gateway>> start(std::shared_ptr<const Config> config, const Options& options);
  virtual ~Gateway() = default;

  virtual const std::vector<std::string>& ingest_addresses() const = 0;
  virtual const std::string& admin_address() const = 0;

  // Swaps the configuration whole; kInvalid, and the old one stays, where `listen`, `admin` or `store.url` differ (they
  // need a restart).
  virtual Status reload(std::shared_ptr<const Config> config) = 0;
  // New requests get 503 `draining`, attempts in flight get `server.drain`, the rest are released; then everything is
  // closed. Blocks; Options::overdue ends that where a store or a destination's name hangs.
  virtual void drain() = 0;
};

// The inbox as it may be shown: without a password.
std::string shown_store(const Config& config);

// `store backup`.
Status backup(const std::string& store_url, const std::string& file);

// Loads and judges a configuration file with this program's providers and stores.
struct CheckedConfig {
  std::shared_ptr<const Config> config;  // null where a problem is an error
  std::vector<std::string> errors;       // complete lines for people
  std::vector<std::string> warnings;
  std::vector<std::string> problems;  // both, in the order of the file
};
CheckedConfig check_config_file(const std::string& file);
// The same for a text that stands nowhere (`forward`); `name` is shown in the place of the file.
CheckedConfig check_config_text(const std::string& toml, const std::string& name);

}  // namespace hookonce
