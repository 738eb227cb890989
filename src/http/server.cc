#include "http/server.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <stdexcept>
#include <thread>
#include <utility>

#include "http/server_connection.h"
#include "http/server_context.h"
#include "http/server_listener.h"
#include "http/server_loop.h"
#include "http/server_tls.h"

namespace hookonce {
namespace {

using Endpoint = boost::asio::ip::tcp::endpoint;

class Server final : public HttpServer {
 public:
  Server(const HttpServerOptions& options, HttpHandler& handler, const Clock& clock)
      : context_{options, handler, clock} {}
  ~Server() override { stop(Duration::zero()); }

  Status open();
  void run();

  const std::vector<std::string>& addresses() const override { return addresses_; }
  Status reload_tls() override { return tls_ != nullptr ? tls_->reload() : Status(); }
  void stop(Duration limit) override;

 private:
  Status load_tls();
  void on_each_loop(const std::function<void(Loop&)>& action);

  ServerContext context_;
  std::unique_ptr<TlsContext> tls_;  // null: plain HTTP
  std::vector<std::shared_ptr<Loop>> loops_;
  std::vector<std::unique_ptr<Listener>> listeners_;
  std::vector<std::string> addresses_;
  std::vector<std::thread> threads_;
  std::atomic<bool> stopped_{false};
};

Status Server::load_tls() {
  const HttpServerOptions& options = context_.options;
  if (options.tls_cert.empty() && options.tls_key.empty()) return {};
  if (options.tls_cert.empty() || options.tls_key.empty()) {
    return invalid("tls_cert and tls_key belong together; give both or neither");
  }
  HK_ASSIGN(tls_, TlsContext::load(options.tls_cert, options.tls_key));
  return {};
}

Status Server::open() {
  HK_TRY(load_tls());
  std::vector<Endpoint> endpoints;
  bool has_ipv4 = false;
  for (const std::string& address : context_.options.listen) {
    HK_ASSIGN(Endpoint endpoint, parse_endpoint(address));
    has_ipv4 = has_ipv4 || endpoint.address().is_v4();
    endpoints.push_back(endpoint);
  }
  if (endpoints.empty()) return invalid("listen: no address given; write at least one IP:PORT");

  const int threads = std::max(1, context_.options.threads);
  for (int i = 0; i < threads; ++i) loops_.push_back(std::make_shared<Loop>(context_));
  for (const Endpoint& endpoint : endpoints) {
    auto listener = std::make_unique<Listener>(context_, loops_, tls_.get());
    // [::] alone takes IPv4 clients too; beside 0.0.0.0 it must leave them to that one.
    HK_TRY(listener->open(endpoint, has_ipv4));
    addresses_.push_back(listener->address());
    listeners_.push_back(std::move(listener));
  }
  return {};
}

void Server::run() {
  for (auto& listener : listeners_) listener->start();
  for (auto& loop : loops_) threads_.emplace_back([loop] { loop->run(); });
}

void Server::on_each_loop(const std::function<void(Loop&)>& action) {
  for (auto& loop : loops_) {
    loop->post_one([&loop = *loop, action] { action(loop); });
  }
}

void Server::stop(Duration limit) {
  if (stopped_.exchange(true) || threads_.empty()) return;
  context_.draining = true;
  // Closing takes effect on the loops; from here on no connection is added that drain() would not see or begin() close.
  loops_[0]->post_one([this] {
    for (auto& listener : listeners_) listener->close();
  });
  on_each_loop([](Loop& loop) { loop.drain(); });
  context_.connections.wait_for_none(limit);
  on_each_loop([](Loop& loop) { loop.close_all(); });
  for (std::thread& thread : threads_) thread.join();
}

}  // namespace

Result<std::unique_ptr<HttpServer>> HttpServer::start(const HttpServerOptions& options, HttpHandler& handler,
                                                      const Clock& clock) {
  try {
    auto server = std::make_unique<Server>(options, handler, clock);
    HK_TRY(server->open());
    server->run();
    return std::unique_ptr<HttpServer>(std::move(server));
  } catch (const std::runtime_error& error) {
    // Descriptors or threads have run out before the first connection.
    return precondition(fmt::format("the HTTP server can't start: {}; raise the limits of this process", error.what()));
  }
}

}  // namespace hookonce
