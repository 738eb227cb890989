#include "cli/free_port.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace hookonce {

namespace {

bool is_free(int port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return false;
  // As servers do, so that a port of connections that ended lately counts as free.
  const int on = 1;
  ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const bool free =
      ::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 && ::listen(fd, 1) == 0;
  ::close(fd);
  return free;
}

}  // namespace

Result<std::string> next_free_loopback(int first, std::string_view taken) {
  for (int port = first; port < first + kPortsTried; ++port) {
    const std::string suffix = fmt::format(":{}", port);
    const bool is_taken = taken.size() >= suffix.size() && taken.substr(taken.size() - suffix.size()) == suffix;
    if (!is_taken && is_free(port)) return "127.0.0.1" + suffix;
  }
  return unavailable(fmt::format("no free port from {} to {} on 127.0.0.1", first, first + kPortsTried - 1));
}

}  // namespace hookonce
