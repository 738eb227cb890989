// The sockets of the client's connections, so that one can be looked at right before a request goes out on it.
//
// curl tells which ends a connection has, not which socket, while the request has not been written yet. One thread.
#pragma once

#include <map>
#include <set>
#include <string>

namespace hookonce {

class ClientSockets {
 public:
  struct Ends {
    std::string local;  // "127.0.0.1:40000", "[::1]:40000"
    std::string remote;
    auto operator<=>(const Ends&) const = default;
  };

  // As socket(), close-on-exec; -1 where it fails.
  int open(int family, int type, int protocol);
  void close(int fd);

  // Whether something lies in the socket of that connection: bytes that nobody has asked for, or its end.
  bool is_readable(const Ends& ends);

 private:
  int find(const Ends& ends);

  std::set<int> open_;
  std::map<Ends, int> connected_;  // those that find() has met
};

}  // namespace hookonce
