#include "http/client_sockets.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "http/client_target.h"

namespace hookonce {
namespace {

std::string endpoint_of(const sockaddr_storage& storage) {
  char text[INET6_ADDRSTRLEN] = {};
  if (storage.ss_family == AF_INET) {
    sockaddr_in in{};
    std::memcpy(&in, &storage, sizeof in);
    inet_ntop(AF_INET, &in.sin_addr, text, sizeof text);
    return endpoint_text(text, ntohs(in.sin_port));
  }
  sockaddr_in6 in6{};
  std::memcpy(&in6, &storage, sizeof in6);
  inet_ntop(AF_INET6, &in6.sin6_addr, text, sizeof text);
  return endpoint_text(text, ntohs(in6.sin6_port));
}

ClientSockets::Ends ends_of(int fd) {
  sockaddr_storage local{};
  sockaddr_storage remote{};
  socklen_t local_length = sizeof local;
  socklen_t remote_length = sizeof remote;
  if (getsockname(fd, reinterpret_cast<sockaddr*>(&local), &local_length) != 0) return {};
  if (getpeername(fd, reinterpret_cast<sockaddr*>(&remote), &remote_length) != 0) return {};
  return {endpoint_of(local), endpoint_of(remote)};
}

}  // namespace

int ClientSockets::open(int family, int type, int protocol) {
  const int fd = socket(family, type | SOCK_CLOEXEC, protocol);
  if (fd >= 0) open_.insert(fd);
  return fd;
}

void ClientSockets::close(int fd) {
  open_.erase(fd);
  for (auto it = connected_.begin(); it != connected_.end(); ++it) {
    if (it->second != fd) continue;
    connected_.erase(it);
    break;
  }
  ::close(fd);
}

int ClientSockets::find(const Ends& ends) {
  if (const auto it = connected_.find(ends); it != connected_.end()) return it->second;
  for (const int fd : open_) {
    if (ends_of(fd) != ends) continue;
    connected_.emplace(ends, fd);
    return fd;
  }
  return -1;
}

bool ClientSockets::is_readable(const Ends& ends) {
  const int fd = find(ends);
  // A connection whose peer has reset it has no peer's name any more: it has ended.
  if (fd < 0) return true;
  char byte = 0;
  return recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) >= 0 || (errno != EAGAIN && errno != EWOULDBLOCK);
}

}  // namespace hookonce
