#include "http/server_listener.h"

#include <fmt/format.h>

#include <boost/asio/ip/v6_only.hpp>
#include <utility>

#include "base/bytes.h"
#include "base/log.h"

namespace hookonce {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using ErrorCode = boost::system::error_code;

// When descriptors have run out accepting at once again would only spin.
constexpr std::chrono::milliseconds kAcceptPause{100};
// Connections above connections_max that are at once being told so; more are closed without a word.
constexpr std::size_t kTurnedAwayMax = 256;
constexpr std::int64_t kPortMax = 65535;

// The peer as people write it: an IPv4 client of a dual-stack listener has an IPv4 address.
std::string peer_of(const tcp::socket& socket) {
  ErrorCode error;
  const tcp::endpoint endpoint = socket.remote_endpoint(error);
  if (error) return "";
  const asio::ip::address address = endpoint.address();
  if (address.is_v4()) return address.to_string();
  asio::ip::address_v6 v6 = address.to_v6();
  if (v6.is_v4_mapped()) return asio::ip::make_address_v4(asio::ip::v4_mapped, v6).to_string();
  v6.scope_id(0);
  return v6.to_string();
}

}  // namespace

Result<tcp::endpoint> parse_endpoint(const std::string& address) {
  const auto refused = [&] {
    return invalid(
        fmt::format("listen \"{}\": not an address; write IP:PORT, for example 127.0.0.1:8080 or [::1]:8080", address));
  };
  const std::size_t colon = address.rfind(':');
  if (colon == std::string::npos) return refused();
  std::string host = address.substr(0, colon);
  const bool is_bracketed = host.size() >= 2 && host.front() == '[' && host.back() == ']';
  if (is_bracketed) host = host.substr(1, host.size() - 2);
  ErrorCode error;
  const asio::ip::address ip = asio::ip::make_address(host, error);
  const auto port = parse_digits(std::string_view(address).substr(colon + 1));
  if (error || ip.is_v6() != is_bracketed || !port || *port > kPortMax) return refused();
  return tcp::endpoint(ip, static_cast<std::uint16_t>(*port));
}

std::string to_text(const tcp::endpoint& endpoint) {
  const std::string ip = endpoint.address().to_string();
  return fmt::format(fmt::runtime(endpoint.address().is_v6() ? "[{}]:{}" : "{}:{}"), ip, endpoint.port());
}

Listener::Listener(ServerContext& context, const std::vector<std::shared_ptr<Loop>>& loops, TlsContext* tls)
    : context_(context), loops_(loops), tls_(tls), acceptor_(loops[0]->io()), pause_(loops[0]->io()) {}

Status Listener::open(const tcp::endpoint& endpoint, bool ipv6_only) {
  ErrorCode error;
  acceptor_.open(endpoint.protocol(), error);
  // Connections of the process before, still in TIME_WAIT, must not hinder a restart.
  if (!error) acceptor_.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error && endpoint.address().is_v6()) acceptor_.set_option(asio::ip::v6_only(ipv6_only), error);
  if (!error) acceptor_.bind(endpoint, error);
  if (!error) acceptor_.listen(asio::socket_base::max_listen_connections, error);
  if (!error) address_ = to_text(acceptor_.local_endpoint(error));
  if (!error) return {};

  const std::string text = to_text(endpoint);
  if (error == asio::error::address_in_use) {
    return precondition(
        fmt::format("listen {}: address in use; stop the program that listens there or choose another port", text));
  }
  if (error == asio::error::access_denied) {
    return precondition(
        fmt::format("listen {}: not allowed; choose a port from 1024 up or grant CAP_NET_BIND_SERVICE", text));
  }
  return invalid(fmt::format("listen {}: {}; choose an address of this machine", text, to_lower(error.message())));
}

void Listener::start() {
  accept();
}

void Listener::close() {
  ErrorCode ignored;  // It is closed either way.
  acceptor_.close(ignored);
  pause_.cancel();
}

void Listener::accept() {
  Loop& loop = *loops_[next_loop_];
  acceptor_.async_accept(loop.io(), [this, &loop](const ErrorCode& error, tcp::socket socket) {
    if (!acceptor_.is_open()) return;
    if (!error) {
      is_failing_ = false;
      next_loop_ = (next_loop_ + 1) % loops_.size();
      hand_over(loop, std::move(socket));
    } else if (error != asio::error::connection_aborted) {
      // Once, and not ten times a second while it lasts.
      if (!std::exchange(is_failing_, true)) {
        log_warn("http.accept_failed", {{"listen", address_}, {"error", error.message()}});
      }
      pause();
      return;
    }
    accept();
  });
}

void Listener::hand_over(Loop& loop, tcp::socket socket) {
  const std::size_t open = context_.connections.add();
  const std::size_t limit = context_.options.connections_max;
  std::unique_ptr<TlsSession> session = tls_ != nullptr ? tls_->session(socket.native_handle()) : nullptr;
  if (open > limit + kTurnedAwayMax || (tls_ != nullptr && session == nullptr)) {
    context_.connections.remove();
    return;
  }
  std::string remote = peer_of(socket);
  // A Task must be copyable and a connection is not, so that it travels by shared_ptr.
  auto transport = std::make_shared<Transport>(std::move(socket), std::move(session));
  loop.post_one([&loop, transport, remote = std::move(remote), overloaded = open > limit]() mutable {
    loop.adopt(std::move(*transport), std::move(remote), overloaded);
  });
}

void Listener::pause() {
  pause_.expires_after(kAcceptPause);
  pause_.async_wait([this](const ErrorCode& error) {
    if (!error && acceptor_.is_open()) accept();
  });
}

}  // namespace hookonce
