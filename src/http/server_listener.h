// One listening address of the HTTP server: accepts on one loop and hands each connection to the next loop in turn.
//
// Hand-over instead of SO_REUSEPORT per thread: with the latter a second gateway on the same address would start
// without an error and quietly take half of the connections.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "http/server_context.h"
#include "http/server_loop.h"
#include "http/server_tls.h"

namespace hookonce {

// "127.0.0.1:8080" or "[::1]:8080".
Result<boost::asio::ip::tcp::endpoint> parse_endpoint(const std::string& address);
std::string to_text(const boost::asio::ip::tcp::endpoint& endpoint);

class Listener {
 public:
  // `loops` must outlive this; `loops[0]` accepts. `tls` may be null.
  Listener(ServerContext& context, const std::vector<std::shared_ptr<Loop>>& loops, TlsContext* tls);

  // Before the loops run. kInvalid: no such address here; kPrecondition: in use or not allowed.
  Status open(const boost::asio::ip::tcp::endpoint& endpoint, bool ipv6_only);
  void start();  // before the loops run

  void close();  // on the accepting loop's thread
  std::string address() const { return address_; }

 private:
  void accept();
  void hand_over(Loop& loop, boost::asio::ip::tcp::socket socket);
  void pause();

  ServerContext& context_;
  const std::vector<std::shared_ptr<Loop>>& loops_;
  TlsContext* const tls_;
  boost::asio::ip::tcp::acceptor acceptor_;
  boost::asio::steady_timer pause_;
  std::size_t next_loop_ = 0;
  bool is_failing_ = false;  // the last accept failed
  std::string address_;      // as bound
};

}  // namespace hookonce
