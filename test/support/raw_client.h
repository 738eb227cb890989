// A client that sends exactly the bytes it is told and reads one answer at a time: for what no HTTP library would send.
//
//   RawClient client(server->addresses()[0]);
//   client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
//   EXPECT_EQ(client.read().status, 200);
//
// Blocking POSIX sockets; a read that hangs ends the test by its time-out, not by a sleep.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

#include "base/bytes.h"
#include "base/http_message.h"

namespace hookonce {

struct RawAnswer {
  int status = 0;  // 0: the connection ended before a whole answer
  Headers headers;
  std::string body;
};

class RawClient {
 public:
  // `address` as HttpServer::addresses() has it.
  explicit RawClient(const std::string& address) {
    const std::size_t colon = address.rfind(':');
    const auto port = htons(static_cast<std::uint16_t>(std::atoi(address.c_str() + colon + 1)));
    if (address[0] == '[') {
      sockaddr_in6 target{};
      target.sin6_family = AF_INET6;
      target.sin6_port = port;
      inet_pton(AF_INET6, address.substr(1, colon - 2).c_str(), &target.sin6_addr);
      connect_to(reinterpret_cast<const sockaddr*>(&target), sizeof(target));
    } else {
      sockaddr_in target{};
      target.sin_family = AF_INET;
      target.sin_port = port;
      inet_pton(AF_INET, address.substr(0, colon).c_str(), &target.sin_addr);
      connect_to(reinterpret_cast<const sockaddr*>(&target), sizeof(target));
    }
  }
  RawClient(RawClient&& other) noexcept
      : descriptor_(std::exchange(other.descriptor_, -1)), unread_(std::move(other.unread_)) {}
  ~RawClient() { hang_up(); }

  bool is_connected() const { return descriptor_ >= 0; }
  int descriptor() const { return descriptor_; }

  // False where the peer has closed before all was sent.
  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }
  void end_sending() { ::shutdown(descriptor_, SHUT_WR); }
  void hang_up() {
    if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
  }
  // Closes with a reset instead of an orderly end.
  void reset() {
    const linger now{1, 0};
    ::setsockopt(descriptor_, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
    hang_up();
  }

  // Waits up to `wait` for the peer to send or close; true where it did. For a client that drips until it is stopped.
  bool has_news(std::chrono::milliseconds wait) {
    pollfd watched{descriptor_, POLLIN, 0};
    return !unread_.empty() || ::poll(&watched, 1, static_cast<int>(wait.count())) > 0;
  }

  // The next answer; interim ones (100) are answers too. `without_body`: to a HEAD request.
  RawAnswer read(bool without_body = false) {
    RawAnswer answer;
    std::size_t head_end;
    while ((head_end = unread_.find("\r\n\r\n")) == std::string::npos) {
      if (!receive()) return answer;
    }
    const std::string head = unread_.substr(0, head_end);
    unread_.erase(0, head_end + 4);
    for (std::string_view line : split(head, '\n')) {
      if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
      const std::size_t colon = line.find(':');
      if (line.starts_with("HTTP/1.1 ")) {
        answer.status = std::atoi(std::string(line.substr(9, 3)).c_str());
      } else if (colon != std::string_view::npos) {
        answer.headers.add(std::string(line.substr(0, colon)), std::string(trim(line.substr(colon + 1))));
      }
    }
    const auto length = answer.headers.first("Content-Length");
    const std::size_t size = length && !without_body ? static_cast<std::size_t>(*parse_digits(*length)) : 0;
    while (unread_.size() < size) {
      if (!receive()) return RawAnswer();
    }
    answer.body = unread_.substr(0, size);
    unread_.erase(0, size);
    return answer;
  }

  // Everything until the peer closes, as bytes.
  std::string read_to_end() {
    while (receive()) {
    }
    return std::exchange(unread_, {});
  }
  // Waits for the peer's close; false where it sends anything before.
  bool is_closed_by_peer() { return read_to_end().empty(); }

 private:
  // A server that never answers is a failed test, not a hanging one.
  static constexpr int kPatienceSeconds = 30;

  void connect_to(const sockaddr* target, socklen_t size) {
    descriptor_ = ::socket(target->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const timeval patience{kPatienceSeconds, 0};
    const int on = 1;
    ::setsockopt(descriptor_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    ::setsockopt(descriptor_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    if (::connect(descriptor_, target, size) != 0) hang_up();
  }
  bool receive() {
    char buffer[16 * 1024];
    const ssize_t received = ::recv(descriptor_, buffer, sizeof(buffer), 0);
    if (received <= 0) return false;
    unread_.append(buffer, static_cast<std::size_t>(received));
    return true;
  }

  int descriptor_ = -1;
  std::string unread_;
};

}  // namespace hookonce
