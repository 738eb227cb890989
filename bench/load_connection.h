// One keep-alive connection that sends a request, reads its answer and measures the time between.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "bench/load_event.h"

namespace hookonce {

struct LoadAnswer {
  int status = 0;
  std::string word;   // the value of Hookonce-Status, empty where there is none
  std::string event;  // the value of Hookonce-Event, likewise
  Duration took{};    // from when it was due to its answer's last byte
};

class LoadConnection {
 public:
  explicit LoadConnection(const LoadTarget& target);
  LoadConnection(const LoadConnection&) = delete;
  LoadConnection& operator=(const LoadConnection&) = delete;
  ~LoadConnection();

  // Connects anew, without blocking afterwards. False where the target does not take it.
  bool connect();
  int descriptor() const { return descriptor_; }

  // False where the connection broke. A request of 2 KB always fits the empty send buffer of an idle connection, so
  // what can't be written at once counts as broken too. The answer is measured from `due`, when the request should have
  // left: a request that had to wait for a free connection has waited. REQUIRES: connected, no request is under way.
  bool send(std::string_view request, Duration due);
  // Reads what has come. False where the connection broke; an answer once it is whole.
  bool receive(std::optional<LoadAnswer>& answer);

 private:
  std::optional<LoadAnswer> take_answer();
  void close();

  const LoadTarget& target_;
  int descriptor_ = -1;
  std::string received_;
  Duration due_{};
};

}  // namespace hookonce
