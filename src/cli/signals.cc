#include "cli/signals.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>

#include "base/check.h"

namespace hookonce {

namespace {

constexpr char kStopByte = 's';
constexpr char kReloadByte = 'r';
constexpr char kWakeByte = 'w';

// What handlers touch: only lock-free atomics, write() and _exit() are allowed in them.
std::atomic<int> write_end{-1};
std::atomic<bool> stopping{false};
std::atomic<bool> hangup_stops{false};
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

void write_byte(char byte) {
  const int saved = errno;
  // A full pipe holds thousands of events that nobody has read yet; one more would tell nothing new.
  [[maybe_unused]] const ssize_t written = ::write(write_end.load(), &byte, 1);
  errno = saved;
}

void on_signal(int number) {
  if (number == SIGHUP && !hangup_stops.load()) return write_byte(kReloadByte);
  if (stopping.exchange(true)) ::_exit(128 + number);
  write_byte(kStopByte);
}

void handle(int number, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  ::sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  HK_CHECK(::sigaction(number, &action, nullptr) == 0);
}

}  // namespace

Signals::Signals(Hangup hangup) {
  HK_CHECK(write_end.load() == -1);
  int ends[2];
  HK_CHECK(::pipe2(ends, O_CLOEXEC) == 0);
  // The writing end alone must never block: handlers write to it.
  HK_CHECK(::fcntl(ends[1], F_SETFL, O_NONBLOCK) == 0);
  read_end_ = ends[0];
  write_end = ends[1];
  stopping = false;
  hangup_stops = hangup == Hangup::kStops;
  for (const int number : {SIGTERM, SIGINT, SIGHUP}) handle(number, on_signal);
}

Signals::~Signals() {
  for (const int number : {SIGTERM, SIGINT, SIGHUP}) handle(number, SIG_DFL);
  ::close(read_end_);
  ::close(write_end.exchange(-1));
}

Signals::Event Signals::wait() {
  for (;;) {
    char byte = 0;
    const ssize_t got = ::read(read_end_, &byte, 1);
    if (got < 0 && errno == EINTR) continue;
    HK_CHECK(got == 1);
    switch (byte) {
      case kStopByte:
        return Event::kStop;
      case kReloadByte:
        return Event::kReload;
      default:
        woken_ = false;
        return Event::kWoken;
    }
  }
}

bool Signals::asked_to_stop() const {
  return stopping.load();
}

void Signals::wake() {
  if (!woken_.exchange(true)) write_byte(kWakeByte);
}

}  // namespace hookonce
