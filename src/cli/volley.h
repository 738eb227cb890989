// Sends requests at set times, many at once, and hands their answers back on the caller's thread.
//
//   Volley volley(client);
//   volley.run(shots, [&](std::size_t shot, const ClientResponse& response) { print(shot, response); });
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "base/clock.h"
#include "http/client.h"

namespace hookonce {

struct Shot {
  Duration at{};                                // after the start of run(); in ascending order
  std::function<ClientRequest()> make_request;  // called when it leaves, so that its signature is fresh
};

class Volley {
 public:
  // REQUIRES: client outlives this.
  explicit Volley(HttpClient& client) : client_(client) {}

  // Returns when every shot has its answer (or its error). `answered` is called once per shot, in the order of the
  // answers.
  void run(const std::vector<Shot>& shots, const std::function<void(std::size_t, const ClientResponse&)>& answered);

 private:
  HttpClient& client_;
};

// Blocks the calling thread.
void pause_for(Duration duration);

}  // namespace hookonce
