// A server on a loopback socket that does exactly what a test says, byte by byte, and keeps what it got.
//
//   RawServer server([](RawServer::Connection& c) {
//     while (auto request = c.read_request()) c.write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
//   });
//   client.send({.url = server.url("/in")}, ...);
//
// Each connection has a thread of its own. Destroying the server shuts all connections, so a script that reads ends.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/bytes.h"
#include "base/check.h"
#include "base/sync.h"

namespace hookonce {

class RawServer {
 public:
  struct Request {
    std::string head;  // with the empty line that ends it
    std::string body;

    // The header lines as they stand, without the request line.
    std::vector<std::string> lines() const {
      std::vector<std::string> result;
      std::size_t at = head.find("\r\n") + 2;
      for (std::size_t end = head.find("\r\n", at); end != at && end != std::string::npos;
           end = head.find("\r\n", at)) {
        result.push_back(head.substr(at, end - at));
        at = end + 2;
      }
      return result;
    }
  };

  class Connection {
   public:
    Connection(RawServer& server, int fd) : server_(server), fd_(fd) {}

    // The next request with the body that its Content-Length announces; nullopt where the peer has gone.
    std::optional<Request> read_request() {
      std::size_t end = std::string::npos;
      while ((end = pending_.find("\r\n\r\n")) == std::string::npos) {
        if (!read_some()) return std::nullopt;
      }
      Request request;
      request.head = pending_.substr(0, end + 4);
      pending_.erase(0, end + 4);
      const std::size_t length = content_length(request.head);
      while (pending_.size() < length) {
        if (!read_some()) return std::nullopt;
      }
      request.body = pending_.substr(0, length);
      pending_.erase(0, length);
      server_.record(request);
      return request;
    }
    // False where the peer has gone.
    bool write(std::string_view bytes) {
      while (!bytes.empty()) {
        const ssize_t sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (sent <= 0) return false;
        bytes.remove_prefix(static_cast<std::size_t>(sent));
      }
      return true;
    }
    // Waits until the peer closes its end.
    void await_close() {
      while (read_some()) pending_.clear();
    }
    // Closes with a reset instead of an orderly end.
    void reset() {
      const linger hard{1, 0};
      setsockopt(fd_, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
    }

   private:
    static std::size_t content_length(const std::string& head) {
      const std::string lower = to_lower(head);
      const std::size_t at = lower.find("\r\ncontent-length:");
      return at == std::string::npos ? 0 : std::strtoull(lower.c_str() + at + 17, nullptr, 10);
    }
    bool read_some() {
      char buffer[65536];
      const ssize_t got = recv(fd_, buffer, sizeof buffer, 0);
      if (got <= 0) return false;
      pending_.append(buffer, static_cast<std::size_t>(got));
      return true;
    }

    RawServer& server_;
    const int fd_;
    std::string pending_;
  };

  using Script = std::function<void(Connection&)>;

  explicit RawServer(Script script)
      : script_(std::move(script)), listener_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    HK_CHECK(bind(listener_, reinterpret_cast<sockaddr*>(&address), length) == 0);
    HK_CHECK(listen(listener_, 128) == 0);
    HK_CHECK(getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &length) == 0);
    port_ = ntohs(address.sin_port);
    acceptor_ = std::thread([this] { accept_all(); });
  }
  ~RawServer() {
    shutdown(listener_, SHUT_RDWR);
    acceptor_.join();
    close(listener_);
    std::vector<std::thread> threads;
    {
      MutexLock lock(mutex_);
      for (const int fd : open_) shutdown(fd, SHUT_RDWR);
      threads.swap(threads_);
    }
    for (std::thread& thread : threads) thread.join();
  }

  int port() const { return port_; }
  std::string url(std::string_view path = "/", std::string_view host = "127.0.0.1") const {
    return "http://" + std::string(host) + ":" + std::to_string(port_) + std::string(path);
  }

  std::vector<Request> requests() {
    MutexLock lock(mutex_);
    return requests_;
  }
  int connections() {
    MutexLock lock(mutex_);
    return connections_;
  }
  // Waits until `count` requests have been read.
  void await_requests(std::size_t count) {
    MutexLock lock(mutex_);
    while (requests_.size() < count) changed_.wait(mutex_);
  }
  // Waits until no connection is open.
  void await_all_closed() {
    MutexLock lock(mutex_);
    while (!open_.empty()) changed_.wait(mutex_);
  }

 private:
  friend class Connection;

  void accept_all() {
    for (;;) {
      const int fd = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (fd < 0) return;
      MutexLock lock(mutex_);
      ++connections_;
      open_.push_back(fd);
      threads_.emplace_back([this, fd] { serve(fd); });
    }
  }
  void serve(int fd) {
    Connection connection(*this, fd);
    script_(connection);
    MutexLock lock(mutex_);
    std::erase(open_, fd);
    close(fd);
    changed_.notify_all();
  }
  void record(const Request& request) {
    MutexLock lock(mutex_);
    requests_.push_back(request);
    changed_.notify_all();
  }

  const Script script_;
  const int listener_;
  int port_ = 0;
  std::thread acceptor_;
  Mutex mutex_;
  CondVar changed_;
  std::vector<Request> requests_ GUARDED_BY(mutex_);
  std::vector<int> open_ GUARDED_BY(mutex_);
  std::vector<std::thread> threads_ GUARDED_BY(mutex_);
  int connections_ GUARDED_BY(mutex_) = 0;
};

// A script that answers every request with 200 and no body.
inline void answer_ok(RawServer::Connection& connection) {
  while (connection.read_request()) connection.write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
}

}  // namespace hookonce
