#include "bench/load_connection.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/bytes.h"

namespace hookonce {
namespace {

// The value of a header in an answer's head, which both servers write as `Name: value`.
std::string_view header_value(std::string_view head, std::string_view name) {
  for (std::string_view line : split(head, '\n')) {
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos || !equals_ignore_case(line.substr(0, colon), name)) continue;
    if (line.ends_with('\r')) line.remove_suffix(1);
    return trim(line.substr(colon + 1));
  }
  return {};
}

}  // namespace

LoadConnection::LoadConnection(const LoadTarget& target) : target_(target) {}

LoadConnection::~LoadConnection() {
  close();
}

void LoadConnection::close() {
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = -1;
  received_.clear();
}

bool LoadConnection::connect() {
  close();
  descriptor_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(target_.port);
  if (descriptor_ < 0 || ::inet_pton(AF_INET, target_.host.c_str(), &address.sin_addr) != 1) return false;
  if (::connect(descriptor_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return false;
  const int on = 1;
  ::setsockopt(descriptor_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return ::fcntl(descriptor_, F_SETFL, O_NONBLOCK) == 0;
}

bool LoadConnection::send(std::string_view request, Duration due) {
  due_ = due;
  return ::send(descriptor_, request.data(), request.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(request.size());
}

bool LoadConnection::receive(std::optional<LoadAnswer>& answer) {
  char buffer[4096];
  const ssize_t n = ::recv(descriptor_, buffer, sizeof buffer, 0);
  if (n < 0) return errno == EAGAIN;
  if (n == 0) return false;
  received_.append(buffer, static_cast<std::size_t>(n));
  answer = take_answer();
  return true;
}

std::optional<LoadAnswer> LoadConnection::take_answer() {
  const std::size_t head_end = received_.find("\r\n\r\n");
  if (head_end == std::string::npos) return std::nullopt;
  const std::string_view head = std::string_view(received_).substr(0, head_end);
  const std::size_t body_size =
      static_cast<std::size_t>(parse_digits(header_value(head, "Content-Length")).value_or(0));
  if (received_.size() < head_end + 4 + body_size) return std::nullopt;

  LoadAnswer answer;
  constexpr std::size_t kStatusAt = 9;  // behind "HTTP/1.1 "
  answer.status = static_cast<int>(parse_digits(head.substr(std::min(kStatusAt, head.size()), 3)).value_or(0));
  answer.word = header_value(head, "Hookonce-Status");
  answer.event = header_value(head, "Hookonce-Event");
  answer.took = steady_now() - due_;
  received_.clear();
  return answer;
}

}  // namespace hookonce
