// Wakes the client's loop from another thread.
//
// An eventfd of our own that the loop polls beside curl's sockets, not curl_multi_wakeup(): a resolver thread may end
// long after the client it worked for, and must then find something valid to write to. Shared by all who may wake;
// thread-safe.
#pragma once

#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>

namespace hookonce {

class ClientWakeup {
 public:
  ClientWakeup() : fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}
  ~ClientWakeup() {
    if (fd_ >= 0) close(fd_);
  }
  ClientWakeup(const ClientWakeup&) = delete;
  ClientWakeup& operator=(const ClientWakeup&) = delete;

  bool valid() const { return fd_ >= 0; }
  int fd() const { return fd_; }

  void wake() {
    const std::uint64_t one = 1;
    // It fails only where the counter is full, and then the loop is awake anyway.
    [[maybe_unused]] const ssize_t written = write(fd_, &one, sizeof one);
  }
  // Loop thread: forgets the wake-ups so far. REQUIRES: called before looking at what they were about.
  void drain() {
    std::uint64_t count = 0;
    // It fails only where nobody has woken the loop.
    [[maybe_unused]] const ssize_t got = read(fd_, &count, sizeof count);
  }

 private:
  const int fd_;
};

}  // namespace hookonce
