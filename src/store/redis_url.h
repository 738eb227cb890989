// The URL of a Redis inbox:
//
//   redis://USER:PASSWORD@HOST:PORT/DATABASE?prefix=NAME&durability=relaxed
//
// Everything but the host may be left out.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace hookonce {

struct RedisTarget {
  std::string host;
  int port = 6379;
  int database = 0;
  std::string user;      // empty: the server's default user
  std::string password;  // never shown; empty: none
  std::string prefix = "hookonce";
  bool relaxed = false;  // a server that may lose what was acknowledged is accepted, and named
  std::string shown;     // the URL for people, without user and password
};

bool is_redis_url(std::string_view url);  // rediss:// too, which parse_redis_url() refuses by name

// kInvalid where it is not such a URL; the message never quotes what may be a password.
Result<RedisTarget> parse_redis_url(std::string_view url);

}  // namespace hookonce
